// SPDX-License-Identifier: Apache-2.0
// Options beyond alpha and beta: a separate C, per-group alpha, shards, gather, scatter, the fault
// report. Whole numbers, so results are compared exactly.

#include <raggedgemm/raggedgemm.hpp>

#include "support/device_array.hpp"
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
  to[4] = -1;  // dropped
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
          if (row == 4) return 7.0F;  // nobody wrote there
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

}  // namespace
