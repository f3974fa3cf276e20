// SPDX-License-Identifier: Apache-2.0
// Epilogues on chunks: activations against f64, bias guards its columns, chains keep their order.

#include "raggedgemm/epilogue/transform.hpp"

#include <cmath>
#include <limits>

#include "raggedgemm/epilogue/activation.hpp"
#include "raggedgemm/epilogue/bias.hpp"
#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

template <class E>
float apply(const E& epilogue, float value) {
  Chunk<float, 1> chunk{{value}};
  return epilogue.transform(chunk, OutputPosition{})[0];
}

TEST_CASE("Activations agree with their formula in f64", "[epilogue][host]") {
  // 2^-21: the f32 exp and erf, good to a few units, and four roundings.
  for (int i = -800; i <= 800; ++i) {
    const float x = static_cast<float>(i) / 64.0F;
    const double wide = static_cast<double>(x);
    const double silu_needed = wide / (1 + std::exp(-wide));
    const double gelu_needed = 0.5 * wide * (1 + std::erf(wide / std::sqrt(2.0)));
    REQUIRE(apply(relu(), x) == (x < 0 ? 0.0F : x));
    REQUIRE(std::fabs(double{apply(silu(), x)} - silu_needed) <= 0x1p-21 * std::fabs(wide));
    REQUIRE(std::fabs(double{apply(gelu(), x)} - gelu_needed) <= 0x1p-21 * std::fabs(wide));
  }
}

TEST_CASE("Activations of the extreme values are the limits", "[epilogue][host]") {
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(apply(relu(), -infinity) == 0.0F);
  CHECK(apply(relu(), infinity) == infinity);
  CHECK(std::isnan(apply(relu(), std::nanf(""))));
  CHECK(apply(silu(), 100.0F) == 100.0F);
  CHECK(apply(silu(), -100.0F) <= 0.0F);
  CHECK(apply(gelu(), -100.0F) == 0.0F);
  CHECK(std::isnan(apply(silu(), std::nanf(""))));
  CHECK(std::isnan(apply(gelu(), std::nanf(""))));
}

TEST_CASE("bias reads its group's row and nothing past the last column", "[epilogue][host]") {
  const float per_group[2][3] = {{1, 2, 3}, {10, 20, 30}};
  // Three columns a group, and NaN behind them.
  const float nan = std::nanf("");
  const float padded[2][8] = {{1, 2, 3, nan, nan, nan, nan, nan},
                              {10, 20, 30, nan, nan, nan, nan, nan}};
  const auto epilogue = bias(View<const float, 2>(&padded[0][0], {2, 3}, {8, 1}));
  const Chunk<float, 4> zero{{0, 0, 0, 0}};
  // Columns 2 … 5 of group 1: only column 2 exists, the last one of the array.
  const Chunk<float, 4> edge = epilogue.transform(zero, OutputPosition{1, 7, 2});
  CHECK(edge[0] == 30.0F);
  CHECK(edge[1] == 0.0F);
  CHECK(edge[3] == 0.0F);
  const bf16 shared[3] = {to_bf16(1), to_bf16(2), to_bf16(4)};
  const auto same = bias(view(&shared[0], 3));
  CHECK(same.transform(zero, OutputPosition{5, 0, 0})[2] == 4.0F);
  const auto strided = bias(View<const float, 2>(&per_group[0][0], {3, 2}, {1, 3}));
  CHECK(strided.transform(zero, OutputPosition{2, 0, 0})[1] == 30.0F);
}

struct AddOne {
  template <class T>
  T operator()(T x) const {
    return x + T{1};
  }
};
struct Double {
  template <class T>
  T operator()(T x) const {
    return x * T{2};
  }
};

TEST_CASE("A chain applies its epilogues from left to right", "[epilogue][host]") {
  CHECK(apply(elementwise(AddOne{}) | elementwise(Double{}), 3.0F) == 8.0F);
  CHECK(apply(elementwise(Double{}) | elementwise(AddOne{}), 3.0F) == 7.0F);
  CHECK(apply(elementwise(Double{}) | elementwise(AddOne{}) | relu(), -3.0F) == 0.0F);
  CHECK(apply(Identity{}, -3.0F) == -3.0F);
}

TEST_CASE("Epilogues travel as kernel parameters", "[epilogue][host]") {
  using Chained = decltype(bias(view(static_cast<const float*>(nullptr), 2, 3)) | gelu());
  static_assert(std::is_trivially_copyable_v<Chained>);
  static_assert(std::is_base_of_v<Epilogue, Chained>);
  SUCCEED();
}

}  // namespace
