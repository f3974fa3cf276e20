// SPDX-License-Identifier: Apache-2.0
// ragged_dot_batch against the f64 oracle: every kernel of the program forced in turn, hostile
// sizes, layouts, tails and poisoned memory. See support/conformance.hpp for what each case checks.

#include "support/all_dtypes.hpp"
#include "support/conformance.hpp"

namespace {

using namespace support;

Case make(const char* name, offset_t b, offset_t m, offset_t k, offset_t n, Sizes sizes) {
  Case c;
  c.name = name;
  c.shape = {Variant::batch, b, m, k, n};
  c.entries = std::move(sizes);
  c.type = IndexType::s64;
  return c;
}

TEST_CASE("ragged_dot_batch multiplies the batches below the sum of the sizes, whatever they are",
          "[conformance][batch][device]") {
  const Sizes families[] = {{8},
                            {5},
                            {2, 0, 3},
                            {0, 0, 0},
                            {1, 1, 1, 1, 1, 1, 1, 1},
                            {3, -2, 2, -100},
                            {5, 5, 5},
                            {-1, int64_max, 3},
                            {int64_max, int64_max},
                            {int64_min, 4, int64_min, 2}};
  for (const Sizes& sizes : families)
    for (const Tail tail : {Tail::zero, Tail::keep, Tail::compute}) {
      Case c = make("small sizes", 8, 9, 16, 17, sizes);
      c.tail = tail;
      check_all_dtypes(c);
    }
}

TEST_CASE("ragged_dot_batch without sizes multiplies every batch", "[conformance][batch][device]") {
  for (const Tail tail : {Tail::zero, Tail::keep, Tail::compute}) {
    Case c = make("no sizes", 5, 20, 24, 33, {});
    c.kind = GroupKind::none;
    c.tail = tail;
    check_all_dtypes(c);
  }
}

TEST_CASE("ragged_dot_batch is right for every shape", "[conformance][batch][device]") {
  for (const offset_t k : {1, 3, 8, 40, 56, 72, 133, 257, 768})  // k: the parameter under test
    check_all_dtypes(make("depth sweep", 3, 37, k, 33, {2}));
  for (const offset_t n : {1, 7, 33, 64, 96, 160, 192, 320})  // n: the parameter under test
    check_all_dtypes(make("column sweep", 3, 45, 40, n, {1, 1}));
  for (const offset_t m : {1, 8, 15, 16, 17, 95, 96, 97, 130})  // m: the parameter under test
    check_all_dtypes(make("row sweep", 3, m, 24, 40, {1, 1}));
  Case reals = make("real values", 3, 37, 1025, 33, {2});
  reals.data = Data::reals;
  check_all_dtypes(reals);
}

TEST_CASE("ragged_dot_batch accepts extents of zero", "[conformance][batch][device]") {
  check_all_dtypes(make("b = 0", 0, 5, 6, 7, {2}));
  check_all_dtypes(make("m = 0", 3, 0, 6, 7, {2}));
  check_all_dtypes(make("n = 0", 3, 5, 6, 0, {2}));
  check_all_dtypes(make("k = 0", 3, 5, 0, 7, {2}));
  check_all_dtypes(make("no groups: every batch is dead", 3, 5, 6, 7, {}));
}

TEST_CASE("ragged_dot_batch takes any number of groups and batches",
          "[conformance][batch][device]") {
  std::vector<offset_t> counts{31, 32, 33, 64, 65, 600, 1025};
  if (emulated()) counts = {31, 32, 33, 64, 65, 256};  // a tile a batch
  for (const offset_t g : counts) {
    const Sizes ones(static_cast<std::size_t>(g), 1);
    check_case<bf16, bf16, bf16>(make("one batch a group", g, 3, 8, 8, ones));
    check_case<float, float, float>(make("one dead batch", g + 1, 2, 5, 3, ones));
  }
}

TEST_CASE("ragged_dot_batch reads every kind and type of group description alike",
          "[conformance][batch][device]") {
  const Sizes sizes{2, 0, 3, 1};
  for (const GroupKind kind : {GroupKind::sizes, GroupKind::end_offsets, GroupKind::offsets})
    for (const IndexType type : {IndexType::s8,
                                 IndexType::s16,
                                 IndexType::s32,
                                 IndexType::s64,
                                 IndexType::u8,
                                 IndexType::u16,
                                 IndexType::u32,
                                 IndexType::u64}) {
      Case c = make("every kind and type", 8, 9, 16, 17, sizes);
      c.kind = kind;
      c.type = type;
      c.entries = entries_of(sizes, kind);
      check_all_dtypes(c);
    }
}

TEST_CASE("ragged_dot_batch gives the same bits for every layout, pitch and alignment",
          "[conformance][batch][device]") {
  Case dense = make("dense", 4, 100, 72, 96, {1, 2});
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
    c.out.slab_pad = 2;
    c.out.shift_elems = 1;
    same(c);
    c.name = "layout " + std::to_string(layout) + ", padded by 16 bytes";
    c.lhs = {.transposed = layout % 2 != 0, .pitch_pad = 8, .slab_pad = 64};
    c.rhs = {.transposed = layout / 2 != 0, .pitch_pad = 8, .slab_pad = 64};
    c.out = {.pitch_pad = 8, .slab_pad = 64};
    same(c);
  }
  Case c = dense;
  c.name = "batch dimension innermost everywhere";
  c.lhs.slab_innermost = true;
  c.rhs.slab_innermost = true;
  c.out.slab_innermost = true;
  same(c);
  c = dense;
  c.name = "negative strides";
  c.lhs = {.reverse_rows = true, .reverse_cols = true};
  c.rhs = {.reverse_rows = true, .reverse_cols = true};
  c.out = {.reverse_rows = true, .reverse_cols = true};
  same(c);
}

TEST_CASE("ragged_dot_batch scales by alpha and adds beta times out",
          "[conformance][batch][device]") {
  for (const Tail tail : {Tail::zero, Tail::keep, Tail::compute})
    for (const float alpha : {1.0F, -0.5F})
      for (const float beta : {1.0F, 0.5F}) {
        Case c = make("alpha and beta", 4, 20, 40, 33, {3});
        c.tail = tail;
        c.alpha = alpha;
        c.beta = beta;
        c.out.slab_pad = 3;
        check_all_dtypes(c);
      }
}

TEST_CASE("ragged_dot_batch shares an operand whose batch stride is zero",
          "[conformance][batch][device]") {
  constexpr offset_t b = 4;
  constexpr offset_t m = 20;
  constexpr offset_t k = 24;
  constexpr offset_t n = 40;
  const DeviceArray<bf16> lhs(std::vector<bf16>(b * m * k, rg::to_bf16(1)));
  const DeviceArray<bf16> rhs(std::vector<bf16>(k * n, rg::to_bf16(3)));
  DeviceArray<float> out(b * m * n);
  const rg::Status status =
      rg::ragged_dot_batch(rg::view(lhs.data(), b, m, k),
                           rg::View<const bf16, 3>(rhs.data(), {b, k, n}, {0, n, 1}),
                           rg::Groups{},
                           rg::view(out.data(), b, m, n));
  REQUIRE(status.ok());
  REQUIRE(runtime::synchronize().ok());
  for (const float value : out.get()) REQUIRE(value == 72.0F);
  CHECK(out.guards_intact());
}

TEST_CASE("ragged_dot_batch repeats with equal bits", "[conformance][batch][device]") {
  Case c = make("repeats", 12, 130, 200, 100, {5, 0, 4});
  c.data = Data::reals;
  c.repeats = scaled(20, 2);
  check_case<bf16, bf16, bf16>(c);
  check_case<float, float, float>(c);
}

TEST_CASE("ragged_dot_batch is right for random shapes and sizes", "[conformance][batch][device]") {
  for (std::uint64_t seed = 1; seed <= scaled<std::uint64_t>(60, 18); ++seed) {
    Random random(seed);
    const offset_t b = random.between(1, 40);
    Case c = make("random",
                  b,
                  random.between(1, 40),
                  random.between(1, 60),
                  random.between(1, 210),
                  random_sizes(random, random.between(1, 70), b));
    c.name = "random shape of seed " + std::to_string(seed);
    c.rows_by_turns = emulated();
    const Tail tails[] = {Tail::zero, Tail::keep, Tail::compute};
    c.tail = tails[random.between(0, 2)];
    c.lhs.transposed = random.one_in(3);
    c.rhs.transposed = random.one_in(3);
    c.out.pitch_pad = random.between(0, 3);
    if (seed % 2 == 0) c = with_aligned_pitches(c);
    if (seed % 3 == 0) check_case<float, float, float>(c);
    if (seed % 3 == 1) check_case<bf16, bf16, float>(c);
    if (seed % 3 == 2) check_case<fp16, fp16, fp16>(c);
  }
}

TEST_CASE("Every batch kernel of this program ran", "[conformance][batch][device]") {
  CHECK(report_rows(Variant::batch) == 0);
}

}  // namespace
