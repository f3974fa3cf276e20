// SPDX-License-Identifier: Apache-2.0
// ragged_dot_contracting against the f64 oracle: every kernel of the program forced in turn,
// hostile sizes, layouts and poisoned memory. See support/conformance.hpp for what each case
// checks.

#include "support/all_dtypes.hpp"
#include "support/conformance.hpp"
#include "support/huge_array.hpp"
#include "support/workspace.hpp"

namespace {

using namespace support;

Case make(const char* name, offset_t m, offset_t k, offset_t n, Sizes sizes) {
  Case c;
  c.name = name;
  c.shape = {Variant::contracting, static_cast<offset_t>(sizes.size()), m, k, n};
  c.entries = std::move(sizes);
  c.type = IndexType::s64;
  return c;
}

TEST_CASE("ragged_dot_contracting sums each group's rows, whatever the sizes",
          "[conformance][contracting][device]") {
  const Sizes families[] = {{0, 8, 8, 0, 16},
                            {32},
                            {5, 3},
                            {0, 0, 0, 32},
                            {32, 0, 0, 0},
                            {0, 0, 0, 0},
                            {1, 1, 1, 1, 1, 1, 1, 1},
                            {3, -2, 5, -100, 4},
                            {20, 20, 20, 20},
                            {-1, int64_max, 3},
                            {int64_max, int64_max},
                            {int64_min, 4, int64_min, 7},
                            {1, int64_max, -5, 2}};
  for (const Sizes& sizes : families) check_all_dtypes(make("small sizes", 32, 16, 17, sizes));
}

TEST_CASE("ragged_dot_contracting writes every slab, an empty group's as +0.0 or beta times out",
          "[conformance][contracting][device]") {
  for (const Sizes& sizes : {Sizes{4, 0}, Sizes{0, 128, 0, 64}, Sizes{0, 0, 0}, Sizes{0, 5, 0, -3}})
    for (const float beta : {0.0F, 1.0F, 0.5F}) {
      Case c = make("empty slabs", 192, 24, 33, sizes);
      c.beta = beta;
      c.out.pitch_pad = 1;
      check_all_dtypes(c);
    }
}

TEST_CASE("ragged_dot_contracting is right for every depth of a group",
          "[conformance][contracting][device]") {
  // Group sizes below, at and past each depth step; rows past the sum are NaN.
  check_all_dtypes(make("depths of all kinds",
                        1300,
                        40,
                        33,
                        {1, 3, 8, 0, 40, 56, 72, 133, 257, 31, 32, 33, 64, 65, 300}));
  Case reals = make("real values", 1100, 33, 20, {1025, 0, 7, 60});
  reals.data = Data::reals;
  check_all_dtypes(reals);
}

TEST_CASE("ragged_dot_contracting is right for every output shape",
          "[conformance][contracting][device]") {
  for (const offset_t n : {1, 7, 33, 64, 96, 160, 192, 320})  // n: the parameter under test
    check_all_dtypes(make("column sweep", 60, 40, n, {30, 0, 11}));
  for (const offset_t k : {1, 3, 8, 40, 56, 72, 133, 257})  // k: rows of the output
    check_all_dtypes(make("row sweep", 60, k, 33, {30, 0, 11}));
  check_all_dtypes(make("several tiles", 90, 260, 300, {50, 0, 37}));
}

TEST_CASE("ragged_dot_contracting accepts extents of zero", "[conformance][contracting][device]") {
  check_all_dtypes(make("m = 0: zero slabs", 0, 5, 4, {0, 0}));
  check_all_dtypes(make("m = 0, sizes that ask for rows", 0, 5, 4, {3, 2}));
  check_all_dtypes(make("k = 0", 6, 0, 4, {2, 4}));
  check_all_dtypes(make("n = 0", 6, 4, 0, {2, 4}));
  check_all_dtypes(make("g = 0", 6, 4, 5, {}));
}

TEST_CASE("ragged_dot_contracting takes any number of groups",
          "[conformance][contracting][device]") {
  std::vector<offset_t> counts{
      1, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 600, 1023, 1024, 1025};
  if (rg::runtime::has_gpu_platform) counts.push_back(4096);
  if (emulated()) counts = {1, 31, 32, 33, 64, 65, 256};  // a tile a group
  for (const offset_t g : counts) {
    Sizes last(static_cast<std::size_t>(g), 0);
    last.back() = 3;
    check_case<bf16, bf16, bf16>(make("rows in the last group only", 5, 8, 8, last));
    const Sizes ones(static_cast<std::size_t>(g), 1);
    check_case<bf16, bf16, float>(make("one row a group", g, 8, 8, ones));
    check_case<float, float, float>(make("one row a group", g, 3, 5, ones));
  }
}

TEST_CASE("ragged_dot_contracting reads every kind and type of group description alike",
          "[conformance][contracting][device]") {
  const Sizes sizes{11, 0, 40, 1, 0, 30, 7};
  Case c = make("sizes as s64", 100, 40, 33, sizes);
  c.data = Data::reals;
  const Outcome<float> first = run_case<bf16, bf16, float>(c);
  REQUIRE(first.failure == "");
  for (const GroupKind kind : {GroupKind::sizes, GroupKind::end_offsets, GroupKind::offsets})
    for (const IndexType type : {IndexType::s8, IndexType::s32, IndexType::u16, IndexType::u64}) {
      Case other = c;
      other.kind = kind;
      other.type = type;
      other.entries = entries_of(sizes, kind);
      const Outcome<float> outcome = run_case<bf16, bf16, float>(other);
      CHECK(outcome.failure == "");
      REQUIRE(outcome.out_of_row.size() == first.out_of_row.size());
      for (const auto& [row, out] : outcome.out_of_row)
        CHECK(first_difference(out, first.out_of_row.at(row)) == -1);
    }
}

TEST_CASE("ragged_dot_contracting gives the same bits for every layout, pitch and alignment",
          "[conformance][contracting][device]") {
  Case dense = make("dense", 200, 100, 96, {40, 0, 77, 1, 20});
  dense.data = Data::reals;
  const Outcome<float> first = run_case<bf16, bf16, float>(dense);
  REQUIRE(first.failure == "");
  const auto same = [&](const Case& c) {
    INFO(c.name);
    const Outcome<float> outcome = run_case<bf16, bf16, float>(c);
    CHECK(outcome.failure == "");
    for (const auto& [row, out] : outcome.out_of_row) {
      const auto known = first.out_of_row.find(row);
      if (known != first.out_of_row.end()) CHECK(first_difference(out, known->second) == -1);
    }
    Case integers = c;
    integers.data = Data::integers;
    check_all_dtypes(integers);
  };
  for (int layout = 0; layout < 4; ++layout) {
    Case c = dense;
    c.name = "layout " + std::to_string(layout);
    c.lhs.transposed = layout % 2 != 0;
    c.rhs.transposed = layout / 2 != 0;
    same(c);
    c.name += ", pitch and base off by one";
    c.lhs.pitch_pad = 1;
    c.lhs.shift_elems = 1;
    c.rhs.pitch_pad = 3;
    c.rhs.shift_elems = 1;
    c.out.pitch_pad = 5;
    c.out.slab_pad = 2;
    c.out.shift_elems = 1;
    same(c);
    c.name = "layout " + std::to_string(layout) + ", padded by 16 bytes";
    c.lhs = {.transposed = layout % 2 != 0, .pitch_pad = 8};
    c.rhs = {.transposed = layout / 2 != 0, .pitch_pad = 8};
    c.out = {.pitch_pad = 8, .slab_pad = 64};
    same(c);
  }
  Case c = dense;
  c.name = "interleaved output slabs";
  c.out.slab_innermost = true;
  same(c);
  c = dense;
  c.name = "column-major out";
  c.out.transposed = true;
  same(c);
  c = dense;
  c.name = "negative strides";
  c.lhs = {.reverse_rows = true, .reverse_cols = true};
  c.rhs = {.reverse_rows = true, .reverse_cols = true};
  c.out = {.reverse_rows = true, .reverse_cols = true};
  same(c);
}

TEST_CASE("ragged_dot_contracting scales by alpha and adds beta times out",
          "[conformance][contracting][device]") {
  for (const float alpha : {1.0F, -0.5F, 0.0F})
    for (const float beta : {0.0F, 1.0F, -2.0F}) {
      Case c = make("alpha and beta", 60, 33, 40, {20, 0, 9});
      c.alpha = alpha;
      c.beta = beta;
      check_all_dtypes(c);
    }
}

TEST_CASE("A NaN row reaches its own group's slab only", "[conformance][contracting][device]") {
  constexpr offset_t m = 60;
  constexpr offset_t k = 24;
  constexpr offset_t n = 40;
  const std::vector<std::int32_t> sizes{7, 13, 0, 25, 10};
  std::vector<bf16> a(m * k, rg::to_bf16(1));
  std::vector<bf16> b(m * n, rg::to_bf16(2));
  for (offset_t i = 0; i < k; ++i)
    a[static_cast<std::size_t>(20 * k + i)] = poison<bf16>();  // group 3
  for (offset_t i = 0; i < n; ++i)
    b[static_cast<std::size_t>(6 * n + i)] = poison<bf16>();  // group 0
  const DeviceArray<bf16> lhs(a);
  const DeviceArray<bf16> rhs(b);
  const DeviceArray<std::int32_t> groups(sizes);
  DeviceArray<float> out(5 * k * n);
  const auto call = rg::describe_contracting(rg::view(lhs.data(), m, k),
                                             rg::view(rhs.data(), m, n),
                                             rg::GroupSizes(groups.data(), 5),
                                             rg::view(out.data(), 5, k, n));
  for (index_t row = -1; row < rg::config_rows; ++row) {
    const rg::Status status = run_with_workspace(call, {.config_row = row});
    if (row >= 0 && !status.ok()) continue;
    REQUIRE(status.ok());
    REQUIRE(runtime::synchronize().ok());
    const std::vector<float> result = out.get();
    INFO("row " << row);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const std::size_t g = i / (k * n);
      const float needed = 2.0F * static_cast<float>(sizes[g]);
      if (g == 0 || g == 3 ? result[i] == result[i] : result[i] != needed) {
        FAIL_CHECK("element " << i << " of slab " << g << " is " << result[i]);
        return;
      }
    }
  }
}

TEST_CASE("ragged_dot_contracting repeats with equal bits", "[conformance][contracting][device]") {
  Sizes sizes;
  const int times = scaled(5, 1);
  for (int i = 0; i < times; ++i)
    for (const std::int64_t size : {1, 700, 1, 1, 900, 2}) sizes.push_back(size);
  Case c = make("tiny and large groups in turn", times * 1605, 40, 48, sizes);
  c.data = Data::reals;
  c.repeats = scaled(20, 2);
  check_case<bf16, bf16, float>(c);
  check_case<float, float, float>(c);
}

TEST_CASE("ragged_dot_contracting is right for random shapes and sizes",
          "[conformance][contracting][device]") {
  for (std::uint64_t seed = 1; seed <= scaled<std::uint64_t>(60, 18); ++seed) {
    Random random(seed);
    const offset_t g = random.between(1, 70);
    const offset_t m = random.between(1, 300);
    Case c = make(
        "random", m, random.between(1, 110), random.between(1, 210), random_sizes(random, g, m));
    c.name = "random shape of seed " + std::to_string(seed);
    c.rows_by_turns = emulated();
    c.beta = random.one_in(3) ? 1.0F : 0.0F;
    c.lhs.transposed = random.one_in(3);
    c.rhs.transposed = random.one_in(3);
    c.out.pitch_pad = random.between(0, 3);
    c.rhs.shift_elems = static_cast<std::size_t>(random.between(0, 1));
    if (seed % 2 == 0) c = with_aligned_pitches(c);
    if (seed % 3 == 0) check_case<float, float, float>(c);
    if (seed % 3 == 1) check_case<bf16, bf16, float>(c);
    if (seed % 3 == 2) check_case<fp16, fp16, fp16>(c);
  }
}

TEST_CASE("ragged_dot_contracting reaches rows and slabs past 2^31 and 2^32",
          "[conformance][contracting][device]") {
  constexpr offset_t m = 3;
  constexpr offset_t k = 8;
  constexpr offset_t n = 8;
  const std::vector<bf16> ones(m * k, rg::to_bf16(1));
  const DeviceArray<bf16> small(ones);
  const DeviceArray<std::int32_t> groups(std::vector<std::int32_t>{1, 1, 1});
  for (const offset_t step : {(offset_t{1} << 30) + 8, (offset_t{1} << 31) + 8})
    for (const char* which : {"lhs", "rhs", "out"}) {
      const HugeArray<bf16> huge(static_cast<std::size_t>(2 * step + k * n));
      if (huge.data() == nullptr) {
        WARN("not run for " << which << ": no memory for " << 2 * step << " elements");
        continue;
      }
      const bool out_far = which[0] == 'o';
      DeviceArray<bf16> near_out(3 * k * n);
      std::vector<bf16> values(k);
      for (offset_t i = 0; i < 3 && !out_far; ++i) {
        for (bf16& value : values) value = rg::to_bf16(static_cast<float>(i + 1));
        REQUIRE(runtime::copy_to_device(huge.data() + i * step, values.data(), 2 * k).ok());
      }
      const bool lhs_far = which[0] == 'l';
      const bool rhs_far = which[0] == 'r';
      const rg::View<const bf16, 2> lhs(
          lhs_far ? huge.data() : small.data(), {m, k}, {lhs_far ? step : k, 1});
      const rg::View<const bf16, 2> rhs(
          rhs_far ? huge.data() : small.data(), {m, n}, {rhs_far ? step : n, 1});
      const rg::View<bf16, 3> out(
          out_far ? huge.data() : near_out.data(), {3, k, n}, {out_far ? step : k * n, n, 1});
      const auto call = rg::describe_contracting(lhs, rhs, rg::GroupSizes(groups.data(), 3), out);
      for (index_t row = -1; row < rg::config_rows; ++row) {
        const rg::Status status = run_with_workspace(call, {.config_row = row});
        if (row >= 0 && !status.ok()) continue;
        INFO(which << ", step " << step << ", row " << row << ": " << status.message());
        REQUIRE(status.ok());
        REQUIRE(runtime::synchronize().ok());
        for (offset_t i = 0; i < 3; ++i) {
          std::vector<bf16> got(k * n);
          REQUIRE(runtime::copy_to_host(got.data(), out.data + i * out.stride[0], 2 * k * n).ok());
          for (const bf16 value : got)
            REQUIRE(rg::to_float(value) == static_cast<float>(out_far ? 1 : i + 1));
        }
      }
    }
}

TEST_CASE("Every contracting kernel of this program ran", "[conformance][contracting][device]") {
  CHECK(report_rows(Variant::contracting) == 0);
}

}  // namespace
