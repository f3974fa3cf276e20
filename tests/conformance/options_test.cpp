// SPDX-License-Identifier: Apache-2.0
// Options beyond alpha and beta: a separate C, per-group alpha, shards, gather, scatter, the fault
// report. Whole numbers, so results are compared exactly.

#include <raggedgemm/raggedgemm.hpp>

#include "support/every_row.hpp"
#include "support/random.hpp"
#include "support/scale.hpp"
#include "support/sizes.hpp"

namespace {

using namespace support;
namespace rg = raggedgemm;

constexpr int m = 40, k = 24, n = 36, g = 5;
const std::vector<std::int32_t> sizes_host = {9, 0, 14, 7, 3};  // 33 of 40 rows

std::vector<float> whole_numbers(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(random.between(-4, 4));
  return values;
}

/// Group of a row, or -1.
int owner_of(int row) {
  int end = 0;
  for (int group = 0; group < g; ++group) {
    end += sizes_host[static_cast<std::size_t>(group)];
    if (row < end) return group;
  }
  return -1;
}

bool contains_tf32(const std::string& text) { return text.find("_tf32") != std::string::npos; }

struct Operands {
  std::vector<float> x = whole_numbers(m * k, 1), w = whole_numbers(g * k * n, 2),
                     y = whole_numbers(m * n, 3);
  DeviceArray<float> lhs{x}, rhs{w}, rows{y};
  DeviceArray<std::int32_t> sizes{sizes_host};
  rg::Groups groups = rg::GroupSizes(sizes.data(), g);

  /// Σ_k x[row, k] · w[group, k, col]
  [[nodiscard]] float product(int row, int group, int col) const {
    float sum = 0;
    for (int i = 0; i < k; ++i)
      sum += x[static_cast<std::size_t>(row * k + i)] *
             w[static_cast<std::size_t>((group * k + i) * n + col)];
    return sum;
  }
  /// Σ_{rows of group} x[row, i] · y[row, col], the lhs row through `index` if there is one.
  [[nodiscard]] float weight(int group,
                             int i,
                             int col,
                             const std::vector<std::int32_t>& index = {}) const {
    float sum = 0;
    for (int row = 0; row < m; ++row) {
      if (owner_of(row) != group) continue;
      const int source = index.empty() ? row : index[static_cast<std::size_t>(row)];
      if (source < 0 || source >= m) continue;
      sum +=
          x[static_cast<std::size_t>(source * k + i)] * y[static_cast<std::size_t>(row * n + col)];
    }
    return sum;
  }
};

/// Largest difference from `expected(row, col)` over a row-major matrix.
template <class F>
float difference(const std::vector<float>& got, int rows, int cols, const F& expected) {
  float worst = 0;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c) {
      const float d = std::fabs(got[static_cast<std::size_t>(r * cols + c)] - expected(r, c));
      if (d != d) return d;  // NaN
      worst = std::max(worst, d);
    }
  return worst;
}

TEST_CASE("out = alpha·product + beta·c with c of its own strides, and c is not written",
          "[conformance][options][device]") {
  const Operands o;
  const std::vector<float> c_values = whole_numbers((m + 2) * (n + 3), 4);
  const DeviceArray<float> c(c_values);
  DeviceArray<float> out(m * n);
  const rg::View<const float, 2> c_view(c.data(), {m, n}, {n + 3, 1});
  REQUIRE(rg::ragged_dot(rg::view(o.lhs.data(), m, k),
                         rg::view(o.rhs.data(), g, k, n),
                         o.groups,
                         rg::view(out.data(), m, n),
                         {.alpha = 2, .beta = -3, .c = rg::tensor(c_view)})
              .ok());
  REQUIRE(runtime::synchronize().ok());
  CHECK(first_difference(c.get(), c_values) == -1);
  CHECK(out.guards_intact());
  CHECK(difference(out.get(), m, n, [&](int row, int col) {
          const float add = -3 * c_values[static_cast<std::size_t>(row * (n + 3) + col)];
          return owner_of(row) < 0 ? add : 2 * o.product(row, owner_of(row), col) + add;
        }) == 0.0F);
  const rg::View<const float, 2> narrow(c.data(), {m, n - 1}, {n + 3, 1});
  CHECK(rg::ragged_dot(rg::view(o.lhs.data(), m, k),
                       rg::view(o.rhs.data(), g, k, n),
                       o.groups,
                       rg::view(out.data(), m, n),
                       {.beta = 1, .c = rg::tensor(narrow)})
            .code() == rg::StatusCode::extent_mismatch);
}

TEST_CASE("group_alpha scales each group by its own factor, the tail by none",
          "[conformance][options][device]") {
  const Operands o;
  const std::vector<float> factors = {1, -2, 3, 0, 5};
  const DeviceArray<float> group_alpha(factors);
  DeviceArray<float> out(m * n);
  REQUIRE(rg::ragged_dot(rg::view(o.lhs.data(), m, k),
                         rg::view(o.rhs.data(), g, k, n),
                         o.groups,
                         rg::view(out.data(), m, n),
                         {.alpha = 2, .group_alpha = group_alpha.data()})
              .ok());
  CHECK(difference(out.get(), m, n, [&](int row, int col) {
          const int group = owner_of(row);
          return group < 0
                     ? 0
                     : 2 * factors[static_cast<std::size_t>(group)] * o.product(row, group, col);
        }) == 0.0F);
  DeviceArray<float> dw(g * k * n);
  REQUIRE(rg::ragged_dot_contracting(rg::view(o.lhs.data(), m, k),
                                     rg::view(o.rows.data(), m, n),
                                     o.groups,
                                     rg::view(dw.data(), g, k, n),
                                     {.group_alpha = group_alpha.data()})
              .ok());
  CHECK(difference(dw.get(), g * k, n, [&](int row, int col) {
          return factors[static_cast<std::size_t>(row / k)] * o.weight(row / k, row % k, col);
        }) == 0.0F);
}

TEST_CASE("a shard of the groups writes its own rows, and zeroes or keeps the others",
          "[conformance][options][device]") {
  const Operands o;
  for (const int offset : {0, 1, 3}) {
    const int local = 2;
    for (const rg::Tail tail : {rg::Tail::zero, rg::Tail::keep}) {
      DeviceArray<float> out(std::vector<float>(m * n, 7));
      REQUIRE(rg::ragged_dot(rg::view(o.lhs.data(), m, k),
                             rg::view(o.rhs.data() + offset * k * n, local, k, n),
                             o.groups,
                             rg::view(out.data(), m, n),
                             {.tail = tail, .group_offset = offset})
                  .ok());
      CHECK(difference(out.get(), m, n, [&](int row, int col) {
              const int group = owner_of(row);
              if (group < offset || group >= offset + local)
                return tail == rg::Tail::keep ? 7.0F : 0.0F;
              return o.product(row, group, col);
            }) == 0.0F);
    }
    DeviceArray<float> dw(local * k * n);
    REQUIRE(rg::ragged_dot_contracting(rg::view(o.lhs.data(), m, k),
                                       rg::view(o.rows.data(), m, n),
                                       o.groups,
                                       rg::view(dw.data(), local, k, n),
                                       {.group_offset = offset})
                .ok());
    CHECK(difference(dw.get(), local * k, n, [&](int row, int col) {
            return o.weight(offset + row / k, row % k, col);
          }) == 0.0F);
  }
  DeviceArray<float> out(m * n);
  CHECK(rg::ragged_dot(rg::view(o.lhs.data(), m, k),
                       rg::view(o.rhs.data(), 2, k, n),
                       o.groups,
                       rg::view(out.data(), m, n),
                       {.group_offset = 4})
            .code() == rg::StatusCode::group_offset_out_of_range);
  CHECK(rg::ragged_dot(rg::view(o.lhs.data(), m, k),
                       rg::view(o.rhs.data(), 2, k, n),
                       o.groups,
                       rg::view(out.data(), m, n))
            .code() == rg::StatusCode::extent_mismatch);
}

TEST_CASE("lhs_index gathers, out_index scatters, and hostile entries read zero or write nothing",
          "[conformance][options][device]") {
  const Operands o;
  Random random(5);
  std::vector<std::int32_t> index(m);
  for (std::int32_t& i : index) i = static_cast<std::int32_t>(random.between(0, m - 1));
  index[0] = -1;
  index[1] = m;
  index[2] = 2147483647;
  const DeviceArray<std::int32_t> lhs_index(index);
  std::vector<std::int32_t> to(m);
  for (int i = 0; i < m; ++i) to[static_cast<std::size_t>(i)] = m - 1 - i;
  for (const int row : {4, 5, 6}) to[static_cast<std::size_t>(row)] = row == 5 ? m : -1;  // dropped
  const DeviceArray<std::int32_t> out_index(to);
  DeviceArray<float> out(std::vector<float>(m * n, 7));
  REQUIRE(rg::ragged_dot(rg::view(o.lhs.data(), m, k),
                         rg::view(o.rhs.data(), g, k, n),
                         o.groups,
                         rg::view(out.data(), m, n),
                         {.lhs_index = lhs_index.data(), .out_index = out_index.data()})
              .ok());
  CHECK(out.guards_intact());
  CHECK(difference(out.get(), m, n, [&](int out_row, int col) {
          const int row = m - 1 - out_row;
          if (row >= 4 && row <= 6) return 7.0F;  // nobody wrote there
          const int source = index[static_cast<std::size_t>(row)];
          if (owner_of(row) < 0 || source < 0 || source >= m) return 0.0F;
          return o.product(source, owner_of(row), col);
        }) == 0.0F);

  DeviceArray<float> dw(g * k * n);
  REQUIRE(rg::ragged_dot_contracting(rg::view(o.lhs.data(), m, k),
                                     rg::view(o.rows.data(), m, n),
                                     o.groups,
                                     rg::view(dw.data(), g, k, n),
                                     {.lhs_index = lhs_index.data()})
              .ok());
  CHECK(difference(dw.get(), g * k, n, [&](int row, int col) {
          return o.weight(row / k, row % k, col, index);
        }) == 0.0F);

  // batch: the slabs of lhs are gathered.
  const std::vector<std::int32_t> slabs = {4, -1, 0, 5, 2};
  const DeviceArray<std::int32_t> slab_index(slabs);
  DeviceArray<float> batch_out(g * 8 * n);
  REQUIRE(rg::ragged_dot_batch(rg::view(o.lhs.data(), 5, 8, k),
                               rg::view(o.rhs.data(), g, k, n),
                               rg::Groups{},
                               rg::view(batch_out.data(), g, 8, n),
                               {.lhs_index = slab_index.data()})
              .ok());
  CHECK(difference(batch_out.get(), g * 8, n, [&](int row, int col) {
          const int slab = slabs[static_cast<std::size_t>(row / 8)];
          return slab < 0 || slab >= 5 ? 0.0F : o.product(slab * 8 + row % 8, row / 8, col);
        }) == 0.0F);
}

TEST_CASE("A scatter goes to the rows that out has, however many, and drops every other entry",
          "[conformance][options][device]") {
  // Rows of the product, of all three variants; each entry that is a row of out is there once.
  constexpr int rows = 48, depth = 64, cols = 72, slabs = 2;
  const auto bf16s = [](std::size_t count, std::uint64_t seed) {
    std::vector<rg::bf16> narrow;
    for (const float value : whole_numbers(count, seed)) narrow.push_back(rg::to_bf16(value));
    return narrow;
  };
  const std::vector<rg::bf16> a = bf16s(slabs * rows * depth, 11);
  const std::vector<rg::bf16> b = bf16s(slabs * depth * cols, 12);
  const DeviceArray<rg::bf16> lhs(a), rhs(b);
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>{rows, 0});
  const DeviceArray<std::int32_t> depths(std::vector<std::int32_t>{depth, 0});
  const DeviceArray<std::int32_t> gather(std::vector<std::int32_t>(rows, 3));
  /// Σ_k a[slab, row, k] · b[slab, k, col], or of a[slab, k, row].
  const auto product = [&](int slab, int row, int col, bool transposed) {
    float sum = 0;
    for (int i = 0; i < depth; ++i)
      sum += rg::to_float(a[static_cast<std::size_t>(
                 transposed ? i * rows + row : (slab * rows + row) * depth + i)]) *
             rg::to_float(b[static_cast<std::size_t>((slab * depth + i) * cols + col)]);
    return sum;
  };
  for (const int out_rows : {0, 1, 7, 48, 49, 200}) {
    std::vector<std::int32_t> to(rows);
    for (int i = 0; i < rows; ++i) to[static_cast<std::size_t>(i)] = i % 3 == 0 ? -i : 4 * i - 4;
    to[0] = -1;
    to[1] = 2147483647;
    to[2] = -2147483647 - 1;
    to[9] = out_rows;
    to[12] = out_rows - 1;
    for (int i = 0; i < rows; ++i)  // the last row of out is to[12]'s
      if (i != 12 && to[static_cast<std::size_t>(i)] == out_rows - 1)
        to[static_cast<std::size_t>(i)] = -5;
    const DeviceArray<std::int32_t> out_index(to);
    const auto source_of = [&](int out_row) {
      for (int i = 0; i < rows; ++i)
        if (to[static_cast<std::size_t>(i)] == out_row) return i;
      return -1;
    };
    INFO(out_rows << " rows");
    const std::size_t out_elems = static_cast<std::size_t>(slabs * out_rows * cols);
    DeviceArray<float> out(out_elems);
    const std::vector<float> before(out_elems, 7);
    const auto check = [&](const std::vector<float>& got, int live_slabs, const auto& value) {
      CHECK(difference(got, slabs * out_rows, cols, [&](int at, int col) {
              const int row = source_of(at % out_rows);
              return row < 0 || at / out_rows >= live_slabs ? 7.0F : value(at / out_rows, row, col);
            }) == 0.0F);
    };
    const rg::Options options{.out_index = out_index.data()};
    const auto plain = rg::describe(rg::view(std::as_const(lhs).data(), rows, depth),
                                    rg::view(std::as_const(rhs).data(), slabs, depth, cols),
                                    rg::GroupSizes(sizes.data(), slabs),
                                    rg::view(out.data(), out_rows, cols),
                                    options);
    with_every_row(plain, options, out, before, [&](const auto& got, const std::string&) {
      check(got, 1, [&](int, int row, int col) { return product(0, row, col, false); });
    });
    // Gathered, too: the number of rows is then in no operand.
    const rg::Options both{
        .lhs_index = gather.data(), .out_index = out_index.data(), .ragged_extent = rows};
    const auto gathered = rg::describe(rg::view(std::as_const(lhs).data(), rows - 5, depth),
                                       rg::view(std::as_const(rhs).data(), slabs, depth, cols),
                                       rg::GroupSizes(sizes.data(), slabs),
                                       rg::view(out.data(), out_rows, cols),
                                       both);
    with_every_row(gathered, both, out, before, [&](const auto& got, const std::string&) {
      check(got, 1, [&](int, int, int col) { return product(0, 3, col, false); });
    });
    const auto reduction =
        rg::describe_contracting(rg::view(std::as_const(lhs).data(), depth, rows),
                                 rg::view(std::as_const(rhs).data(), depth, cols),
                                 rg::GroupSizes(depths.data(), slabs),
                                 rg::view(out.data(), slabs, out_rows, cols),
                                 options);
    with_every_row(reduction, options, out, before, [&](const auto& got, const std::string&) {
      check(got, 2, [&](int slab, int row, int col) {
        return slab == 0 ? product(0, row, col, true) : 0.0F;
      });
    });
    const auto batches = rg::describe_batch(rg::view(std::as_const(lhs).data(), slabs, rows, depth),
                                            rg::view(std::as_const(rhs).data(), slabs, depth, cols),
                                            rg::Groups{},
                                            rg::view(out.data(), slabs, out_rows, cols),
                                            options);
    with_every_row(batches, options, out, before, [&](const auto& got, const std::string&) {
      check(got, 2, [&](int slab, int row, int col) { return product(slab, row, col, false); });
    });
  }
}

TEST_CASE("options.ragged_extent is the product's, and is refused where an operand disagrees",
          "[conformance][options][host]") {
  float x[1] = {};
  std::int32_t index[1] = {};
  const rg::GroupSizes groups(index, 1);
  const auto lhs = rg::view(std::as_const(x), 6, 4);
  const auto code = [](const auto& call) { return call.status.code(); };
  for (const int extent : {5, 6}) {
    const rg::Options plain{.ragged_extent = extent};
    const rg::Options gathers{.lhs_index = index, .ragged_extent = extent};
    const auto needed = extent == 5 ? rg::StatusCode::extent_mismatch : rg::StatusCode::ok;
    for (const rg::Options& o : {plain, gathers}) {
      CHECK(code(rg::describe(lhs, rg::view(x, 1, 4, 3), groups, rg::view(x, 6, 3), o)) == needed);
      CHECK(code(rg::describe_contracting(
                lhs, rg::view(x, 6, 3), groups, rg::view(x, 1, 4, 3), o)) == needed);
      CHECK(code(rg::describe_batch(rg::view(std::as_const(x), 6, 2, 4),
                                    rg::view(x, 6, 4, 3),
                                    rg::Groups{},
                                    rg::view(x, 6, 2, 3),
                                    o)) == needed);
    }
  }
}

TEST_CASE("A gather of an lhs without elements reads zero, and needs no lhs",
          "[conformance][options][device]") {
  const Operands o;
  const DeviceArray<std::int32_t> index(std::vector<std::int32_t>(m, 0));
  const rg::Options options{.beta = 1, .lhs_index = index.data()};
  const std::vector<float> before(m * n, 7);
  DeviceArray<float> out(before);
  const rg::View<const float, 2> none(nullptr, {0, k}, {k, 1});
  REQUIRE(rg::ragged_dot(
              none, rg::view(o.rhs.data(), g, k, n), o.groups, rg::view(out.data(), m, n), options)
              .ok());
  CHECK(first_difference(out.get(), before) == -1);
  DeviceArray<float> dw(std::vector<float>(g * k * n, 7));
  REQUIRE(rg::ragged_dot_contracting(
              none, rg::view(o.rows.data(), m, n), o.groups, rg::view(dw.data(), g, k, n), options)
              .ok());
  CHECK(first_difference(dw.get(), std::vector<float>(g * k * n, 7)) == -1);
  DeviceArray<float> batches(std::vector<float>(g * 8 * n, 7));
  REQUIRE(rg::ragged_dot_batch(rg::View<const float, 3>(nullptr, {0, 8, k}, {8 * k, k, 1}),
                               rg::view(o.rhs.data(), g, k, n),
                               rg::Groups{},
                               rg::view(batches.data(), g, 8, n),
                               options)
              .ok());
  CHECK(first_difference(batches.get(), std::vector<float>(g * 8 * n, 7)) == -1);
}

TEST_CASE("allow_tf32 rounds f32 operands by 10 bits at most, and only where a kernel gains by it",
          "[conformance][options][device]") {
  constexpr int rows = 300, depth = 96, cols = 136, groups = 4;
  Random random(5);
  const auto reals = [&random](int count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values)
      value = static_cast<float>(random.between(-1000000, 1000000)) * 1e-6F;
    return values;
  };
  const std::vector<float> x = reals(rows * depth), w = reals(groups * cols * depth);
  const std::vector<std::int32_t> sizes_here = {130, 0, 33, 129};  // 292 of 300 rows
  const DeviceArray<float> lhs(x), rhs(w);
  const DeviceArray<std::int32_t> sizes(sizes_here);
  DeviceArray<float> out(rows * cols);
  const rg::Options options{.allow_tf32 = true};
  const auto call = rg::describe(rg::view(lhs.data(), rows, depth),
                                 rg::view(rhs.data(), groups, cols, depth).transposed(),
                                 rg::GroupSizes(sizes.data(), groups),
                                 rg::view(out.data(), rows, cols),
                                 options);
  bool rounded = false;
  with_every_row(
      call,
      options,
      out,
      poisoned<float>(out.elems()),
      [&](const std::vector<float>& got, const std::string& name) {
        INFO(name);
        double worst = 0;  // in units of what the operands' own rounding may make
        int group = 0;
        int end = sizes_here[0];
        for (int r = 0; r < rows; ++r) {
          while (group < groups && r >= end)
            if (++group < groups) end += sizes_here[static_cast<std::size_t>(group)];
          for (int c = 0; c < cols; ++c) {
            double sum = 0, magnitude = 0;
            for (int i = 0; i < depth && group < groups; ++i) {
              const double product = double{x[static_cast<std::size_t>(r * depth + i)]} *
                                     w[static_cast<std::size_t>((group * cols + c) * depth + i)];
              sum += product;
              magnitude += std::fabs(product);
            }
            const double error = std::fabs(got[static_cast<std::size_t>(r * cols + c)] - sum);
            const double bound = magnitude * 0x1p-9 + 0x1p-30;  // two operands, each cut by 2^-10
            worst = error <= bound ? std::max(worst, error / bound) : 1e9;
          }
        }
        CHECK(worst <= 1);
        if (contains_tf32(name)) {
          rounded = true;
          // True f32 would be 2^-14 and less; AMD's emulator multiplies xf32 so.
          if (!emulated()) CHECK(worst > 0x1p-8);
        } else if (name != "selected row") {
          CHECK(worst < 0x1p-8);
        }
      });
  const rg::Result<rg::Plan> plan = rg::make_plan(call, options);
  REQUIRE(plan.ok());
  CHECK(rounded == rg::config_row(plan.value().kernel.row).tf32);
}

TEST_CASE("A sum of nothing is +0.0, whatever the factors are", "[conformance][options][device]") {
  const Operands o;
  const float nan = __builtin_nanf("");
  const float infinity = __builtin_inff();
  const DeviceArray<float> factors(std::vector<float>{-1, nan, -infinity, infinity, -1});
  const DeviceArray<std::int32_t> empty(std::vector<std::int32_t>(g, 0));
  for (const double alpha : {-1.0, double{nan}, -double{infinity}, 1.0})
    for (const float* const group_alpha :
         {static_cast<const float*>(nullptr), static_cast<const float*>(factors.data())}) {
      const rg::Options options{.alpha = alpha, .group_alpha = group_alpha};
      INFO("alpha " << alpha << (group_alpha != nullptr ? ", group_alpha" : ""));
      const auto is_zero = [](const std::vector<float>& got) {
        return first_difference(got, std::vector<float>(got.size(), 0.0F)) == -1;
      };
      DeviceArray<float> dw(g * k * n);
      REQUIRE(rg::ragged_dot_contracting(rg::view(o.lhs.data(), m, k),
                                         rg::view(o.rows.data(), m, n),
                                         rg::GroupSizes(empty.data(), g),
                                         rg::view(dw.data(), g, k, n),
                                         options)
                  .ok());
      CHECK(is_zero(dw.get()));
      DeviceArray<float> out(m * n);
      REQUIRE(rg::ragged_dot(rg::view(o.lhs.data(), m, 0),
                             rg::view(o.rhs.data(), g, 0, n),
                             o.groups,
                             rg::view(out.data(), m, n),
                             options)
                  .ok());
      CHECK(is_zero(out.get()));
      DeviceArray<float> batches(g * 8 * n);
      REQUIRE(rg::ragged_dot_batch(rg::view(o.lhs.data(), g, 8, 0),
                                   rg::view(o.rhs.data(), g, 0, n),
                                   rg::Groups{},
                                   rg::view(batches.data(), g, 8, n),
                                   options)
                  .ok());
      CHECK(is_zero(batches.get()));
    }
}

TEST_CASE("the fault report names the first faulty group, and the result is defined all the same",
          "[conformance][options][device]") {
  const Operands o;
  struct Faulty {
    std::vector<std::int64_t> entries;
    rg::GroupKind kind;
    rg::FaultCode code;
    std::int64_t group;
    std::int64_t value;
  };
  const Faulty cases[] = {
      {{8, 8, 8, 8, 8}, rg::GroupKind::sizes, rg::FaultCode::none, 0, 0},
      {{8, -3, 8, -1, 8}, rg::GroupKind::sizes, rg::FaultCode::negative_size, 1, -3},
      {{8, 8, 30, -1, 8}, rg::GroupKind::sizes, rg::FaultCode::sum_exceeds_extent, 2, 46},
      {{0, 0, 0, 0, int64_max}, rg::GroupKind::sizes, rg::FaultCode::sum_exceeds_extent, 4, -1},
      {{8, 16, 12, 32, 40}, rg::GroupKind::end_offsets, rg::FaultCode::decreasing_offsets, 2, 12},
      {{0, 8, 16, 24, 32, 41}, rg::GroupKind::offsets, rg::FaultCode::sum_exceeds_extent, 4, 41},
      {{0, 8, 16, 24, 32, 40}, rg::GroupKind::offsets, rg::FaultCode::none, 0, 0},
  };
  for (const Faulty& c : cases) {
    const DeviceArray<std::int64_t> entries(c.entries);
    DeviceArray<rg::Fault> fault(1);
    DeviceArray<float> out(m * n);
    const rg::Groups groups{entries.data(), g, c.kind, rg::IndexType::s64};
    REQUIRE(rg::ragged_dot(rg::view(o.lhs.data(), m, k),
                           rg::view(o.rhs.data(), g, k, n),
                           groups,
                           rg::view(out.data(), m, n),
                           {.fault = fault.data()})
                .ok());
    REQUIRE(runtime::synchronize().ok());
    CHECK(fault.guards_intact());
    const rg::Fault got = fault.get()[0];
    CHECK(static_cast<int>(got.code) == static_cast<int>(c.code));
    CHECK(got.group == c.group);
    if (c.value >= 0) CHECK(got.value == c.value);
    const std::vector<Range> ranges = ranges_of(c.entries, c.kind, m);
    CHECK(difference(out.get(), m, n, [&](int row, int col) {
            for (std::size_t group = 0; group < ranges.size(); ++group)
              if (row >= ranges[group].begin && row < ranges[group].end)
                return o.product(row, static_cast<int>(group), col);
            return 0.0F;
          }) == 0.0F);
  }
}

TEST_CASE("The fault report is written where there is no output, too",
          "[conformance][options][device]") {
  const Operands o;
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>{3, -2, 0, 0, 0});
  const rg::GroupSizes groups(sizes.data(), g);
  DeviceArray<rg::Fault> fault(1);
  DeviceArray<float> out(g * k * n);
  const rg::Options options{.tail = rg::Tail::keep, .fault = fault.data()};
  const auto reports = [&](const rg::Status& status, rg::FaultCode code, int group, int value) {
    INFO(status.message());
    REQUIRE(status.ok());
    REQUIRE(runtime::synchronize().ok());
    const rg::Fault got = fault.get()[0];
    fault.set(std::vector<rg::Fault>(1, poison<rg::Fault>()));
    CHECK(static_cast<int>(got.code) == static_cast<int>(code));
    CHECK(got.group == group);
    CHECK(got.value == value);
  };
  using rg::FaultCode;
  const auto x = [&](auto... extents) { return rg::view(o.lhs.data(), extents...); };
  const auto w = [&](auto... extents) { return rg::view(o.rhs.data(), extents...); };
  const auto y = [&](auto... extents) { return rg::view(out.data(), extents...); };
  // No rows, no columns, a depth of 0, no slabs, no batches, no rows to scatter to.
  reports(rg::ragged_dot(x(0, k), w(g, k, n), groups, y(0, n), options),
          FaultCode::sum_exceeds_extent,
          0,
          3);
  reports(rg::ragged_dot(x(m, k), w(g, k, 0), groups, y(m, 0), options),
          FaultCode::negative_size,
          1,
          -2);
  reports(rg::ragged_dot(x(m, 0), w(g, 0, n), groups, y(m, n), options),
          FaultCode::negative_size,
          1,
          -2);
  reports(rg::ragged_dot_contracting(x(m, 0), w(m, n), groups, y(g, 0, n), options),
          FaultCode::negative_size,
          1,
          -2);
  reports(rg::ragged_dot_contracting(x(0, k), w(0, n), groups, y(g, k, n), options),
          FaultCode::sum_exceeds_extent,
          0,
          3);
  rg::Options shard = options;
  shard.group_offset = 2;
  reports(rg::ragged_dot_contracting(x(m, k), w(m, n), groups, y(0, k, n), shard),
          FaultCode::negative_size,
          1,
          -2);
  reports(rg::ragged_dot_batch(x(0, 8, k), w(0, k, n), groups, y(0, 8, n), options),
          FaultCode::sum_exceeds_extent,
          0,
          3);
  reports(rg::ragged_dot_batch(x(4, 0, k), w(4, k, n), groups, y(4, 0, n), options),
          FaultCode::negative_size,
          1,
          -2);
  rg::Options scatter = options;
  scatter.out_index = sizes.data();
  reports(rg::ragged_dot(x(g, k), w(g, k, n), groups, y(0, n), scatter),
          FaultCode::negative_size,
          1,
          -2);
  // Nothing to find a fault in.
  reports(rg::ragged_dot_batch(x(0, 8, k), w(0, k, n), rg::Groups{}, y(0, 8, n), options),
          FaultCode::none,
          0,
          0);
  reports(rg::ragged_dot_batch(x(4, 8, k), w(4, k, n), rg::Groups{}, y(4, 8, n), options),
          FaultCode::none,
          0,
          0);
  // The sizes are read, so they must be there.
  CHECK(rg::ragged_dot(x(0, k),
                       w(g, k, n),
                       rg::GroupSizes(static_cast<const std::int32_t*>(nullptr), g),
                       y(0, n),
                       options)
            .code() == rg::StatusCode::null_pointer);
}

}  // namespace
