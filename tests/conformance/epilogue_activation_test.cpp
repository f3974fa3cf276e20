// SPDX-License-Identifier: Apache-2.0
// build: header-only
// Activations, alone and after a bias, on alpha times the product plus beta times out. On f32,
// which few kernels take.

#include <algorithm>
#include <cmath>

#include "support/epilogue.hpp"

namespace {

using namespace support;

double silu_of(double x) { return x / (1 + std::exp(-x)); }
double gelu_of(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }

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

TEST_CASE("An epilogue sees alpha times the product plus beta times out",
          "[epilogue][conformance][device]") {
  Case c = rows_case(Tail::zero, 0.5F);
  c.alpha = 2;
  check_epilogue<float, float, float>(
      c, rg::relu(), [](double x, offset_t, offset_t, offset_t) { return x < 0 ? 0.0 : x; }, 0);
}

}  // namespace
