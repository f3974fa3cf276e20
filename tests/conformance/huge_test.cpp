// SPDX-License-Identifier: Apache-2.0
// Elements past 2^31 and 2^32 where the variants' own tests do not look: batch operands, the source
// of a gather, the target of a scatter, ragged indices past 2^31; and, on a GPU, dense operands of
// up to 9 GB with the rows around element 2^31 and 2^32. On the host only the pages touched cost
// memory.

#include <raggedgemm/raggedgemm.hpp>

#include <map>

#include "support/every_row.hpp"
#include "support/huge_array.hpp"
#include "support/random.hpp"
#include "support/scale.hpp"
#include "support/workspace.hpp"

namespace {

using namespace support;
namespace rg = raggedgemm;
using rg::bf16;
using rg::index_t;
using rg::offset_t;

constexpr offset_t two_31 = offset_t{1} << 31;
constexpr offset_t two_32 = offset_t{1} << 32;

std::vector<bf16> constant(std::size_t count, float value) {
  return std::vector<bf16>(count, rg::to_bf16(value));
}

bool put(const HugeArray<bf16>& array, offset_t at, const std::vector<bf16>& values) {
  return runtime::copy_to_device(array.data() + at, values.data(), values.size() * sizeof(bf16))
      .ok();
}

/// Values from element `at` on.
template <class T>
std::vector<float> take(const T* data, offset_t at, std::size_t count) {
  std::vector<T> values(count);
  REQUIRE(runtime::copy_to_host(values.data(), data + at, count * sizeof(T)).ok());
  std::vector<float> wide;
  for (const T value : values) wide.push_back(rg::Element<T>::widen(value));
  return wide;
}

std::vector<float> row_of(std::size_t count, float value) {
  return std::vector<float>(count, value);
}

/// Whether the memory could be had; says so when not.
bool has(const HugeArray<bf16>& array, const char* what) {
  if (array.data() != nullptr) return true;
  WARN("not run: no memory for " << what);
  return false;
}

/// Runs a call with every row of the table, synchronised; `check` looks at the result of each.
template <class Call, class F>
void each_row(const Call& call, rg::Options options, const F& check) {
  int rows_run = 0;
  for (index_t row = -1; row < rg::config_rows; ++row) {
    options.config_row = row;
    const rg::Status status = run_with_workspace(call, options);
    if (row >= 0 && (status.code() == rg::StatusCode::config_not_applicable ||
                     status.code() == rg::StatusCode::no_kernel))
      continue;
    INFO((row < 0 ? "selected row" : rg::config_row(row).name) << ": " << status.message());
    REQUIRE(status.ok());
    REQUIRE(runtime::synchronize().ok());
    check();
    if (row >= 0) ++rows_run;
  }
  CHECK(rows_run > 0);
}

TEST_CASE("ragged_dot_batch reaches slabs past 2^31 and 2^32",
          "[conformance][huge][slow][device]") {
  constexpr offset_t m = 8, k = 8, n = 8;
  const DeviceArray<bf16> ones(constant(3 * 64, 1));
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>{1, 2});
  for (const offset_t step : {two_31 / 2 + 8, two_31 + 8})
    for (const char which : {'l', 'r', 'o'}) {
      const HugeArray<bf16> far(static_cast<std::size_t>(2 * step + 64));
      if (!has(far, "three far slabs")) continue;
      DeviceArray<bf16> near_out(3 * 64);
      for (offset_t i = 0; i < 3 && which != 'o'; ++i)
        REQUIRE(put(far, i * step, constant(64, static_cast<float>(i + 1))));
      const auto at = [&](char operand, const bf16* near_data) {
        return rg::View<const bf16, 3>(operand == which ? far.data() : near_data,
                                       {3, 8, 8},
                                       {operand == which ? step : 64, 8, 1});
      };
      const rg::View<bf16, 3> out(
          which == 'o' ? far.data() : near_out.data(), {3, m, n}, {which == 'o' ? step : 64, n, 1});
      const auto call = rg::describe_batch(
          at('l', ones.data()), at('r', ones.data()), rg::GroupSizes(sizes.data(), 2), out);
      INFO(which << ", step " << step);
      each_row(call, {}, [&] {
        for (offset_t i = 0; i < 3; ++i) {
          const float needed = static_cast<float>(which == 'o' ? k : k * (i + 1));
          REQUIRE(take(out.data, i * out.stride[0], 64) == row_of(64, needed));
        }
      });
    }
}

/// Rows of a source of 7168 columns: the first, those about element 2^31 and 2^32, the last.
constexpr offset_t pitch = 7168;
constexpr offset_t source_rows = 599200;
const std::vector<std::int32_t> far_rows{0, 299592, 299593, 299594, 599185, 599186, 599187, 599199};

TEST_CASE("A gather reads rows past element 2^31 and 2^32", "[conformance][huge][slow][device]") {
  static_assert(299593 * pitch <= two_31 && 299594 * pitch > two_31, "the row that holds 2^31");
  static_assert(599186 * pitch <= two_32 && 599187 * pitch > two_32, "the row that holds 2^32");
  constexpr offset_t k = 8, n = 8;
  const offset_t m = static_cast<offset_t>(far_rows.size());
  const HugeArray<bf16> source(static_cast<std::size_t>(source_rows * pitch));
  if (!has(source, "a gather source of 8.6 GB")) return;
  for (std::size_t i = 0; i < far_rows.size(); ++i)
    REQUIRE(put(source, far_rows[i] * pitch, constant(k, static_cast<float>(i + 1))));
  const DeviceArray<bf16> ones(constant(static_cast<std::size_t>(2 * k * n), 1));
  const DeviceArray<std::int32_t> sizes(
      std::vector<std::int32_t>{3, static_cast<std::int32_t>(m - 3)});
  const DeviceArray<std::int32_t> index(far_rows);
  const rg::Options options{.lhs_index = index.data()};
  const rg::View<const bf16, 2> lhs(source.data(), {source_rows, k}, {pitch, 1});
  {
    DeviceArray<bf16> out(static_cast<std::size_t>(m * n));
    const auto call = rg::describe(lhs,
                                   rg::view(std::as_const(ones).data(), 2, k, n),
                                   rg::GroupSizes(sizes.data(), 2),
                                   rg::view(out.data(), m, n),
                                   options);
    each_row(call, options, [&] {
      CHECK(out.guards_intact());
      for (offset_t i = 0; i < m; ++i)
        REQUIRE(take(out.data(), i * n, n) == row_of(n, static_cast<float>(k * (i + 1))));
    });
  }
  {  // The reduction is gathered: rows 1 … 3 are group 0, the others group 1.
    const DeviceArray<bf16> rows(constant(static_cast<std::size_t>(m * n), 1));
    DeviceArray<float> out(static_cast<std::size_t>(2 * k * n));
    const auto call = rg::describe_contracting(lhs,
                                               rg::view(std::as_const(rows).data(), m, n),
                                               rg::GroupSizes(sizes.data(), 2),
                                               rg::view(out.data(), 2, k, n),
                                               options);
    each_row(call, options, [&] {
      REQUIRE(take(out.data(), 0, k * n) == row_of(k * n, 6));
      REQUIRE(take(out.data(), k * n, k * n) == row_of(k * n, 30));
    });
  }
  {  // Slabs are gathered: each is one row.
    DeviceArray<bf16> out(static_cast<std::size_t>(m * n));
    const rg::View<const bf16, 3> slabs(source.data(), {source_rows, 1, k}, {pitch, k, 1});
    const rg::View<const bf16, 3> shared(ones.data(), {m, k, n}, {0, n, 1});
    const auto call =
        rg::describe_batch(slabs, shared, rg::Groups{}, rg::view(out.data(), m, 1, n), options);
    each_row(call, options, [&] {
      for (offset_t i = 0; i < m; ++i)
        REQUIRE(take(out.data(), i * n, n) == row_of(n, static_cast<float>(k * (i + 1))));
    });
  }
}

TEST_CASE("A scatter writes rows past element 2^31 and 2^32", "[conformance][huge][slow][device]") {
  constexpr offset_t k = 8, n = 8;
  const offset_t m = static_cast<offset_t>(far_rows.size());
  const HugeArray<bf16> target(static_cast<std::size_t>(source_rows * pitch));
  if (!has(target, "a scatter target of 8.6 GB")) return;
  std::vector<bf16> rows;
  for (offset_t i = 0; i < m; ++i)
    for (offset_t j = 0; j < k; ++j) rows.push_back(rg::to_bf16(static_cast<float>(i + 1)));
  const DeviceArray<bf16> lhs(rows);
  const DeviceArray<bf16> ones(constant(2 * k * n, 1));
  const DeviceArray<std::int32_t> sizes(
      std::vector<std::int32_t>{3, static_cast<std::int32_t>(m - 3)});
  const DeviceArray<std::int32_t> index(far_rows);
  const rg::Options options{.out_index = index.data()};
  const auto call = rg::describe(rg::view(std::as_const(lhs).data(), m, k),
                                 rg::view(std::as_const(ones).data(), 2, k, n),
                                 rg::GroupSizes(sizes.data(), 2),
                                 rg::View<bf16, 2>(target.data(), {source_rows, n}, {pitch, 1}),
                                 options);
  for (const std::int32_t row : far_rows) REQUIRE(put(target, row * pitch, constant(n + 1, -1)));
  each_row(call, options, [&] {
    for (std::size_t i = 0; i < far_rows.size(); ++i) {
      std::vector<float> needed = row_of(n, static_cast<float>(k * (static_cast<offset_t>(i) + 1)));
      needed.push_back(-1);  // the pad after the row
      REQUIRE(take(target.data(), far_rows[i] * pitch, n + 1) == needed);
    }
  });
}

TEST_CASE("Ragged indices pass 2^31", "[conformance][huge][slow][device]") {
  // Group 0 has 2^31 rows, but this call is the shard of group 1, the last three: nothing else is
  // read or, with Tail::keep, written.
  constexpr offset_t rows = two_31 + 3;
  constexpr offset_t k = 2, n = 2;
  const HugeArray<bf16> lhs(static_cast<std::size_t>(rows * k));
  const HugeArray<bf16> out(static_cast<std::size_t>(rows * n));
  if (!has(lhs, "lhs of 8.6 GB") || !has(out, "out of 8.6 GB")) return;
  REQUIRE(put(lhs, (two_31 - 1) * k, constant(k, 100)));
  for (offset_t i = 0; i < 3; ++i)
    REQUIRE(put(lhs, (two_31 + i) * k, constant(k, static_cast<float>(i + 1))));
  REQUIRE(put(out, (two_31 - 2) * n, constant(2 * n, -1)));
  const DeviceArray<bf16> rhs(constant(k * n, 1));
  const DeviceArray<std::int64_t> sizes(std::vector<std::int64_t>{two_31, 3});
  const rg::Options options{.tail = rg::Tail::keep, .group_offset = 1};
  const auto call = rg::describe(rg::view(std::as_const(lhs).data(), rows, k),
                                 rg::view(std::as_const(rhs).data(), 1, k, n),
                                 rg::GroupSizes(sizes.data(), 2),
                                 rg::view(out.data(), rows, n),
                                 options);
  each_row(call, options, [&] {
    REQUIRE(take(out.data(), (two_31 - 2) * n, 5 * n) ==
            std::vector<float>{-1, -1, -1, -1, 2, 2, 4, 4, 6, 6});
  });
  // The same rows as a reduction: the depth passes 2^31.
  DeviceArray<float> slab(k * n);
  const auto reduction = rg::describe_contracting(rg::view(std::as_const(lhs).data(), rows, k),
                                                  rg::view(std::as_const(lhs).data(), rows, k),
                                                  rg::GroupSizes(sizes.data(), 2),
                                                  rg::view(slab.data(), 1, k, k),
                                                  options);
  each_row(reduction, options, [&] { REQUIRE(take(slab.data(), 0, 4) == row_of(4, 14)); });
}

// Dense operands, on a GPU only: the host would take minutes and an emulator hours, and the pitches
// above are the same arithmetic.
bool dense_runs_here() {
  if (rg::runtime::has_gpu_platform && !emulated()) return true;
  WARN("dense operands of gigabytes: not run on the host or an emulator");
  return false;
}

TEST_CASE("A dense lhs of more than 2^31 elements", "[conformance][huge][slow][device]") {
  if (!dense_runs_here()) return;
  constexpr offset_t m = 525312, k = 4096, n = 64;
  const HugeArray<bf16> lhs(m * k);
  if (!has(lhs, "lhs of 4.3 GB")) return;
  REQUIRE(runtime::fill(lhs.data(), 0, m * k * sizeof(bf16)).ok());
  const std::map<offset_t, float> marked{
      {0, 1.0F}, {1, 2.0F}, {524287, 3.0F}, {524288, 4.0F}, {524289, 5.0F}, {m - 1, 6.0F}};
  for (const auto& [row, value] : marked) REQUIRE(put(lhs, row * k, constant(k, value)));
  std::vector<bf16> weights = constant(k * n, 1);
  const std::vector<bf16> twos = constant(k * n, 2);
  weights.insert(weights.end(), twos.begin(), twos.end());
  const DeviceArray<bf16> rhs(weights);
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>{1, 525311});
  DeviceArray<float> out(m * n);
  const auto call = rg::describe(rg::view(std::as_const(lhs).data(), m, k),
                                 rg::view(std::as_const(rhs).data(), 2, k, n),
                                 rg::GroupSizes(sizes.data(), 2),
                                 rg::view(out.data(), m, n));
  with_every_row(call,
                 {},
                 out,
                 poisoned<float>(m * n),
                 [&](const std::vector<float>& got, const std::string&) {
                   std::size_t wrong = 0;
                   for (std::size_t i = 0; i < got.size(); ++i) {
                     const offset_t row = static_cast<offset_t>(i) / n;
                     const auto found = marked.find(row);
                     const float value = found == marked.end() ? 0.0F : found->second;
                     if (got[i] != value * k * (row == 0 ? 1 : 2)) ++wrong;
                   }
                   CHECK(wrong == 0);
                 });
  // The same matrix as the ragged operand of a reduction: 16 columns of it, over all rows.
  DeviceArray<float> slabs(2 * 16 * 16);
  const rg::View<const bf16, 2> columns(lhs.data(), {m, 16}, {k, 1});
  const auto reduction = rg::describe_contracting(
      columns, columns, rg::GroupSizes(sizes.data(), 2), rg::view(slabs.data(), 2, 16, 16));
  each_row(reduction, {}, [&] {
    REQUIRE(take(slabs.data(), 0, 256) == row_of(256, 1));
    REQUIRE(take(slabs.data(), 256, 256) == row_of(256, 4 + 9 + 16 + 25 + 36));
  });
}

TEST_CASE("A dense out of more than 2^31 and 2^32 elements", "[conformance][huge][slow][device]") {
  if (!dense_runs_here()) return;
  constexpr offset_t n = 2048, k = 64;
  for (const offset_t m : {two_31 / n + 1, two_32 / n + 8}) {
    const HugeArray<bf16> out(static_cast<std::size_t>(m * n));
    const HugeArray<bf16> lhs(static_cast<std::size_t>(m * k));
    if (!has(out, "out of up to 8.6 GB") || !has(lhs, "lhs")) continue;
    // Bytes of 0x3F make bf16 191/256; 64 times that is 47.75, which bf16 holds.
    REQUIRE(runtime::fill(lhs.data(), 0x3F, static_cast<std::size_t>(m * k) * sizeof(bf16)).ok());
    std::vector<bf16> weights = constant(k * n, 1);
    const std::vector<bf16> twos = constant(k * n, 2);
    weights.insert(weights.end(), twos.begin(), twos.end());
    const DeviceArray<bf16> rhs(weights);
    // The second group starts in the row before element 2^31 and leaves the last row to the tail.
    const offset_t split = two_31 / n - 1;
    const DeviceArray<std::int64_t> sizes(std::vector<std::int64_t>{split, m - split - 1});
    const auto call = rg::describe(rg::view(std::as_const(lhs).data(), m, k),
                                   rg::view(std::as_const(rhs).data(), 2, k, n),
                                   rg::GroupSizes(sizes.data(), 2),
                                   rg::view(out.data(), m, n));
    std::vector<offset_t> rows{0, 1, split - 1, split, split + 1, m - 2, m - 1};
    if (m > two_32 / n)
      for (offset_t i = -1; i <= 1; ++i) rows.push_back(two_32 / n + i);
    for (offset_t row = 4099; row < m; row += 65537) rows.push_back(row);
    INFO("m " << m);
    for (index_t row = -1; row < rg::config_rows; ++row) {
      REQUIRE(runtime::fill(out.data(), 0xFF, static_cast<std::size_t>(m * n) * sizeof(bf16)).ok());
      const rg::Status status = rg::run(call, {.config_row = row});
      // workspace_too_small: partial sums of all of this output would be another huge array.
      if (row >= 0 && (status.code() == rg::StatusCode::config_not_applicable ||
                       status.code() == rg::StatusCode::no_kernel ||
                       status.code() == rg::StatusCode::workspace_too_small))
        continue;
      INFO("row " << row << ": " << status.message());
      REQUIRE(status.ok());
      REQUIRE(runtime::synchronize().ok());
      for (const offset_t at : rows) {
        const float needed = at == m - 1 ? 0.0F : at < split ? 47.75F : 95.5F;
        INFO("output row " << at);
        REQUIRE(take(out.data(), at * n, n) == row_of(n, needed));
      }
    }
  }
}

TEST_CASE("A dense rhs of more than 2^32 elements", "[conformance][huge][slow][device]") {
  if (!dense_runs_here()) return;
  constexpr offset_t g = 2050, k = 64, n = 32768;  // 2^21 elements a slab
  const HugeArray<bf16> rhs(static_cast<std::size_t>(g * k * n));
  if (!has(rhs, "rhs of 8.6 GB")) return;
  REQUIRE(runtime::fill(rhs.data(), 0xFF, static_cast<std::size_t>(g * k * n) * sizeof(bf16)).ok());
  // Slabs in use: the first, those about element 2^31 and 2^32, the last; every other is NaN.
  const offset_t used[] = {0, 1023, 1024, 2047, 2048, 2049};
  std::vector<std::int32_t> sizes_host(static_cast<std::size_t>(g), 0);
  std::vector<float> needed;
  for (std::size_t i = 0; i < 6; ++i) {
    const int byte = 0x3F + static_cast<int>(i);  // bf16 of two such bytes
    REQUIRE(runtime::fill(rhs.data() + used[i] * k * n, byte, k * n * sizeof(bf16)).ok());
    sizes_host[static_cast<std::size_t>(used[i])] = 1;
    bf16 value;
    value.bits = static_cast<std::uint16_t>(byte * 257);
    needed.push_back(64 * rg::to_float(value));
  }
  const DeviceArray<std::int32_t> sizes(sizes_host);
  const DeviceArray<bf16> lhs(constant(6 * k, 1));
  DeviceArray<float> out(6 * n);
  const auto call = rg::describe(rg::view(std::as_const(lhs).data(), 6, k),
                                 rg::view(std::as_const(rhs).data(), g, k, n),
                                 rg::GroupSizes(sizes.data(), g),
                                 rg::view(out.data(), 6, n));
  with_every_row(call,
                 {},
                 out,
                 poisoned<float>(6 * n),
                 [&](const std::vector<float>& got, const std::string&) {
                   std::size_t wrong = 0;
                   for (std::size_t i = 0; i < got.size(); ++i)
                     if (got[i] != needed[i / n]) ++wrong;
                   CHECK(wrong == 0);
                 });
}

}  // namespace
