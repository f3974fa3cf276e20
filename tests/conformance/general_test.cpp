// SPDX-License-Identifier: Apache-2.0
// ragged_dot_general against its definition: random dimension numbers, ranks, strides and groups
// for the three variants, and the twelve shape conditions, each with its own Status.

#include <raggedgemm/erased.hpp>

#include <algorithm>
#include <functional>

#include "support/device_array.hpp"
#include "support/scale.hpp"
#include "support/sizes.hpp"

namespace {

using namespace support;
namespace rg = raggedgemm;
using rg::DimensionNumbers;
using rg::DimList;
using rg::DType;
using rg::StatusCode;
using rg::Variant;

/// Small whole numbers, so that f32 sums are exact and results can be compared by value.
std::vector<float> whole_numbers(std::size_t count, Random& random) {
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.between(-4, 4));
  return values;
}

/// A row-major tensor.
template <class Tensor, class Data>
Tensor dense(Data* data, std::initializer_list<offset_t> extents) {
  Tensor t;
  t.data = data;
  t.dtype = DType::f32;
  for (const offset_t e : extents) t.extent[t.rank++] = e;
  offset_t step = 1;
  for (index_t d = t.rank - 1; d >= 0; --d) {
    t.stride[d] = step;
    step *= t.extent[d];
  }
  return t;
}

template <class Pointer>
offset_t elements(const rg::BasicTensor<Pointer>& t) {
  offset_t count = 1;
  for (index_t d = 0; d < t.rank; ++d) count *= t.extent[d];
  return count;
}

/// Strides of a random memory order, with gaps now and then; returns the elements to allocate.
template <class Pointer>
std::size_t random_strides(rg::BasicTensor<Pointer>& t, Random& random) {
  std::vector<index_t> order;
  for (index_t d = 0; d < t.rank; ++d) order.push_back(d);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1],
              order[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
  offset_t step = random.one_in(4) ? 2 : 1;
  offset_t last = 0;
  for (const index_t d : order) {
    t.stride[d] = step;
    last += (t.extent[d] > 0 ? t.extent[d] - 1 : 0) * step;
    step = step * std::max<offset_t>(t.extent[d], 1) + (random.one_in(3) ? 3 : 0);
  }
  return static_cast<std::size_t>(last) + 1;
}

/// A random call: every dimension has a kind, the kinds decide where it stands in each operand.
struct RandomCall {
  Variant variant{};
  rg::Tensor lhs, rhs;
  rg::MutableTensor out;
  rg::GroupTensor groups;
  DimensionNumbers dims;
  std::vector<std::int64_t> sizes;
  offset_t ragged_extent = 0;           ///< of the product
  std::vector<std::int32_t> lhs_index;  ///< gather along the ragged dimension, or empty
  std::vector<std::int32_t> out_index;  ///< scatter of dimension out_dim, or empty
  bool gathers = false, scatters = false;
  index_t out_dim = 0;
  std::size_t lhs_elems = 0, rhs_elems = 0, out_elems = 0;
};

RandomCall random_call(Random& random) {
  RandomCall c;
  c.variant = static_cast<Variant>(random.between(0, 2));
  const auto some = [&](std::int64_t low, std::int64_t high) {
    std::vector<offset_t> extents(static_cast<std::size_t>(random.between(low, high)));
    for (offset_t& e : extents) e = random.one_in(12) ? 1 : random.between(2, 5);
    return extents;
  };
  const std::vector<offset_t> batch = some(c.variant == Variant::batch ? 1 : 0, 2);
  const std::vector<offset_t> contract = some(c.variant == Variant::contracting ? 1 : 0, 2);
  const std::vector<offset_t> lhs_free = some(c.variant == Variant::non_contracting ? 1 : 0, 2);
  const std::vector<offset_t> rhs_free = some(0, 2);
  const offset_t g = random.between(1, 4);

  // lhs: its dimensions in a random order of kinds, keeping the order inside the free ones.
  struct Place {
    char kind;
    std::size_t index;
  };
  const auto shuffled = [&](std::vector<Place> places) {
    for (std::size_t i = places.size(); i > 1; --i)
      std::swap(
          places[i - 1],
          places[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
    return places;
  };
  std::vector<Place> lhs_places;
  std::vector<Place> rhs_places;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    lhs_places.push_back({'b', i});
    rhs_places.push_back({'b', i});
  }
  for (std::size_t i = 0; i < contract.size(); ++i) {
    lhs_places.push_back({'c', i});
    rhs_places.push_back({'c', i});
  }
  for (std::size_t i = 0; i < lhs_free.size(); ++i) lhs_places.push_back({'f', i});
  for (std::size_t i = 0; i < rhs_free.size(); ++i) rhs_places.push_back({'f', i});
  if (c.variant == Variant::non_contracting) rhs_places.push_back({'g', 0});
  lhs_places = shuffled(lhs_places);
  rhs_places = shuffled(rhs_places);

  const auto place = [&](const std::vector<Place>& places,
                         rg::Tensor& t,
                         DimList& batch_list,
                         DimList& contract_list,
                         const std::vector<offset_t>& free_extents) {
    t.dtype = DType::f32;
    t.rank = static_cast<index_t>(places.size());
    batch_list.count = static_cast<index_t>(batch.size());
    contract_list.count = static_cast<index_t>(contract.size());
    std::size_t next_free = 0;  // free dimensions are numbered as they appear
    for (std::size_t d = 0; d < places.size(); ++d) {
      const Place& p = places[d];
      if (p.kind == 'b') {
        t.extent[d] = batch[p.index];
        batch_list.dim[p.index] = static_cast<index_t>(d);
      } else if (p.kind == 'c') {
        t.extent[d] = contract[p.index];
        contract_list.dim[p.index] = static_cast<index_t>(d);
      } else if (p.kind == 'g') {
        t.extent[d] = g;
        c.dims.rhs_group = {static_cast<index_t>(d)};
      } else {
        t.extent[d] = free_extents[next_free++];
      }
    }
  };
  place(lhs_places, c.lhs, c.dims.lhs_batch, c.dims.lhs_contracting, lhs_free);
  place(rhs_places, c.rhs, c.dims.rhs_batch, c.dims.rhs_contracting, rhs_free);

  // The ragged dimension and its prefix.
  std::vector<offset_t> prefix;
  const auto pick = [&](std::size_t count) {
    return static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(count) - 1));
  };
  offset_t& ragged_extent = c.ragged_extent;
  std::size_t row_at = 0;  // which of lhs_free the rows of the tile are
  if (c.variant == Variant::batch) {
    const std::size_t at = pick(batch.size());
    c.dims.lhs_ragged = {c.dims.lhs_batch[static_cast<index_t>(at)]};
    prefix.assign(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(at));
    ragged_extent = batch[at];
  } else {
    prefix = batch;
    if (c.variant == Variant::contracting) {
      const std::size_t at = pick(contract.size());
      c.dims.lhs_ragged = {c.dims.lhs_contracting[static_cast<index_t>(at)]};
      prefix.insert(
          prefix.end(), contract.begin(), contract.begin() + static_cast<std::ptrdiff_t>(at));
      ragged_extent = contract[at];
    } else {
      const std::size_t at = pick(lhs_free.size());
      row_at = at;
      std::size_t seen = 0;
      for (std::size_t d = 0; d < lhs_places.size(); ++d)
        if (lhs_places[d].kind == 'f' && seen++ == at)
          c.dims.lhs_ragged = {static_cast<index_t>(d)};
      prefix.insert(
          prefix.end(), lhs_free.begin(), lhs_free.begin() + static_cast<std::ptrdiff_t>(at));
      ragged_extent = lhs_free[at];
    }
  }
  c.groups.groups.kind = GroupKind::sizes;
  c.groups.groups.type = IndexType::s64;
  std::size_t rows = 1;
  c.groups.rank = 0;
  if (random.one_in(3)) prefix.clear();  // [g]: the same groups for every prefix index
  for (const offset_t e : prefix) {
    c.groups.extent[c.groups.rank++] = e;
    rows *= static_cast<std::size_t>(e);
  }
  c.groups.extent[c.groups.rank++] = g;
  for (std::size_t i = 0; i < rows * static_cast<std::size_t>(g); ++i)
    c.sizes.push_back(random.one_in(8) ? -1 : random.between(0, ragged_extent));

  // The result.
  c.out.dtype = DType::f32;
  const auto result = [&](offset_t extent) { c.out.extent[c.out.rank++] = extent; };
  if (c.variant == Variant::contracting) result(g);
  for (const offset_t e : batch) result(e);
  for (const offset_t e : lhs_free) result(e);
  for (const offset_t e : rhs_free) result(e);
  // Indices, many of them outside: lhs has any ragged extent then, and out any number of rows.
  c.gathers = random.one_in(3);
  if (c.gathers) {
    c.lhs.extent[c.dims.lhs_ragged[0]] = random.between(0, 6);
    for (offset_t i = 0; i < ragged_extent; ++i)
      c.lhs_index.push_back(static_cast<std::int32_t>(random.between(-1, 6)));
  }
  c.scatters = random.one_in(3) && (c.variant == Variant::non_contracting || lhs_free.size() == 1);
  if (c.scatters) {
    c.out_dim =
        static_cast<index_t>((c.variant == Variant::contracting ? 1 : 0) + batch.size() + row_at);
    c.out.extent[c.out_dim] = random.between(0, 7);
    const offset_t turn = random.between(-2, 2);
    for (offset_t i = 0; i < lhs_free[row_at]; ++i)
      c.out_index.push_back(random.one_in(5) ? (random.one_in(2) ? -2147483647 - 1 : 2147483647)
                                             : static_cast<std::int32_t>(i + turn));
  }
  c.lhs_elems = random_strides(c.lhs, random);
  c.rhs_elems = random_strides(c.rhs, random);
  c.out_elems = random_strides(c.out, random);
  return c;
}

/// The definition, element by element: loops over every index of every dimension.
class Oracle {
 public:
  Oracle(const RandomCall& call, const std::vector<float>& lhs, const std::vector<float>& rhs)
      : c_(call), lhs_(lhs), rhs_(rhs) {}

  /// False where no row of the product goes to the element.
  bool value(std::vector<offset_t> out_at, double& sum) {
    if (c_.scatters) {
      offset_t& row = out_at[at(c_.out_dim)];
      const auto from =
          std::find(c_.out_index.begin(), c_.out_index.end(), static_cast<std::int32_t>(row));
      if (from == c_.out_index.end()) return false;
      row = from - c_.out_index.begin();
    }
    const DimensionNumbers& d = c_.dims;
    std::vector<offset_t> l(static_cast<std::size_t>(c_.lhs.rank), 0);
    std::vector<offset_t> r(static_cast<std::size_t>(c_.rhs.rank), 0);
    std::size_t next = 0;
    offset_t group = -1;
    if (c_.variant == Variant::contracting) group = out_at[next++];
    for (index_t i = 0; i < d.lhs_batch.count; ++i) {
      l[at(d.lhs_batch[i])] = out_at[next];
      r[at(d.rhs_batch[i])] = out_at[next++];
    }
    for (index_t i = 0; i < c_.lhs.rank; ++i)
      if (!d.lhs_batch.holds(i) && !d.lhs_contracting.holds(i)) l[at(i)] = out_at[next++];
    for (index_t i = 0; i < c_.rhs.rank; ++i)
      if (!d.rhs_batch.holds(i) && !d.rhs_contracting.holds(i) && !d.rhs_group.holds(i))
        r[at(i)] = out_at[next++];
    sum = sum_contracting(0, group, l, r);
    return true;
  }

 private:
  static std::size_t at(index_t i) { return static_cast<std::size_t>(i); }

  double sum_contracting(index_t i,
                         offset_t group,
                         std::vector<offset_t>& l,
                         std::vector<offset_t>& r) {
    const DimensionNumbers& d = c_.dims;
    if (i < d.lhs_contracting.count) {
      double sum = 0;
      for (offset_t x = 0; x < c_.rhs.extent[d.rhs_contracting[i]]; ++x) {
        l[at(d.lhs_contracting[i])] = x;
        r[at(d.rhs_contracting[i])] = x;
        sum += sum_contracting(i + 1, group, l, r);
      }
      return sum;
    }
    const offset_t ragged = l[at(d.lhs_ragged[0])];
    const std::vector<Range> ranges = ranges_for(l);
    if (c_.variant == Variant::batch) {
      if (ragged >= covered(ranges)) return 0;
    } else if (c_.variant == Variant::contracting) {
      const Range& range = ranges[static_cast<std::size_t>(group)];
      if (ragged < range.begin || ragged >= range.end) return 0;
    } else {
      offset_t owner = -1;
      for (std::size_t g = 0; g < ranges.size(); ++g)
        if (ragged >= ranges[g].begin && ragged < ranges[g].end) owner = static_cast<offset_t>(g);
      if (owner < 0) return 0;
      r[at(d.rhs_group[0])] = owner;
    }
    if (!c_.gathers) return element(c_.lhs, lhs_, l) * element(c_.rhs, rhs_, r);
    std::vector<offset_t> source = l;
    source[at(d.lhs_ragged[0])] = c_.lhs_index[static_cast<std::size_t>(ragged)];
    const offset_t index = source[at(d.lhs_ragged[0])];
    if (index < 0 || index >= c_.lhs.extent[d.lhs_ragged[0]]) return 0;
    return element(c_.lhs, lhs_, source) * element(c_.rhs, rhs_, r);
  }

  /// The groups of the prefix index that lhs index `l` has.
  std::vector<Range> ranges_for(const std::vector<offset_t>& l) const {
    const DimensionNumbers& d = c_.dims;
    std::vector<index_t> prefix;
    const index_t ragged = d.lhs_ragged[0];
    if (c_.variant == Variant::batch) {
      for (index_t i = 0; d.lhs_batch[i] != ragged; ++i) prefix.push_back(d.lhs_batch[i]);
    } else {
      for (index_t i = 0; i < d.lhs_batch.count; ++i) prefix.push_back(d.lhs_batch[i]);
      if (c_.variant == Variant::contracting) {
        for (index_t i = 0; d.lhs_contracting[i] != ragged; ++i)
          prefix.push_back(d.lhs_contracting[i]);
      } else {
        for (index_t i = 0; i < ragged; ++i)
          if (!d.lhs_batch.holds(i) && !d.lhs_contracting.holds(i)) prefix.push_back(i);
      }
    }
    const std::size_t g = static_cast<std::size_t>(c_.groups.extent[c_.groups.rank - 1]);
    std::size_t row = 0;
    if (c_.groups.rank > 1)
      for (const index_t dim : prefix)
        row = row * static_cast<std::size_t>(c_.lhs.extent[dim]) +
              static_cast<std::size_t>(l[at(dim)]);
    const auto begin = c_.sizes.begin() + static_cast<std::ptrdiff_t>(row * g);
    return ranges_of(
        Sizes(begin, begin + static_cast<std::ptrdiff_t>(g)), GroupKind::sizes, c_.ragged_extent);
  }

  static double element(const rg::Tensor& t,
                        const std::vector<float>& values,
                        const std::vector<offset_t>& index) {
    offset_t offset = 0;
    for (index_t d = 0; d < t.rank; ++d) offset += index[at(d)] * t.stride[d];
    return static_cast<double>(values[static_cast<std::size_t>(offset)]);
  }

  const RandomCall& c_;
  const std::vector<float>& lhs_;
  const std::vector<float>& rhs_;
};

TEST_CASE("ragged_dot_general equals its definition for random dimension numbers and strides",
          "[conformance][general][device]") {
  constexpr std::uint64_t seed = 20261130;
  int ran = 0;
  int refused = 0;
  const int rounds = scaled(600, 100);
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t own_seed = seed + static_cast<std::uint64_t>(round);
    Random random(own_seed);
    RandomCall c = random_call(random);
    const std::vector<float> lhs = whole_numbers(c.lhs_elems, random);
    const std::vector<float> rhs = whole_numbers(c.rhs_elems, random);
    const DeviceArray<float> lhs_memory(lhs);
    const DeviceArray<float> rhs_memory(rhs);
    const DeviceArray<std::int64_t> sizes_memory(c.sizes);
    DeviceArray<float> out_memory(c.out_elems);
    c.lhs.data = lhs_memory.data();
    c.rhs.data = rhs_memory.data();
    c.out.data = out_memory.data();
    c.groups.groups.data = sizes_memory.data();
    const DeviceArray<std::int32_t> lhs_index(c.lhs_index);
    const DeviceArray<std::int32_t> out_index(c.out_index);
    rg::Options options;
    if (c.gathers) options.lhs_index = lhs_index.data();
    if (c.scatters) options.out_index = out_index.data();
    // With both indices no operand has the product's rows.
    if (c.gathers && c.scatters) options.ragged_extent = c.ragged_extent;
    const rg::Status status =
        rg::erased::ragged_dot_general(c.lhs, c.rhs, c.groups, c.out, c.dims, options);
    INFO("seed " << own_seed << ", " << rg::name_of(c.variant) << ", " << status.message());
    if (status.code() == StatusCode::unsupported_option) {
      ++refused;  // more outer dimensions than the kernels walk
      continue;
    }
    REQUIRE(status.ok());
    REQUIRE(runtime::synchronize().ok());
    CHECK(out_memory.guards_intact());
    const std::vector<float> got = out_memory.get();
    std::vector<bool> written(got.size(), false);
    Oracle oracle(c, lhs, rhs);
    offset_t wrong = -1;
    for (offset_t i = 0; i < elements(c.out) && wrong < 0; ++i) {
      std::vector<offset_t> at(static_cast<std::size_t>(c.out.rank), 0);
      offset_t rest = i;
      offset_t position = 0;
      for (index_t d = c.out.rank - 1; d >= 0; --d) {
        at[static_cast<std::size_t>(d)] = rest % c.out.extent[d];
        rest /= c.out.extent[d];
        position += at[static_cast<std::size_t>(d)] * c.out.stride[d];
      }
      double needed = 0;
      if (!oracle.value(at, needed)) continue;
      written[static_cast<std::size_t>(position)] = true;
      if (static_cast<double>(got[static_cast<std::size_t>(position)]) != needed) wrong = i;
    }
    CHECK(wrong == -1);
    bool gaps_untouched = true;  // and so are rows that nothing goes to
    for (std::size_t i = 0; i < got.size(); ++i)
      gaps_untouched = gaps_untouched && (written[i] || same_bits(got[i], poison<float>()));
    CHECK(gaps_untouched);
    ++ran;
  }
  std::printf("general: %d random calls ran, %d were refused for their rank\n", ran, refused);
  CHECK(ran >= rounds - 10);
}

TEST_CASE("the fault report of a general call looks at every row of the description, in its order",
          "[conformance][general][device]") {
  // contracting: lhs [b, k0, k1, m], rhs [b, k0, k1, n], out [g, b, m, n]; k1 is ragged, so that
  // the description is [b, k0, g].
  constexpr offset_t b = 2, k0 = 3, k1 = 5, m = 4, n = 3, g = 2;
  const DeviceArray<float> x(std::vector<float>(b * k0 * k1 * m, 1));
  const DeviceArray<float> y(std::vector<float>(b * k0 * k1 * n, 1));
  DeviceArray<float> out(g * b * m * n);
  const DimensionNumbers dims{.lhs_contracting = {1, 2},
                              .rhs_contracting = {1, 2},
                              .lhs_batch = {0},
                              .rhs_batch = {0},
                              .lhs_ragged = {2}};
  DeviceArray<rg::Fault> fault(1);
  const rg::Options options{.fault = fault.data()};
  const auto report = [&](offset_t outer, offset_t rows, const rg::GroupTensor& groups) {
    fault.set(std::vector<rg::Fault>(1, poison<rg::Fault>()));
    const rg::Status status =
        rg::erased::ragged_dot_general(dense<rg::Tensor>(x.data(), {b, outer, k1, rows}),
                                       dense<rg::Tensor>(y.data(), {b, outer, k1, n}),
                                       groups,
                                       dense<rg::MutableTensor>(out.data(), {g, b, rows, n}),
                                       dims,
                                       options);
    INFO(status.message());
    REQUIRE(status.ok());
    REQUIRE(runtime::synchronize().ok());
    return fault.get()[0];
  };
  for (std::size_t faulty = 0; faulty < b * k0 * g; ++faulty) {
    std::vector<std::int32_t> sizes(b * k0 * g, 1);
    for (std::size_t i = faulty; i < sizes.size(); ++i) sizes[i] = -1 - static_cast<int>(i);
    const DeviceArray<std::int32_t> entries(sizes);
    const rg::GroupTensor groups(entries.data(), GroupKind::sizes, {b, k0, g});
    for (const offset_t rows : {m, offset_t{0}}) {  // with an output, and without
      const rg::Fault got = report(k0, rows, groups);
      CHECK(static_cast<int>(got.code) == static_cast<int>(rg::FaultCode::negative_size));
      CHECK(got.group == static_cast<offset_t>(faulty));
      CHECK(got.value == sizes[faulty]);
    }
  }
  // k0 = 0: a description of its own rows is empty, and may be null; one for all rows is looked at.
  const std::int32_t* const none = nullptr;
  for (const offset_t rows : {m, offset_t{0}}) {
    const rg::Fault got = report(0, rows, rg::GroupTensor(none, GroupKind::sizes, {b, 0, g}));
    CHECK(static_cast<int>(got.code) == static_cast<int>(rg::FaultCode::none));
    CHECK(first_difference(out.get(), std::vector<float>(out.elems(), 0.0F)) ==
          (rows == 0 ? 0 : -1));
    out.set(std::vector<float>(out.elems(), 7));
  }
  const DeviceArray<std::int32_t> all(std::vector<std::int32_t>{2, 4});
  for (const offset_t outer : {k0, offset_t{0}}) {
    const rg::Fault got = report(outer, m, rg::GroupSizes(all.data(), g));
    CHECK(static_cast<int>(got.code) == static_cast<int>(rg::FaultCode::sum_exceeds_extent));
    CHECK(got.group == 1);
    CHECK(got.value == 6);
  }
}

TEST_CASE("Only some depth dimensions of a slab may be empty: the sum keeps its factors",
          "[conformance][general][device]") {
  // As above with one batch; group 1 has rows in the second k0 only, group 0 in none.
  constexpr offset_t k0 = 3, k1 = 3, m = 2, n = 2, g = 2;
  const DeviceArray<float> x(std::vector<float>(k0 * k1 * m, 1));
  const DeviceArray<float> y(std::vector<float>(k0 * k1 * n, 1));
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>{0, 0, 0, 2, 0, 0});
  DeviceArray<float> out(g * m * n);
  REQUIRE(rg::erased::ragged_dot_general(
              dense<rg::Tensor>(x.data(), {k0, k1, m}),
              dense<rg::Tensor>(y.data(), {k0, k1, n}),
              rg::GroupTensor(sizes.data(), GroupKind::sizes, {k0, g}),
              dense<rg::MutableTensor>(out.data(), {g, m, n}),
              {.lhs_contracting = {0, 1}, .rhs_contracting = {0, 1}, .lhs_ragged = {1}},
              {.alpha = -3})
              .ok());
  CHECK(first_difference(out.get(), {0, 0, 0, 0, -6, -6, -6, -6}) == -1);
  // Gathered from nothing, those two rows are two zeros, of which −3 makes −0.
  REQUIRE(rg::erased::ragged_dot_general(
              dense<rg::Tensor>(static_cast<const float*>(nullptr), {k0, 0, m}),
              dense<rg::Tensor>(y.data(), {k0, k1, n}),
              rg::GroupTensor(sizes.data(), GroupKind::sizes, {k0, g}),
              dense<rg::MutableTensor>(out.data(), {g, m, n}),
              {.lhs_contracting = {0, 1}, .rhs_contracting = {0, 1}, .lhs_ragged = {1}},
              {.alpha = -3, .lhs_index = sizes.data()})
              .ok());
  CHECK(first_difference(out.get(), {0, 0, 0, 0, -0.0F, -0.0F, -0.0F, -0.0F}) == -1);
}

/// A valid call of each variant, to be spoiled in one place.
struct Valid {
  rg::Tensor lhs, rhs;
  rg::MutableTensor out;
  rg::GroupTensor groups;
  DimensionNumbers dims;
  std::int32_t sizes[57 * 11] = {};
  float memory[1] = {};

  Valid() {
    set(lhs, {19, 17, 11, 5});
    set(rhs, {3, 19, 5, 7});
    set(out, {19, 17, 11, 7});
    groups = rg::GroupTensor(sizes, GroupKind::sizes, {19, 17, 3});
    dims.lhs_contracting = {3};
    dims.rhs_contracting = {2};
    dims.lhs_batch = {0};
    dims.rhs_batch = {1};
    dims.lhs_ragged = {2};
    dims.rhs_group = {0};
  }

  template <class Pointer>
  void set(rg::BasicTensor<Pointer>& t, std::initializer_list<offset_t> extents) {
    t.data = memory;
    t.rank = 0;
    for (const offset_t e : extents) t.extent[t.rank++] = e;
    offset_t step = 1;
    for (index_t d = t.rank - 1; d >= 0; --d) {
      t.stride[d] = step;
      step *= t.extent[d];
    }
  }

  [[nodiscard]] rg::Status check(const rg::Options& options = {}) const {
    return rg::canonicalise(lhs, rhs, groups, out, dims, options).status();
  }
};

TEST_CASE("each shape condition of a general ragged dot has its own Status",
          "[conformance][general][host]") {
  REQUIRE(Valid().check().ok());
  struct Spoiled {
    StatusCode needed;
    std::function<void(Valid&)> spoil;
  };
  const Spoiled cases[] = {
      {StatusCode::ragged_dim_count, [](Valid& v) { v.dims.lhs_ragged = {}; }},
      {StatusCode::ragged_dim_count,
       [](Valid& v) {
         v.dims.lhs_ragged = {1, 2};
       }},
      {StatusCode::ragged_dim_out_of_range, [](Valid& v) { v.dims.lhs_ragged = {4}; }},
      {StatusCode::ragged_dim_out_of_range, [](Valid& v) { v.dims.lhs_ragged = {-1}; }},
      {StatusCode::group_sizes_rank_zero, [](Valid& v) { v.groups.rank = 0; }},
      {StatusCode::group_sizes_shape,
       [](Valid& v) {
         v.groups = rg::GroupTensor(v.sizes, GroupKind::sizes, {19, 11, 3});
       }},
      {StatusCode::group_sizes_shape,
       [](Valid& v) {
         v.groups = rg::GroupTensor(v.sizes, GroupKind::sizes, {19, 3});
       }},
      {StatusCode::group_count_unknown,
       [](Valid& v) { v.groups = rg::GroupTensor(v.sizes, GroupKind::sizes, {-1}); }},
      {StatusCode::group_dim_not_allowed,
       [](Valid& v) {
         v.dims.lhs_ragged = {3};
         v.groups = rg::GroupTensor(v.sizes, GroupKind::sizes, {19, 3});
       }},
      {StatusCode::group_dim_count, [](Valid& v) { v.dims.rhs_group = {}; }},
      {StatusCode::group_dim_count,
       [](Valid& v) {
         v.dims.rhs_group = {0, 3};
       }},
      {StatusCode::group_dim_not_distinct, [](Valid& v) { v.dims.rhs_group = {1}; }},
      {StatusCode::group_dim_not_distinct, [](Valid& v) { v.dims.rhs_group = {2}; }},
      {StatusCode::group_dim_extent,
       [](Valid& v) {
         v.groups = rg::GroupTensor(v.sizes, GroupKind::sizes, {19, 17, 2});
       }},
      {StatusCode::dimension_numbers, [](Valid& v) { v.dims.rhs_contracting = {}; }},
      {StatusCode::dimension_numbers, [](Valid& v) { v.dims.lhs_contracting = {9}; }},
      {StatusCode::dimension_numbers,
       [](Valid& v) {
         v.set(v.rhs, {3, 18, 5, 7});
       }},
      {StatusCode::dimension_numbers,
       [](Valid& v) {
         v.set(v.rhs, {3, 19, 6, 7});
       }},
      {StatusCode::extent_mismatch,
       [](Valid& v) {
         v.set(v.out, {19, 17, 11, 8});
       }},
      {StatusCode::extent_mismatch,
       [](Valid& v) {
         v.set(v.out, {19, 17, 77});
       }},
  };
  for (const Spoiled& c : cases) {
    Valid v;
    c.spoil(v);
    const rg::Status status = v.check();
    INFO("needed " << rg::name_of(c.needed) << ", got " << status.message());
    CHECK(status.code() == c.needed);
    CHECK(*status.operand() != '\0');
  }
  // Indices: the ragged extent is then out's, or as the options say.
  const std::int32_t index[1] = {};
  Valid gathered;
  gathered.set(gathered.lhs, {19, 17, 4, 5});
  CHECK(gathered.check().code() == StatusCode::extent_mismatch);
  CHECK(gathered.check({.lhs_index = index}).ok());
  CHECK(gathered.check({.lhs_index = index, .ragged_extent = 12}).code() ==
        StatusCode::extent_mismatch);
  gathered.set(gathered.out, {19, 17, 2, 7});
  CHECK(gathered.check({.lhs_index = index, .out_index = index, .ragged_extent = 12}).ok());
  gathered.set(gathered.out, {19, 16, 2, 7});
  CHECK(gathered.check({.lhs_index = index, .out_index = index, .ragged_extent = 12}).code() ==
        StatusCode::extent_mismatch);
  Valid no_rows;  // a batch is ragged, and two lhs dimensions are rows
  no_rows.dims.lhs_ragged = {0};
  no_rows.dims.rhs_group = {};
  no_rows.set(no_rows.rhs, {19, 5, 7});
  no_rows.dims.rhs_batch = {0};
  no_rows.dims.rhs_contracting = {1};
  no_rows.groups = rg::GroupTensor(no_rows.sizes, GroupKind::sizes, {3});
  CHECK(no_rows.check().ok());
  CHECK(no_rows.check({.out_index = index}).code() == StatusCode::unsupported_option);
  // The thirteenth: a shard that leaves the description.
  Valid v;
  v.set(v.rhs, {2, 19, 5, 7});
  CHECK(v.check({.group_offset = 1}).ok());
  CHECK(v.check({.group_offset = 2}).code() == StatusCode::group_offset_out_of_range);
}

}  // namespace
