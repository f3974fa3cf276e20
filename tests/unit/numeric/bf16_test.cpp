// SPDX-License-Identifier: Apache-2.0
// bf16: all values round-trip, and rounding agrees with a reference written with f64 arithmetic.

#include "raggedgemm/numeric/bf16.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using namespace raggedgemm;

float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Nearest value of 8 significant bits and f32's exponents, ties to even.
double reference(float value) {
  const double x = static_cast<double>(value);
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), -126);
  const double unit = std::ldexp(1.0, exponent - 7);
  const double rounded = std::nearbyint(x / unit) * unit;
  return std::fabs(rounded) >= 0x1p128 ? std::copysign(INFINITY, x) : rounded;
}

bool agrees(float value) {
  const float got = to_float(to_bf16(value));
  if (std::isnan(value)) return std::isnan(got) && std::signbit(got) == std::signbit(value);
  const double needed = reference(value);
  return static_cast<double>(got) == needed && std::signbit(got) == std::signbit(value);
}

TEST_CASE("Every bf16 survives the way to float and back", "[numeric][bf16][host]") {
  int failures = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const bf16 value{static_cast<std::uint16_t>(bits)};
    const float wide = to_float(value);
    const bool right = std::isnan(wide) ? (to_bf16(wide).bits | 0x40U) == (bits | 0x40U)
                                        : to_bf16(wide).bits == bits;
    if (!right) ++failures;
  }
  CHECK(failures == 0);
}

TEST_CASE("to_bf16 rounds to nearest, ties to even, between every two neighbours",
          "[numeric][bf16][host]") {
  int failures = 0;
  for (std::uint32_t high = 0; high < 65536; ++high)
    for (const std::uint32_t low : {0x0000U, 0x0001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU})
      if (!agrees(float_of((high << 16) | low))) ++failures;
  CHECK(failures == 0);
}

TEST_CASE("to_bf16 agrees with the reference on random bit patterns", "[numeric][bf16][host]") {
  support::Random random(3);
  int failures = 0;
  for (int i = 0; i < 500000; ++i)
    if (!agrees(float_of(static_cast<std::uint32_t>(random.bits())))) ++failures;
  CHECK(failures == 0);
}

TEST_CASE("bf16 has the bits of the well-known values", "[numeric][bf16][host]") {
  static_assert(to_bf16(1.0F).bits == 0x3F80);
  static_assert(to_float(bf16{0xC000}) == -2.0F);
  CHECK(to_bf16(0.0F).bits == 0x0000);
  CHECK(to_bf16(-0.0F).bits == 0x8000);
  CHECK(to_bf16(std::numeric_limits<float>::max()).bits == 0x7F80);  // overflows
  CHECK(to_bf16(std::numeric_limits<float>::infinity()).bits == 0x7F80);
  CHECK(to_bf16(float_of(0x00000001)).bits == 0x0000);  // far below the smallest
  CHECK(to_bf16(float_of(0x7F800001)).bits == 0x7FC0);  // stays NaN
}

}  // namespace
