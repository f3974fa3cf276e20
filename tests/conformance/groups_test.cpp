// SPDX-License-Identifier: Apache-2.0
// The group description: up to 65,537 groups, every integer type and kind in general calls with
// groups of their own for every batch, sums past the type's range, extents of zero and below.

#include <raggedgemm/ragged_dot_general.hpp>

#include <algorithm>
#include <cmath>

#include "support/conformance.hpp"
#include "support/every_row.hpp"

namespace {

using namespace support;
using rg::StatusCode;

Case make(const char* name, const Shape& shape, const Sizes& sizes) {
  Case c;
  c.name = name;
  c.shape = shape;
  c.entries = sizes;
  return c;
}

/// `groups` groups of which the last holds rows, and a few others a row each.
Sizes mostly_empty(offset_t groups) {
  Sizes sizes(static_cast<std::size_t>(groups), 0);
  for (const std::size_t g : {std::size_t{0}, sizes.size() / 3, sizes.size() / 2}) sizes[g] = 1;
  sizes.back() = 5;
  return sizes;
}

offset_t sum_of(const Sizes& sizes) {
  offset_t sum = 0;
  for (const std::int64_t size : sizes) sum += size;
  return sum;
}

TEST_CASE("Up to 65,537 groups, nearly all of them empty, in every variant",
          "[conformance][groups][device]") {
  // Counts about the powers of two that no other test reaches.
  std::vector<offset_t> counts{1, 2, 2047, 4096, 16383, 65535, 65536, 65537};
  if (emulated()) counts = {1, 2, 2047, 4097};
  for (const offset_t g : counts) {
    const Sizes sizes = mostly_empty(g);
    const offset_t rows = sum_of(sizes) + 2;  // and a tail
    check_case<bf16, bf16, bf16>(
        make("many groups", {Variant::non_contracting, g, rows, 8, 8}, sizes));
    if (emulated() && g > 2047) continue;
    check_case<float, float, float>(
        make("many groups", {Variant::non_contracting, g, rows, 3, 5}, sizes));
    check_case<bf16, bf16, bf16>(make("many groups", {Variant::batch, rows, 3, 8, 8}, sizes));
    if (emulated() && g > 2) continue;  // a slab a group
    check_case<bf16, bf16, float>(
        make("many groups", {Variant::contracting, g, rows, 8, 8}, sizes));
    check_case<float, float, float>(
        make("many groups", {Variant::contracting, g, rows, 2, 3}, sizes));
  }
}

TEST_CASE("65,536 groups of one row each", "[conformance][groups][slow][device]") {
  const offset_t g = scaled(65536, 100);
  const Sizes ones(static_cast<std::size_t>(g), 1);
  check_case<bf16, bf16, bf16>(
      make("one row a group", {Variant::non_contracting, g, g, 8, 8}, ones));
  check_case<bf16, bf16, float>(make("one row a group", {Variant::contracting, g, g, 8, 8}, ones));
}

TEST_CASE("Sums of narrow sizes pass the type's range in every variant",
          "[conformance][groups][device]") {
  const auto check = [](const char* name, const Sizes& sizes, IndexType type, offset_t extent) {
    const offset_t g = static_cast<offset_t>(sizes.size());
    // A slab is a tile; 140 are enough to pass the smallest range.
    const offset_t slabs_emulated = type == IndexType::s8 ? 140 : 20;
    const offset_t slabs = std::min(extent, scaled(extent, slabs_emulated));
    for (const Shape& shape : {Shape{Variant::non_contracting, g, extent, 8, 8},
                               Shape{Variant::contracting, g, extent, 8, 8},
                               Shape{Variant::batch, slabs, 2, 8, 8}}) {
      Case c = make(name, shape, sizes);
      c.type = type;
      c.rows_by_turns = emulated();
      check_case<bf16, bf16, float>(c);
      check_case<float, float, float>(c);
    }
  };
  check("s8, sum 400", {127, 127, 0, 127, 19}, IndexType::s8, 450);
  check("s8, a negative size", {100, -128, 100, 27}, IndexType::s8, 250);
  check("u8, sum 700", {255, 190, 0, 255}, IndexType::u8, 720);
  check("s16, sum 33,000", {32767, 0, 233}, IndexType::s16, 33100);
  check("u16, cut at the extent", {65535, 65535, 3}, IndexType::u16, 300);
  check("u32 past int32", {10, 4294967295, 3}, IndexType::u32, 50);
  check("u64 past int64", {10, -1, 3}, IndexType::u64, 50);            // 2^64 − 1
  check("u64 past int64, first", {int64_min, 3}, IndexType::u64, 50);  // 2^63
  check("s64, sums past int64", {10, int64_max, int64_max, 3}, IndexType::s64, 50);
}

constexpr offset_t batches = 3;
constexpr offset_t g = 5;
constexpr offset_t m = 40;
constexpr offset_t k = 24;
constexpr offset_t n = 33;
/// One row of groups for each batch; their sums are 33, 40 and 7 of 40.
const Sizes rows_of_sizes[] = {{9, 0, 14, 7, 3}, {0, 0, 40, 0, 0}, {1, 2, 0, 0, 4}};

/// The rows as entries of a kind, one after the other, as bytes of a type.
std::vector<unsigned char> description(GroupKind kind, IndexType type) {
  std::vector<unsigned char> bytes;
  for (const Sizes& sizes : rows_of_sizes) {
    Sizes entries = entries_of(sizes, kind);
    const std::vector<unsigned char> row = bytes_of(entries, type);
    bytes.insert(bytes.end(), row.begin(), row.end());
  }
  return bytes;
}

std::vector<float> reals(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.real());
  return values;
}

/// Runs a general call of variant V with [batches, g] groups of every kind and type, with every
/// row; all results must have the bits of the first, which must be right at `check(result)`.
template <Variant V, class L, class R, class O, class Check>
void check_descriptions(const L& lhs,
                        const R& rhs,
                        const O& out_view,
                        DeviceArray<float>& out,
                        const rg::DimensionNumbers& dims,
                        const Check& check) {
  std::map<std::string, std::vector<float>> first;
  const std::vector<float> before = poisoned<float>(out.elems());
  for (const GroupKind kind : {GroupKind::sizes, GroupKind::end_offsets, GroupKind::offsets})
    for (const IndexType type : {IndexType::s64,
                                 IndexType::s8,
                                 IndexType::s16,
                                 IndexType::s32,
                                 IndexType::u8,
                                 IndexType::u16,
                                 IndexType::u32,
                                 IndexType::u64}) {
      const DeviceArray<unsigned char> entries(description(kind, type));
      rg::GroupTensor groups;
      groups.groups = {entries.data(), 0, kind, type};
      groups.rank = 2;
      groups.extent[0] = batches;
      groups.extent[1] = g + (kind == GroupKind::offsets ? 1 : 0);
      const auto call = rg::describe_general<V>(lhs, rhs, groups, out_view, dims);
      INFO("kind " << static_cast<int>(kind) << ", type " << static_cast<int>(type) << ": "
                   << call.status.message());
      REQUIRE(call.status.ok());
      with_every_row(
          call, {}, out, before, [&](const std::vector<float>& got, const std::string& row) {
            if (first.count(row) == 0) {
              check(got);
              first[row] = got;
            }
            CHECK(first_difference(got, first[row]) == -1);
          });
    }
}

/// Largest ratio of an error to its bound.
double worst(const std::vector<float>& got,
             const Reference& expected,
             double terms,
             std::size_t from = 0) {
  double ratio = 0;
  for (std::size_t i = 0; i < expected.product.size(); ++i) {
    const double error = std::fabs(double{got[from + i]} - expected.product[i]);
    ratio =
        std::max(ratio, error / error_bound<float>(terms, expected.absdot[i], expected.product[i]));
    if (!(error == error)) return INFINITY;
  }
  return ratio;
}

std::vector<double> part(const std::vector<float>& values, offset_t from, offset_t count) {
  return {values.begin() + from, values.begin() + from + count};
}

TEST_CASE("A general call reads rows of groups of every kind and type alike",
          "[conformance][groups][general][device]") {
  SECTION("non_contracting") {
    const std::vector<float> x = reals(batches * m * k, 1);
    const std::vector<float> y = reals(batches * g * k * n, 2);
    const DeviceArray<float> lhs(x);
    const DeviceArray<float> rhs(y);
    DeviceArray<float> out(batches * m * n);
    check_descriptions<Variant::non_contracting>(
        rg::view(std::as_const(lhs).data(), batches, m, k),
        rg::view(std::as_const(rhs).data(), batches, g, k, n),
        rg::view(out.data(), batches, m, n),
        out,
        {.lhs_contracting = {2},
         .rhs_contracting = {2},
         .lhs_batch = {0},
         .rhs_batch = {0},
         .lhs_ragged = {1},
         .rhs_group = {1}},
        [&](const std::vector<float>& got) {
          for (offset_t b = 0; b < batches; ++b) {
            const std::vector<Range> ranges = ranges_of(rows_of_sizes[b], GroupKind::sizes, m);
            const Reference expected = reference({Variant::non_contracting, g, m, k, n},
                                                 part(x, b * m * k, m * k),
                                                 part(y, b * g * k * n, g * k * n),
                                                 ranges,
                                                 covered(ranges));
            CHECK(worst(got, expected, k + 4, static_cast<std::size_t>(b * m * n)) <= 1);
          }
        });
  }
  SECTION("contracting") {
    const std::vector<float> x = reals(batches * m * k, 3);
    const std::vector<float> y = reals(batches * m * n, 4);
    const DeviceArray<float> lhs(x);
    const DeviceArray<float> rhs(y);
    DeviceArray<float> out(g * batches * k * n);
    check_descriptions<Variant::contracting>(
        rg::view(std::as_const(lhs).data(), batches, m, k),
        rg::view(std::as_const(rhs).data(), batches, m, n),
        rg::view(out.data(), g, batches, k, n),
        out,
        {.lhs_contracting = {1},
         .rhs_contracting = {1},
         .lhs_batch = {0},
         .rhs_batch = {0},
         .lhs_ragged = {1},
         .rhs_group = {}},
        [&](const std::vector<float>& got) {
          for (offset_t b = 0; b < batches; ++b) {
            const std::vector<Range> ranges = ranges_of(rows_of_sizes[b], GroupKind::sizes, m);
            const Reference expected = reference({Variant::contracting, g, m, k, n},
                                                 part(x, b * m * k, m * k),
                                                 part(y, b * m * n, m * n),
                                                 ranges,
                                                 covered(ranges));
            std::vector<float> slabs;  // out is [g, b, k, n]
            for (offset_t s = 0; s < g; ++s)
              for (offset_t i = 0; i < k * n; ++i)
                slabs.push_back(got[static_cast<std::size_t>((s * batches + b) * k * n + i)]);
            CHECK(worst(slabs, expected, m + 4) <= 1);
          }
        });
  }
  SECTION("batch") {
    // Batch dimensions [batches, m]: the inner one is ragged.
    const std::vector<float> x = reals(batches * m * 2 * k, 5);
    const std::vector<float> y = reals(batches * m * k * 7, 6);
    const DeviceArray<float> lhs(x);
    const DeviceArray<float> rhs(y);
    DeviceArray<float> out(batches * m * 2 * 7);
    check_descriptions<Variant::batch>(
        rg::view(std::as_const(lhs).data(), batches, m, 2, k),
        rg::view(std::as_const(rhs).data(), batches, m, k, 7),
        rg::view(out.data(), batches, m, 2, 7),
        out,
        {.lhs_contracting = {3},
         .rhs_contracting = {2},
         .lhs_batch = {0, 1},
         .rhs_batch = {0, 1},
         .lhs_ragged = {1},
         .rhs_group = {}},
        [&](const std::vector<float>& got) {
          for (offset_t b = 0; b < batches; ++b) {
            const std::vector<Range> ranges = ranges_of(rows_of_sizes[b], GroupKind::sizes, m);
            const Reference expected = reference({Variant::batch, m, 2, k, 7},
                                                 part(x, b * m * 2 * k, m * 2 * k),
                                                 part(y, b * m * k * 7, m * k * 7),
                                                 ranges,
                                                 covered(ranges));
            CHECK(worst(got, expected, k + 4, static_cast<std::size_t>(b * m * 2 * 7)) <= 1);
          }
        });
  }
}

TEST_CASE("General calls accept extents of zero, and null for what has no elements",
          "[conformance][groups][general][device]") {
  struct Extents {
    const char* name;
    offset_t b, g, m, k, n;
  };
  for (const Extents& e : {Extents{"b = 0", 0, 3, 4, 5, 6},
                           Extents{"g = 0", 2, 0, 4, 5, 6},
                           Extents{"m = 0", 2, 3, 0, 5, 6},
                           Extents{"k = 0", 2, 3, 4, 0, 6},
                           Extents{"n = 0", 2, 3, 4, 5, 0},
                           Extents{"all", 0, 0, 0, 0, 0}}) {
    INFO(e.name);
    const auto elems = [](offset_t count) { return static_cast<std::size_t>(count); };
    const auto array = [](offset_t count) {
      return std::vector<float>(static_cast<std::size_t>(count), 1.0F);
    };
    const auto or_null = [](const DeviceArray<float>& a) -> const float* {
      return a.elems() == 0 ? nullptr : a.data();
    };
    const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>(elems(e.b * e.g), 1));
    const rg::GroupTensor groups(
        sizes.elems() == 0 ? nullptr : sizes.data(), GroupKind::sizes, {e.b, e.g});
    const auto is = [](const std::vector<float>& got, float live, offset_t live_per, offset_t per) {
      for (std::size_t i = 0; i < got.size(); ++i) {
        const bool in_group = static_cast<offset_t>(i) % per < live_per;
        REQUIRE(same_bits(got[i], in_group ? live : 0.0F));
      }
    };
    const auto depth = static_cast<float>(e.k);
    {  // x [b, m, k] · y [g, b, k, n]
      const DeviceArray<float> x(array(e.b * e.m * e.k));
      const DeviceArray<float> y(array(e.g * e.b * e.k * e.n));
      DeviceArray<float> out(elems(e.b * e.m * e.n));
      const auto call = rg::describe_general<Variant::non_contracting>(
          rg::view(or_null(x), e.b, e.m, e.k),
          rg::view(or_null(y), e.g, e.b, e.k, e.n),
          groups,
          rg::view(out.elems() == 0 ? nullptr : out.data(), e.b, e.m, e.n),
          {.lhs_contracting = {2},
           .rhs_contracting = {2},
           .lhs_batch = {0},
           .rhs_batch = {1},
           .lhs_ragged = {1},
           .rhs_group = {0}});
      const rg::Status status = rg::run(call);
      INFO(status.message());
      REQUIRE(status.ok());
      REQUIRE(runtime::synchronize().ok());
      CHECK(out.guards_intact());
      is(out.get(), depth, std::min(e.g, e.m) * e.n, std::max<offset_t>(e.m * e.n, 1));
    }
    {  // x [b, m, k], y [b, m, n] → [g, b, k, n]
      const DeviceArray<float> x(array(e.b * e.m * e.k));
      const DeviceArray<float> y(array(e.b * e.m * e.n));
      DeviceArray<float> out(elems(e.g * e.b * e.k * e.n));
      const auto call = rg::describe_general<Variant::contracting>(
          rg::view(or_null(x), e.b, e.m, e.k),
          rg::view(or_null(y), e.b, e.m, e.n),
          groups,
          rg::view(out.elems() == 0 ? nullptr : out.data(), e.g, e.b, e.k, e.n),
          {.lhs_contracting = {1},
           .rhs_contracting = {1},
           .lhs_batch = {0},
           .rhs_batch = {0},
           .lhs_ragged = {1},
           .rhs_group = {}});
      const rg::Status status = rg::run(call);
      INFO(status.message());
      REQUIRE(status.ok());
      REQUIRE(runtime::synchronize().ok());
      CHECK(out.guards_intact());
      is(out.get(), e.m == 0 ? 0.0F : 1.0F, 1, 1);  // one row a group
    }
  }
}

TEST_CASE("Extents below zero or past all memory are refused by name, wherever they stand",
          "[conformance][groups][general][device]") {
  const DeviceArray<float> memory(std::vector<float>(4096, 1.0F));
  DeviceArray<float> out(4096);
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>(64, 1));
  // x [b, m, k0, k1] · y [g, b, k0, k1, n], with strides that no two dimensions can be merged by.
  for (int which = 0; which < 5; ++which)
    for (const offset_t extent :
         {offset_t{-1}, int64_min, offset_t{1} << 62, int64_max, -(offset_t{1} << 62)}) {
      offset_t e[] = {2, 3, 2, 2, 3};  // b, m, k0, k1, n
      e[which] = extent;
      const rg::View<const float, 4> x(memory.data(), {e[0], e[1], e[2], e[3]}, {64, 16, 5, 2});
      const rg::View<const float, 5> y(
          memory.data(), {2, e[0], e[2], e[3], e[4]}, {256, 64, 16, 5, 1});
      const rg::View<float, 3> d(out.data(), {e[0], e[1], e[4]}, {64, 16, 1});
      const rg::Status status =
          rg::ragged_dot_general(x,
                                 y,
                                 rg::GroupTensor(sizes.data(), GroupKind::sizes, {2}),
                                 d,
                                 {.lhs_contracting = {2, 3},
                                  .rhs_contracting = {2, 3},
                                  .lhs_batch = {0},
                                  .rhs_batch = {1},
                                  .lhs_ragged = {1},
                                  .rhs_group = {0}});
      INFO("dimension " << which << " of " << extent << ": " << status.message());
      CHECK(static_cast<int>(status.code()) ==
            static_cast<int>(extent < 0 ? StatusCode::negative_extent
                                        : StatusCode::extent_too_large));
    }
  CHECK(first_difference(out.get(), poisoned<float>(out.elems())) == -1);
}

}  // namespace
