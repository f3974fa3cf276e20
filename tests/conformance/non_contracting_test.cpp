// SPDX-License-Identifier: Apache-2.0
// ragged_dot against the f64 oracle: every kernel of the program forced in turn, hostile sizes,
// layouts, tails and poisoned memory. See support/conformance.hpp for what each case checks.

#include "support/all_dtypes.hpp"
#include "support/conformance.hpp"
#include "support/huge_array.hpp"
#include "support/workspace.hpp"

namespace {

using namespace support;

Case make(const char* name, offset_t m, offset_t k, offset_t n, Sizes sizes) {
  Case c;
  c.name = name;
  c.shape = {Variant::non_contracting, static_cast<offset_t>(sizes.size()), m, k, n};
  c.entries = std::move(sizes);
  c.type = IndexType::s64;
  return c;
}

/// [1, 700, 1, 1, 900, 2] five times: tiny groups between large ones.
Sizes alternating(std::int64_t large) {
  Sizes sizes;
  for (int i = 0; i < 5; ++i)
    for (const std::int64_t size :
         {std::int64_t{1}, large * 7, std::int64_t{1}, std::int64_t{1}, large * 9, std::int64_t{2}})
      sizes.push_back(size);
  return sizes;
}

std::int64_t sum_of(const Sizes& sizes) {
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) sum += size;
  return sum;
}

TEST_CASE("ragged_dot multiplies every row by its group's matrix, whatever the sizes",
          "[conformance][non_contracting][device]") {
  const Sizes families[] = {{16},
                            {5, 3},  // the last 8 of 16 rows belong to no group
                            {0, 0, 0, 16},
                            {16, 0, 0, 0},
                            {0, 0, 0, 0},  // all empty: the tail is everything
                            {1, 1, 1, 1, 1, 1, 1, 1},
                            {3, -2, 5, -100, 4},  // negative counts as empty
                            {10, 10, 10, 10},     // the sum passes M: cut there
                            {-1, int64_max, 3},
                            {int64_max, int64_max},  // sums that would wrap
                            {int64_min, 4, int64_min, 7},
                            {1, int64_max, -5, 2}};
  for (const Sizes& sizes : families) check_all_dtypes(make("small sizes", 16, 16, 17, sizes));
}

TEST_CASE("ragged_dot starts a new tile at every group, inside and across tile edges",
          "[conformance][non_contracting][device]") {
  check_all_dtypes(make("one constant expert a group", 260, 64, 64, {1, 127, 130, 0, 2}));
  check_all_dtypes(make("one past every tile", 257, 65, 129, {128, 0, 129}));
  check_all_dtypes(make("one before every tile", 383, 63, 127, {127, 1, 255}));
  check_all_dtypes(make("seven groups in one tile", 128, 32, 32, {15, 17, 0, 33, 1, 1, 61}));
  check_all_dtypes(make("one group holds everything", 300, 40, 200, {0, 300, 0}));
  check_all_dtypes(make("a long tail", 500, 24, 40, {60, 0, 31, 9}));
  check_all_dtypes(make("odd extents", 70, 131, 37, {9, 0, 21, 13, 0, 27}));
}

TEST_CASE("ragged_dot is right for every depth, multiples of a tile or not",
          "[conformance][non_contracting][device]") {
  for (const offset_t k : {1, 3, 8, 40, 56, 72, 133, 257, 768})  // k: the parameter under test
    check_all_dtypes(make("depth sweep", 37, k, 33, {20, 0, 9, 5}));
  Case reals = make("real values", 37, 1025, 33, {20, 0, 9, 5});
  reals.data = Data::reals;
  check_all_dtypes(reals);
}

TEST_CASE("ragged_dot is right for every number of columns, multiples of a tile or not",
          "[conformance][non_contracting][device]") {
  for (const offset_t n : {1, 7, 33, 64, 96, 160, 192, 320})  // n: the parameter under test
    check_all_dtypes(make("column sweep", 45, 40, n, {30, 0, 11}));
}

TEST_CASE("ragged_dot accepts extents of zero", "[conformance][non_contracting][device]") {
  check_all_dtypes(make("m = 0", 0, 8, 5, {0, 0, 0}));
  check_all_dtypes(make("m = 0, sizes that ask for rows", 0, 8, 5, {2, 3}));
  check_all_dtypes(make("n = 0", 6, 4, 0, {2, 4}));
  check_all_dtypes(make("k = 0: sums of nothing are +0.0", 6, 0, 5, {2, 3}));
  check_all_dtypes(make("g = 0: every row is tail", 6, 4, 5, {}));
}

TEST_CASE("ragged_dot takes null pointers for operands without elements",
          "[conformance][non_contracting][device]") {
  // n past a tile: the columns of the second tile must not be reached from a null pointer.
  constexpr offset_t m = 3;
  constexpr offset_t n = 400;
  DeviceArray<float> out(static_cast<std::size_t>(m * n));
  const rg::View<const float, 2> lhs(nullptr, {m, 0});
  const rg::View<const float, 3> rhs(nullptr, {0, 0, n});
  const std::int32_t* const no_sizes = nullptr;
  REQUIRE(rg::ragged_dot(lhs, rhs, rg::GroupSizes(no_sizes, 0), rg::view(out.data(), m, n)).ok());
  REQUIRE(runtime::synchronize().ok());
  for (const float value : out.get()) REQUIRE(same_bits(value, 0.0F));
}

TEST_CASE("ragged_dot takes any number of groups", "[conformance][non_contracting][device]") {
  // g: one row in the last group, and one row a group; windows of 32 and 64 groups and their edges.
  std::vector<offset_t> counts{
      1, 31, 32, 33, 63, 64, 65, 127, 128, 255, 256, 600, 1023, 1024, 1025};
  if (rg::runtime::has_gpu_platform) counts.push_back(4096);
  if (emulated()) counts = {1, 31, 32, 33, 64, 65, 600};
  for (const offset_t g : counts) {
    Sizes last(static_cast<std::size_t>(g), 0);
    last.back() = 1;
    check_case<bf16, bf16, bf16>(make("one row in the last group", 3, 16, 8, last));
    check_case<float, float, float>(make("one row in the last group", 3, 5, 3, last));
    if (emulated() && g > 100) continue;  // a tile a group
    const Sizes ones(static_cast<std::size_t>(g), 1);
    check_case<bf16, bf16, float>(make("one row a group", g, 16, 8, ones));
  }
}

TEST_CASE("ragged_dot reads sizes, end offsets and prefix offsets of every integer type alike",
          "[conformance][non_contracting][device]") {
  const Sizes sizes{11, 0, 40, 1, 0, 30, 7};  // 89 of 100 rows: every sum fits s8
  Case c = make("sizes as s64", 100, 40, 33, sizes);
  c.data = Data::reals;
  const Outcome<float> first = run_case<bf16, bf16, float>(c);
  REQUIRE(first.failure.empty());
  for (const GroupKind kind : {GroupKind::sizes, GroupKind::end_offsets, GroupKind::offsets})
    for (const IndexType type : {IndexType::s8,
                                 IndexType::s16,
                                 IndexType::s32,
                                 IndexType::s64,
                                 IndexType::u8,
                                 IndexType::u16,
                                 IndexType::u32,
                                 IndexType::u64}) {
      Case other = c;
      other.name = "kind " + std::to_string(static_cast<int>(kind)) + ", type " +
                   std::to_string(static_cast<int>(type));
      other.kind = kind;
      other.type = type;
      other.entries = entries_of(sizes, kind);
      const Outcome<float> outcome = run_case<bf16, bf16, float>(other);
      INFO(other.name);
      CHECK(outcome.failure == "");
      REQUIRE(outcome.out_of_row.size() == first.out_of_row.size());
      for (const auto& [row, out] : outcome.out_of_row)
        CHECK(first_difference(out, first.out_of_row.at(row)) == -1);
    }
}

TEST_CASE("ragged_dot sums narrow sizes without wrapping",
          "[conformance][non_contracting][device]") {
  Case c = make("u8, sum 401", 450, 8, 8, {201, 60, 0, 140});
  c.type = IndexType::u8;
  check_all_dtypes(c);
  c = make("u16 past int16", 50, 8, 8, {10, 40000, 3});
  c.type = IndexType::u16;
  check_all_dtypes(c);
  c = make("s8, sum 400", 450, 8, 8, {127, 127, 0, 127, 19});
  c.type = IndexType::s8;
  check_all_dtypes(c);
  c = make("u32 past int32", 50, 8, 8, {10, 4294967295, 3});
  c.type = IndexType::u32;
  check_all_dtypes(c);
  c = make("u64 past int64", 50, 8, 8, {10, -1, 3});
  c.type = IndexType::u64;
  check_all_dtypes(c);
}

TEST_CASE("ragged_dot survives offsets that decrease or pass the extent",
          "[conformance][non_contracting][device]") {
  for (const GroupKind kind : {GroupKind::end_offsets, GroupKind::offsets})
    for (const Sizes& entries : {Sizes{10, 30, 20, 40, 35},
                                 Sizes{0, 100, 10, 200, 50},
                                 Sizes{40, 30, 20, 10, 0},
                                 Sizes{-5, 10, -20, 30, 60},
                                 Sizes{int64_min, int64_max, 0, int64_max, int64_min}}) {
      Case c = make("odd offsets", 50, 16, 17, entries);
      c.kind = kind;
      if (kind == GroupKind::offsets) --c.shape.slabs;
      check_all_dtypes(c);
    }
}

TEST_CASE("ragged_dot gives the same bits for every layout, pitch and alignment",
          "[conformance][non_contracting][device]") {
  Case dense = make("dense", 150, 72, 96, {40, 0, 77, 1, 20});
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
    c.rhs.slab_pad = 1;
    c.rhs.shift_elems = 1;
    c.out.pitch_pad = 5;
    c.out.shift_elems = 1;
    same(c);
    c.name = "layout " + std::to_string(layout) + ", padded by 16 bytes";
    c.lhs = {.transposed = layout % 2 != 0, .pitch_pad = 8};
    c.rhs = {.transposed = layout / 2 != 0, .pitch_pad = 8, .slab_pad = 64};
    c.out = {.pitch_pad = 8};
    same(c);
  }
  Case c = dense;
  c.name = "column-major out";
  c.out.transposed = true;
  c.out.pitch_pad = 3;
  same(c);
  c = dense;
  c.name = "group dimension of rhs innermost";
  c.rhs.slab_innermost = true;
  same(c);
  c = dense;
  c.name = "negative strides";
  c.lhs = {.reverse_rows = true, .reverse_cols = true};
  c.rhs = {.reverse_rows = true, .reverse_cols = true};
  c.out = {.reverse_rows = true, .reverse_cols = true};
  same(c);
}

TEST_CASE("ragged_dot writes +0.0, or nothing, past the last group",
          "[conformance][non_contracting][device]") {
  for (const Sizes& sizes : {Sizes{20, 0, 9}, Sizes{0, 0, 0}, Sizes{45, 0, 5}})
    for (const Tail tail : {Tail::zero, Tail::keep}) {
      Case c = make("tails", 50, 24, 33, sizes);
      c.tail = tail;
      check_all_dtypes(c);
      c.beta = 1;  // the product is zero in the tail: out stays what it was
      c.name = "tails with beta 1";
      check_all_dtypes(c);
    }
}

TEST_CASE("ragged_dot scales by alpha and adds beta times out, in f32",
          "[conformance][non_contracting][device]") {
  for (const float alpha : {1.0F, 2.0F, -0.5F, 0.0F})
    for (const float beta : {0.0F, 1.0F, 0.5F, -2.0F}) {
      Case c = make("alpha and beta", 50, 40, 33, {20, 0, 9});
      c.alpha = alpha;
      c.beta = beta;
      c.out.pitch_pad = 1;
      check_all_dtypes(c);
    }
  Case c = make("alpha and beta on reals", 50, 40, 33, {20, 0, 9});
  c.alpha = 0.7F;
  c.beta = -1.3F;
  c.data = Data::reals;
  check_all_dtypes(c);
}

TEST_CASE("A row depends on its own lhs row and group only",
          "[conformance][non_contracting][device]") {
  // One NaN row of lhs and one NaN group of rhs, both in use: nothing else may become NaN.
  constexpr offset_t m = 60;
  constexpr offset_t k = 40;
  constexpr offset_t n = 48;
  const std::vector<std::int32_t> sizes{7, 13, 0, 25, 15};
  std::vector<bf16> a(m * k, rg::to_bf16(1));
  std::vector<bf16> b(5 * k * n, rg::to_bf16(2));
  for (offset_t i = 0; i < k; ++i) a[static_cast<std::size_t>(9 * k + i)] = poison<bf16>();
  for (offset_t i = 0; i < k * n; ++i) b[static_cast<std::size_t>(3 * k * n + i)] = poison<bf16>();
  const DeviceArray<bf16> lhs(a);
  const DeviceArray<bf16> rhs(b);
  const DeviceArray<std::int32_t> groups(sizes);
  DeviceArray<float> out(m * n);
  const auto call = rg::describe(rg::view(lhs.data(), m, k),
                                 rg::view(rhs.data(), 5, k, n),
                                 rg::GroupSizes(groups.data(), 5),
                                 rg::view(out.data(), m, n));
  for (index_t row = -1; row < rg::config_rows; ++row) {
    const rg::Status status = run_with_workspace(call, {.config_row = row});
    if (row >= 0 && !status.ok()) continue;
    REQUIRE(status.ok());
    REQUIRE(runtime::synchronize().ok());
    const std::vector<float> result = out.get();
    INFO("row " << row);
    for (offset_t r = 0; r < m; ++r) {
      const bool poisoned = r == 9 || (r >= 20 && r < 45);
      for (offset_t c = 0; c < n; ++c) {
        const float value = result[static_cast<std::size_t>(r * n + c)];
        if (poisoned ? value == value : value != 80.0F) {
          FAIL_CHECK("out[" << r << "][" << c << "] is " << value);
          return;
        }
      }
    }
  }
}

TEST_CASE("A row's bits do not depend on the size or place of its group",
          "[conformance][non_contracting][device]") {
  // Strides of zero: every row of lhs is the same, every group's matrix is the same.
  const Sizes sizes{1, 2, 17, 0, 128, 257, 1, 95};
  constexpr offset_t m = 501;
  constexpr offset_t k = 300;
  constexpr offset_t n = 70;
  Random random(7);
  std::vector<bf16> a;
  std::vector<bf16> b;
  for (offset_t i = 0; i < k; ++i) a.push_back(rg::to_bf16(static_cast<float>(random.real())));
  for (offset_t i = 0; i < k * n; ++i) b.push_back(rg::to_bf16(static_cast<float>(random.real())));
  const DeviceArray<bf16> lhs(a);
  const DeviceArray<bf16> rhs(b);
  const DeviceArray<std::int64_t> groups(sizes);
  DeviceArray<float> out(m * n);
  const auto call = rg::describe(rg::View<const bf16, 2>(lhs.data(), {m, k}, {0, 1}),
                                 rg::View<const bf16, 3>(rhs.data(), {8, k, n}, {0, n, 1}),
                                 rg::GroupSizes(groups.data(), 8),
                                 rg::view(out.data(), m, n));
  for (index_t row = -1; row < rg::config_rows; ++row) {
    const rg::Status status = run_with_workspace(call, {.config_row = row});
    if (row >= 0 && !status.ok()) continue;
    REQUIRE(status.ok());
    REQUIRE(runtime::synchronize().ok());
    const std::vector<float> result = out.get();
    INFO("row " << row);
    offset_t differing = 0;
    for (std::size_t i = 0; i < result.size(); ++i)
      if (!same_bits(result[i], result[i % n])) ++differing;
    CHECK(differing == 0);
  }
}

TEST_CASE("ragged_dot repeats with equal bits", "[conformance][non_contracting][device]") {
  const Sizes sizes = alternating(scaled(20, 4));
  Case c = make("tiny and large groups in turn", sum_of(sizes), 40, 64, sizes);
  c.data = Data::reals;
  c.repeats = scaled(20, 2);
  check_case<bf16, bf16, bf16>(c);
  check_case<float, float, float>(c);
  Random random(99);
  Sizes many;
  for (int i = 0; i < scaled(64, 16); ++i) many.push_back(random.between(1, 30));
  c = make("64 random groups", sum_of(many), 64, 48, many);
  c.data = Data::reals;
  c.repeats = scaled(20, 2);
  check_case<fp16, fp16, float>(c);
}

TEST_CASE("ragged_dot is right for random shapes and sizes",
          "[conformance][non_contracting][device]") {
  for (std::uint64_t seed = 1; seed <= scaled<std::uint64_t>(60, 18); ++seed) {
    Random random(seed);
    const offset_t g = random.between(1, 70);
    const offset_t m = random.between(1, 300);
    Case c = make(
        "random", m, random.between(1, 100), random.between(1, 210), random_sizes(random, g, m));
    c.name = "random shape of seed " + std::to_string(seed);
    c.rows_by_turns = emulated();
    c.tail = random.one_in(3) ? Tail::keep : Tail::zero;
    c.lhs.transposed = random.one_in(3);
    c.rhs.transposed = random.one_in(3);
    c.out.pitch_pad = random.between(0, 3);
    c.lhs.shift_elems = static_cast<std::size_t>(random.between(0, 1));
    if (seed % 2 == 0) c = with_aligned_pitches(c);
    if (seed % 3 == 0) check_case<float, float, float>(c);
    if (seed % 3 == 1) check_case<bf16, bf16, float>(c);
    if (seed % 3 == 2) check_case<fp16, fp16, fp16>(c);
  }
}

TEST_CASE("ragged_dot reaches elements past 2^31 and 2^32",
          "[conformance][non_contracting][device]") {
  // Three rows, or groups, `step` elements apart; only the rows themselves are ever touched.
  constexpr offset_t k = 8;
  constexpr offset_t n = 8;
  const std::vector<bf16> ones(3 * k * n, rg::to_bf16(1));
  const DeviceArray<bf16> small(ones);
  const DeviceArray<std::int32_t> groups(std::vector<std::int32_t>{1, 1, 1});
  for (const offset_t step : {(offset_t{1} << 30) + 8, (offset_t{1} << 31) + 8})
    for (const char* which : {"lhs", "rhs", "out"}) {
      const HugeArray<bf16> huge(static_cast<std::size_t>(2 * step + k * n));
      if (huge.data() == nullptr) {
        WARN("not run for " << which << ": no memory for " << 2 * step << " elements");
        continue;
      }
      const bool lhs_far = which[0] == 'l';
      const bool rhs_far = which[0] == 'r';
      const bool out_far = which[0] == 'o';
      DeviceArray<bf16> near_out(3 * n);
      std::vector<bf16> values(k * n);
      for (offset_t i = 0; i < 3 && !out_far; ++i) {
        for (bf16& value : values) value = rg::to_bf16(static_cast<float>(i + 1));
        REQUIRE(runtime::copy_to_device(huge.data() + i * step, values.data(), 2 * k * n).ok());
      }
      const rg::View<const bf16, 2> lhs(
          lhs_far ? huge.data() : small.data(), {3, k}, {lhs_far ? step : k, 1});
      const rg::View<const bf16, 3> rhs(
          rhs_far ? huge.data() : small.data(), {3, k, n}, {rhs_far ? step : k * n, n, 1});
      const rg::View<bf16, 2> out(
          out_far ? huge.data() : near_out.data(), {3, n}, {out_far ? step : n, 1});
      const auto call = rg::describe(lhs, rhs, rg::GroupSizes(groups.data(), 3), out);
      for (index_t row = -1; row < rg::config_rows; ++row) {
        const rg::Status status = run_with_workspace(call, {.config_row = row});
        if (row >= 0 && !status.ok()) continue;
        INFO(which << ", step " << step << ", row " << row << ": " << status.message());
        REQUIRE(status.ok());
        REQUIRE(runtime::synchronize().ok());
        for (offset_t i = 0; i < 3; ++i) {
          std::vector<bf16> got(n);
          REQUIRE(runtime::copy_to_host(got.data(), out.data + i * out.stride[0], 2 * n).ok());
          for (const bf16 value : got)
            REQUIRE(rg::to_float(value) == static_cast<float>(out_far ? 8 : 8 * (i + 1)));
        }
      }
    }
}

TEST_CASE("Every non_contracting kernel of this program ran",
          "[conformance][non_contracting][device]") {
  CHECK(report_rows(Variant::non_contracting) == 0);
}

}  // namespace
