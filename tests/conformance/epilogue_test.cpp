// SPDX-License-Identifier: Apache-2.0
// build: header-only
// Epilogues end to end against the f64 oracle: bias, activations, chains and a user's functor, with
// every core kernel forced in turn; rows that belong to no group get none of them. Most run on f32,
// which few kernels take; bf16, which every matrix engine takes, where places in the tile matter.

#include <algorithm>
#include <cmath>

#include "raggedgemm/raggedgemm.hpp"
#include "support/conformance.hpp"

// A named namespace: nvcc cannot launch a kernel whose epilogue type is in an unnamed one.
namespace epilogue_test {

using namespace support;

/// A user's functor.
struct ScaleAndShift {
  float scale;
  template <class T>
  RG_HOST_DEVICE T operator()(T x) const {
    return x * static_cast<T>(scale) + static_cast<T>(3);
  }
};

/// A user's epilogue that depends on where it is.
struct AddPosition : rg::Epilogue {
  template <class T, int Width>
  RG_HOST_DEVICE rg::Chunk<T, Width> transform(rg::Chunk<T, Width> chunk,
                                               const rg::OutputPosition& at) const {
    RG_UNROLL
    for (int v = 0; v < Width; ++v)
      chunk[v] += static_cast<T>(10000 * at.slab + 100 * at.row + at.col + v);
    return chunk;
  }
};

double silu_of(double x) { return x / (1 + std::exp(-x)); }
double gelu_of(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

/// Runs a case with an epilogue and every row that takes it; `formula(value, slab, row, col)` is
/// the epilogue in f64, `terms` its f32 operations (0: exact on integers).
template <class L, class R, class O, Variant V = Variant::non_contracting, class E, class F>
void check_epilogue(const Case& c, const E& epilogue, const F& formula, double terms) {
  Prepared<L, R, O, V> prepared(c);
  rg::Options options = prepared.options();
  int forced = 0;
  for (index_t row = -1; row < rg::config_rows; ++row) {
    options.config_row = row;
    std::vector<O> result;
    if (row >= 0) {
      const rg::Status status = prepared.with_call(
          options, [&](const auto& call) { return rg::make_plan<E>(call, options).status(); });
      if (!status.ok()) continue;
      ++forced;
    }
    INFO(prepared.text() << ", row " << row);
    REQUIRE(prepared.run(options, result, epilogue) == "");
    REQUIRE(prepared.check(result, formula, terms) == "");
  }
  CHECK(forced > 0);
}

Case rows_case(Tail tail, float beta = 0) {
  Case c;
  c.name = "epilogue";
  c.shape = {Variant::non_contracting, 4, 150, 24, 77};
  c.entries = {40, 0, 61, 20};  // 29 rows of tail
  c.tail = tail;
  c.beta = beta;
  c.out.pitch_pad = 3;
  return c;
}

/// The group of a row of rows_case.
offset_t group_of(offset_t row) { return row < 40 ? 0 : row < 101 ? 2 : 3; }

/// bias[g][n] = 7 g − n, small integers; exactly [groups, cols], so that a read past them is NaN.
std::vector<bf16> bias_values(offset_t groups, offset_t cols) {
  std::vector<bf16> values;
  for (offset_t g = 0; g < groups; ++g)
    for (offset_t n = 0; n < cols; ++n)
      values.push_back(rg::to_bf16(static_cast<float>(7 * g - n % 50)));
  return values;
}

TEST_CASE("bias adds its group's vector to live rows and to no other",
          "[epilogue][conformance][device]") {
  const DeviceArray<bf16> values(bias_values(4, 77));
  for (const Tail tail : {Tail::zero, Tail::keep})
    for (const float beta : {0.0F, 1.0F}) {
      const auto formula = [](double x, offset_t, offset_t row, offset_t col) {
        return x + static_cast<double>(7 * group_of(row) - col % 50);
      };
      check_epilogue<float, float, float>(
          rows_case(tail, beta), rg::bias(rg::view(values.data(), 4, 77)), formula, 0);
    }
}

TEST_CASE("A shared bias adds one vector to every live row", "[epilogue][conformance][device]") {
  const DeviceArray<bf16> values(bias_values(1, 77));
  check_epilogue<float, float, float>(
      rows_case(Tail::zero),
      rg::bias(rg::view(values.data(), 77)),
      [](double x, offset_t, offset_t, offset_t col) { return x - static_cast<double>(col % 50); },
      0);
}

TEST_CASE("bias of the other variants goes by slab", "[epilogue][conformance][device]") {
  const DeviceArray<bf16> values(bias_values(4, 77));
  const auto formula = [](double x, offset_t slab, offset_t, offset_t col) {
    return x + static_cast<double>(7 * slab - col % 50);
  };
  Case c = rows_case(Tail::zero);
  c.shape.variant = Variant::contracting;
  check_epilogue<bf16, bf16, float, Variant::contracting>(
      with_aligned_pitches(c), rg::bias(rg::view(values.data(), 4, 77)), formula, 0);
  c.shape = {Variant::batch, 4, 20, 24, 77};
  c.entries = {1, 2};  // the last batch is dead
  check_epilogue<float, float, float, Variant::batch>(
      c, rg::bias(rg::view(values.data(), 4, 77)), formula, 0);
}

TEST_CASE("relu, silu and gelu act on the f32 accumulator", "[epilogue][conformance][device]") {
  const Case c = rows_case(Tail::zero);
  check_epilogue<float, float, float>(
      c, rg::relu(), [](double x, offset_t, offset_t, offset_t) { return x < 0 ? 0.0 : x; }, 0);
  // 16 f32 operations stand for the error of exp and erf.
  check_epilogue<float, float, float>(
      c, rg::silu(), [](double x, offset_t, offset_t, offset_t) { return silu_of(x); }, 16);
  check_epilogue<float, float, float>(
      c, rg::gelu(), [](double x, offset_t, offset_t, offset_t) { return gelu_of(x); }, 16);
}

TEST_CASE("A chain of bias and activation runs from left to right",
          "[epilogue][conformance][device]") {
  const DeviceArray<bf16> values(bias_values(4, 77));
  check_epilogue<float, float, float>(
      rows_case(Tail::zero),
      rg::bias(rg::view(values.data(), 4, 77)) | rg::relu(),
      [](double x, offset_t, offset_t row, offset_t col) {
        return std::max(0.0, x + static_cast<double>(7 * group_of(row) - col % 50));
      },
      0);
}

TEST_CASE("A user's functor and a user's epilogue run like the library's own",
          "[epilogue][conformance][device]") {
  for (const Tail tail : {Tail::zero, Tail::keep}) {
    check_epilogue<float, float, float>(
        rows_case(tail),
        rg::elementwise(ScaleAndShift{0.5F}),
        [](double x, offset_t, offset_t, offset_t) { return x * 0.5 + 3; },
        0);
    // The positions that a matrix engine hands to an epilogue.
    Case c = rows_case(tail);
    c.shape.n = 80;
    check_epilogue<bf16, bf16, float>(
        with_aligned_pitches(c),
        AddPosition{} | rg::relu(),
        [](double x, offset_t, offset_t row, offset_t col) {
          return std::max(0.0, x + static_cast<double>(10000 * group_of(row) + 100 * row + col));
        },
        0);
  }
}

TEST_CASE("An epilogue sees alpha times the product plus beta times out",
          "[epilogue][conformance][device]") {
  Case c = rows_case(Tail::zero, 0.5F);
  c.alpha = 2;
  check_epilogue<float, float, float>(
      c, rg::relu(), [](double x, offset_t, offset_t, offset_t) { return x < 0 ? 0.0 : x; }, 0);
}

TEST_CASE("The calls take an epilogue as their last operand", "[epilogue][conformance][device]") {
  constexpr offset_t n = 4;
  const DeviceArray<float> ones(std::vector<float>(64, 1.0F));
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>{1, 1});
  DeviceArray<float> out(2 * n * n);
  const auto groups = rg::GroupSizes(sizes.data(), 2);
  const auto epilogue = rg::elementwise(ScaleAndShift{2.0F});
  const float* const in = ones.data();
  REQUIRE(
      rg::ragged_dot(
          rg::view(in, 2, n), rg::view(in, 2, n, n), groups, rg::view(out.data(), 2, n), epilogue)
          .ok());
  REQUIRE(runtime::synchronize().ok());
  CHECK(out.get()[2 * n - 1] == 11.0F);
  REQUIRE(
      rg::ragged_dot_contracting(
          rg::view(in, 2, n), rg::view(in, 2, n), groups, rg::view(out.data(), 2, n, n), epilogue)
          .ok());
  REQUIRE(runtime::synchronize().ok());
  CHECK(out.get() == std::vector<float>(2 * n * n, 5.0F));
  REQUIRE(rg::ragged_dot_batch(rg::view(in, 2, n, n),
                               rg::view(in, 2, n, n),
                               groups,
                               rg::view(out.data(), 2, n, n),
                               epilogue)
              .ok());
  REQUIRE(runtime::synchronize().ok());
  CHECK(out.get() == std::vector<float>(2 * n * n, 11.0F));
}

}  // namespace epilogue_test
