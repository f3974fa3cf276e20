// SPDX-License-Identifier: Apache-2.0
// fp16: all values round-trip, and rounding agrees with a reference written with f64 arithmetic.

#include "raggedgemm/numeric/fp16.hpp"

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

/// The value of binary16 bits, from the definition.
double value_of(std::uint32_t bits) {
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>((bits >> 10) & 0x1FU);
  const double fraction = static_cast<double>(bits & 0x3FFU);
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024.0 + fraction, exponent - 25);
}

/// Nearest value of 11 significant bits, ties to even.
double reference(float value) {
  const double x = static_cast<double>(value);
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x), -14) - 10);
  const double rounded = std::nearbyint(x / unit) * unit;
  return std::fabs(rounded) >= 65536.0 ? std::copysign(INFINITY, x) : rounded;
}

bool agrees(float value) {
  const std::uint32_t got = to_fp16(value).bits;
  const bool negative = (got & 0x8000U) != 0;
  if (std::isnan(value)) return std::isnan(value_of(got)) && negative == std::signbit(value);
  return value_of(got) == reference(value) && negative == std::signbit(value);
}

TEST_CASE("Every fp16 has the value of its definition as a float", "[numeric][fp16][host]") {
  int failures = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float wide = to_float(fp16{static_cast<std::uint16_t>(bits)});
    const double needed = value_of(bits);
    const bool right = std::isnan(needed) ? std::isnan(wide)
                                          : static_cast<double>(wide) == needed &&
                                                std::signbit(wide) == std::signbit(needed);
    if (!right) ++failures;
  }
  CHECK(failures == 0);
}

TEST_CASE("Every fp16 survives the way to float and back", "[numeric][fp16][host]") {
  int failures = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float wide = to_float(fp16{static_cast<std::uint16_t>(bits)});
    const std::uint32_t back = to_fp16(wide).bits;
    const bool right = std::isnan(wide) ? std::isnan(value_of(back)) : back == bits;
    if (!right) ++failures;
  }
  CHECK(failures == 0);
}

TEST_CASE("to_fp16 rounds to nearest, ties to even, between every two neighbours",
          "[numeric][fp16][host]") {
  int failures = 0;
  for (std::uint32_t bits = 0; bits < 0x7C00; ++bits) {
    // The midpoint to the next value is exact in f32; 65520 is the one to infinity.
    const double next = bits + 1 == 0x7C00 ? 65536.0 : value_of(bits + 1);
    const float middle = static_cast<float>((value_of(bits) + next) / 2);
    for (const float sign : {1.0F, -1.0F})
      for (const float value : {middle,
                                std::nextafter(middle, 0.0F),
                                std::nextafter(middle, 1e30F),
                                static_cast<float>(value_of(bits))})
        if (!agrees(sign * value)) ++failures;
  }
  CHECK(failures == 0);
}

TEST_CASE("to_fp16 agrees with the reference on random bit patterns", "[numeric][fp16][host]") {
  support::Random random(5);
  int failures = 0;
  for (int i = 0; i < 500000; ++i) {
    const std::uint32_t bits = static_cast<std::uint32_t>(random.bits());
    if (!agrees(float_of(bits))) ++failures;
    // Exponents around binary16's range, which random patterns rarely hit.
    const std::uint32_t exponent = static_cast<std::uint32_t>(random.between(127 - 27, 127 + 17));
    if (!agrees(float_of((bits & 0x807FFFFFU) | exponent << 23))) ++failures;
  }
  CHECK(failures == 0);
}

TEST_CASE("fp16 has the bits of the well-known values", "[numeric][fp16][host]") {
  static_assert(to_fp16(1.0F).bits == 0x3C00);
  static_assert(to_float(fp16{0xC000}) == -2.0F);
  CHECK(to_fp16(65504.0F).bits == 0x7BFF);
  CHECK(to_fp16(65519.99F).bits == 0x7BFF);
  CHECK(to_fp16(65520.0F).bits == 0x7C00);
  CHECK(to_fp16(-0.0F).bits == 0x8000);
  CHECK(to_fp16(0x1p-24F).bits == 0x0001);
  CHECK(to_fp16(0x1p-25F).bits == 0x0000);  // a tie: to even
  CHECK(to_fp16(std::numeric_limits<float>::infinity()).bits == 0x7C00);
}

}  // namespace
