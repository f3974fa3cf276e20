// SPDX-License-Identifier: Apache-2.0
// The four fp8 formats: all 256 codes of each have the value of their definition and survive the
// way to float and back; rounding, overflow and NaN against a reference in f64 arithmetic. Then the
// one rounding of an f64 or s32 accumulator to fewer bits.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "raggedgemm/numeric/convert.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using namespace raggedgemm;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// A float format as its definition has it, written independently of the library.
struct Format {
  const char* name;
  int stored_bits;      ///< of the mantissa
  int smallest_normal;  ///< its exponent
  double largest;
  double smallest;
  bool has_infinity;
  bool has_negative_zero;
  int special_from;  ///< fp8: first code, sign apart, that is not a number; 128: none
};

template <class T>
constexpr Format format_of();
template <>
constexpr Format format_of<fp8_e4m3fn>() {
  return {"e4m3fn", 3, -6, 448, 0x1p-9, false, true, 0x7F};
}
template <>
constexpr Format format_of<fp8_e5m2>() {
  return {"e5m2", 2, -14, 57344, 0x1p-16, true, true, 0x7C};
}
template <>
constexpr Format format_of<fp8_e4m3fnuz>() {
  return {"e4m3fnuz", 3, -7, 240, 0x1p-10, false, false, 128};
}
template <>
constexpr Format format_of<fp8_e5m2fnuz>() {
  return {"e5m2fnuz", 2, -15, 57344, 0x1p-17, false, false, 128};
}
template <>
constexpr Format format_of<fp16>() {
  return {"fp16", 10, -14, 65504, 0x1p-24, true, true, 0};
}
template <>
constexpr Format format_of<bf16>() {
  return {"bf16", 7, -126, 0x1.FEp127, 0x1p-133, true, true, 0};
}
template <>
constexpr Format format_of<float>() {
  return {"f32", 23, -126, 0x1.FFFFFEp127, 0x1p-149, true, true, 0};
}

/// The value of an fp8 code.
double value_of(const Format& f, int code) {
  const int magnitude = code & 0x7F;
  const double sign = code >= 0x80 ? -1.0 : 1.0;
  if (!f.has_negative_zero && code == 0x80) return std::nan("");
  if (magnitude >= f.special_from)
    return f.has_infinity && magnitude == f.special_from ? sign * infinity : std::nan("");
  const int exponent = magnitude >> f.stored_bits;
  const int fraction = magnitude & ((1 << f.stored_bits) - 1);
  if (exponent == 0) return sign * fraction * f.smallest;
  return sign * std::ldexp((1 << f.stored_bits) + fraction,
                           exponent - 1 + f.smallest_normal - f.stored_bits);
}

/// The nearest value of the format, ties to even; past the largest infinity or NaN.
double rounded(const Format& f, double x) {
  if (x == 0 || std::isnan(x)) return x;
  if (std::isinf(x)) return f.has_infinity ? x : std::nan("");
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x), f.smallest_normal) - f.stored_bits);
  const double nearest = std::nearbyint(x / unit) * unit;
  if (std::fabs(nearest) <= f.largest) return nearest;
  return f.has_infinity ? std::copysign(infinity, x) : std::nan("");
}

template <class T>
double wide(T value) {
  return static_cast<double>(Element<T>::widen(value));
}

/// Whether `got` is `needed`, the sign of zero included.
bool same(const Format& f, double got, double needed) {
  if (std::isnan(needed)) return std::isnan(got);
  const bool negative = std::signbit(needed) && (needed != 0 || f.has_negative_zero);
  return got == needed && std::signbit(got) == negative;
}

template <class T>
bool rounds_right(float value) {
  return same(format_of<T>(),
              wide(Element<T>::round(value)),
              rounded(format_of<T>(), static_cast<double>(value)));
}

/// Runs `f` for one value of each fp8 type.
template <class F>
void for_each_format(const F& f) {
  f(fp8_e4m3fn{});
  f(fp8_e5m2{});
  f(fp8_e4m3fnuz{});
  f(fp8_e5m2fnuz{});
}

template <class T>
T code_of(int bits) {
  T value;
  value.bits = static_cast<std::uint8_t>(bits);
  return value;
}

TEST_CASE("Every fp8 code has the value of its definition as a float", "[numeric][fp8][host]") {
  for_each_format([](auto format) {
    using T = decltype(format);
    const Format f = format_of<T>();
    INFO(f.name);
    double largest = 0;
    double smallest = infinity;
    int not_a_number = 0;
    for (int code = 0; code < 256; ++code) {
      const double value = static_cast<double>(to_float(code_of<T>(code)));
      INFO("code " << code << " is " << value);
      CHECK(same(f, value, value_of(f, code)));
      if (std::isnan(value)) ++not_a_number;
      if (std::isfinite(value)) largest = std::max(largest, value);
      if (value > 0) smallest = std::min(smallest, value);
    }
    CHECK(largest == f.largest);
    CHECK(smallest == f.smallest);
    CHECK(not_a_number == (f.special_from == 128 ? 1 : f.has_infinity ? 6 : 2));
  });
}

TEST_CASE("Every fp8 code survives the way to float and back", "[numeric][fp8][host]") {
  for_each_format([](auto format) {
    using T = decltype(format);
    INFO(format_of<T>().name);
    for (int code = 0; code < 256; ++code) {
      const float value = to_float(code_of<T>(code));
      const int back = to_fp8<T>(value).bits;
      INFO("code " << code << " came back as " << back);
      CHECK((std::isnan(value) ? std::isnan(to_float(code_of<T>(back))) : back == code));
      // From f64, too.
      const int from_f64 = Element<T>::round(static_cast<double>(value)).bits;
      CHECK((std::isnan(value) ? std::isnan(to_float(code_of<T>(from_f64))) : from_f64 == code));
    }
  });
}

TEST_CASE("to_fp8 rounds to nearest, ties to even, between every two neighbours",
          "[numeric][fp8][host]") {
  for_each_format([](auto format) {
    using T = decltype(format);
    const Format f = format_of<T>();
    int failures = 0;
    for (int code = 0; code < 128; ++code) {
      const double below = value_of(f, code);
      if (!std::isfinite(below)) break;
      // The midpoint to the next value, and to the one past the largest.
      const double above = 2 * below - (code == 0 ? 0 : value_of(f, code - 1));
      const double next = code == 0 ? f.smallest
                          : std::isfinite(value_of(f, code + 1)) && code < 127
                              ? value_of(f, code + 1)
                              : above;
      const float middle = static_cast<float>((below + next) / 2);
      for (const float sign : {1.0F, -1.0F})
        for (const float value : {middle,
                                  std::nextafter(middle, 0.0F),
                                  std::nextafter(middle, 1e30F),
                                  static_cast<float>(below)})
          if (!rounds_right<T>(sign * value)) ++failures;
    }
    INFO(f.name);
    CHECK(failures == 0);
  });
}

TEST_CASE("to_fp8 agrees with the reference on random bit patterns", "[numeric][fp8][host]") {
  support::Random random(8);
  for_each_format([&random](auto format) {
    using T = decltype(format);
    int failures = 0;
    for (int i = 0; i < 200000; ++i) {
      std::uint32_t bits = static_cast<std::uint32_t>(random.bits());
      if (!rounds_right<T>(bit_as<float>(bits))) ++failures;
      // Exponents around the format's range, which random patterns rarely hit.
      const std::uint32_t exponent = static_cast<std::uint32_t>(random.between(127 - 20, 127 + 18));
      bits = (bits & 0x807FFFFFU) | exponent << 23;
      if (!rounds_right<T>(bit_as<float>(bits))) ++failures;
    }
    INFO(format_of<T>().name);
    CHECK(failures == 0);
  });
}

TEST_CASE("fp8 overflows to infinity where the format has one, else to NaN",
          "[numeric][fp8][host]") {
  const float huge = std::numeric_limits<float>::max();
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(to_fp8<fp8_e4m3fn>(464.0F).bits == 0x7E);  // a tie with 480, which is not there: to even
  CHECK(to_fp8<fp8_e4m3fn>(464.01F).bits == 0x7F);
  CHECK(to_fp8<fp8_e4m3fn>(-464.01F).bits == 0xFF);
  CHECK(to_fp8<fp8_e4m3fn>(inf).bits == 0x7F);
  CHECK(to_fp8<fp8_e5m2>(61439.9F).bits == 0x7B);
  CHECK(to_fp8<fp8_e5m2>(61440.0F).bits == 0x7C);  // a tie: to even, which is infinity
  CHECK(to_fp8<fp8_e5m2>(-huge).bits == 0xFC);
  CHECK(to_fp8<fp8_e5m2>(-inf).bits == 0xFC);
  CHECK(to_fp8<fp8_e4m3fnuz>(247.9F).bits == 0x7F);
  CHECK(to_fp8<fp8_e4m3fnuz>(248.0F).bits == 0x80);
  CHECK(to_fp8<fp8_e5m2fnuz>(61439.9F).bits == 0x7F);
  CHECK(to_fp8<fp8_e5m2fnuz>(-61440.0F).bits == 0x80);
  for_each_format([&](auto format) {
    using T = decltype(format);
    INFO(format_of<T>().name);
    for (const float value : {huge, inf, nan})
      for (const float sign : {1.0F, -1.0F}) {
        const float back = to_float(to_fp8<T>(sign * value));
        CHECK((std::isnan(value) || !T::has_infinity ? std::isnan(back) : std::isinf(back)));
      }
  });
}

TEST_CASE("fnuz formats have one zero, the others two", "[numeric][fp8][host]") {
  CHECK(to_fp8<fp8_e4m3fn>(-0.0F).bits == 0x80);
  CHECK(to_fp8<fp8_e5m2>(-0.0F).bits == 0x80);
  CHECK(to_fp8<fp8_e4m3fnuz>(-0.0F).bits == 0x00);
  CHECK(to_fp8<fp8_e5m2fnuz>(-0.0F).bits == 0x00);
  // A negative value that rounds to zero must not become 0x80, which is their NaN.
  CHECK(to_fp8<fp8_e4m3fnuz>(-0x1p-12F).bits == 0x00);
  CHECK(to_fp8<fp8_e5m2fnuz>(-0x1p-18F).bits == 0x00);  // a tie
  CHECK(to_fp8<fp8_e5m2fnuz>(-0x1.8p-18F).bits == 0x81);
  CHECK(to_fp8<fp8_e4m3fn>(-0x1p-12F).bits == 0x80);
}

TEST_CASE("fp8 conversions are constant expressions", "[numeric][fp8][host]") {
  static_assert(to_fp8<fp8_e4m3fn>(1.0F).bits == 0x38);
  static_assert(to_fp8<fp8_e5m2>(1.0F).bits == 0x3C);
  static_assert(to_fp8<fp8_e4m3fnuz>(1.0F).bits == 0x40);
  static_assert(to_fp8<fp8_e5m2fnuz>(1.0F).bits == 0x40);
  static_assert(to_float(fp8_e4m3fn{0xC0}) == -2.0F);
  static_assert(to_fp8<fp8_e4m3fn>(0x1p-10F).bits == 0);      // half of the smallest: to even
  static_assert(to_fp8<fp8_e4m3fn>(0x1.8p-9F).bits == 2);     // a tie of subnormals
  static_assert(to_fp8<fp8_e4m3fn>(0x1.Ep-7F).bits == 0x08);  // a subnormal that rounds to normal
  SUCCEED("checked when compiled");
}

/// Values on, and by the smallest step beside, the midpoints of T: where rounding twice goes wrong.
template <class T>
std::vector<double> hostile_values(support::Random& random) {
  const Format f = format_of<T>();
  std::vector<double> values;
  const int top = std::ilogb(f.largest);
  for (int i = 0; i < 4000; ++i) {
    const int exponent =
        static_cast<int>(random.between(f.smallest_normal - f.stored_bits - 1, top));
    const double unit = std::ldexp(1.0, std::max(exponent, f.smallest_normal) - f.stored_bits);
    const double base =
        std::floor(std::ldexp(1.0 + random.real() / 2 + 0.5, exponent) / unit) * unit;
    const double middle = base + unit / 2;
    for (const double value : {base,
                               middle,
                               std::nextafter(middle, 0.0),
                               std::nextafter(middle, infinity),
                               middle * (1 + 0x1p-30),
                               middle * (1 - 0x1p-30)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  return values;
}

template <class T>
void check_one_rounding() {
  support::Random random(9);
  const Format f = format_of<T>();
  int failures = 0;
  int twice_differs = 0;
  for (const double value : hostile_values<T>(random)) {
    const double needed = rounded(f, value);
    if (!same(f, wide(Element<T>::round(value)), needed)) ++failures;
    if (!same(f, wide(Element<T>::round(static_cast<float>(value))), needed)) ++twice_differs;
  }
  INFO(f.name);
  CHECK(failures == 0);
  CHECK(twice_differs > 100);  // the values are hostile: by way of a float they come out wrong
}

TEST_CASE("A double becomes a small float by one rounding", "[numeric][host]") {
  check_one_rounding<bf16>();
  check_one_rounding<fp16>();
  check_one_rounding<fp8_e4m3fn>();
  check_one_rounding<fp8_e5m2>();
  check_one_rounding<fp8_e4m3fnuz>();
  check_one_rounding<fp8_e5m2fnuz>();
}

TEST_CASE("to_odd_float cuts off, and marks what it cut off in the last bit", "[numeric][host]") {
  using detail::to_odd_float;
  CHECK(to_odd_float(1.0) == 1.0F);
  CHECK(to_odd_float(1.0 + 0x1p-40) == 1.0F + 0x1p-23F);
  CHECK(to_odd_float(-1.0 - 0x1p-40) == -1.0F - 0x1p-23F);
  CHECK(to_odd_float(2.0 - 0x1p-40) == 2.0F - 0x1p-23F);
  CHECK(to_odd_float(0x1p-160) == 0x1p-149F);
  CHECK(to_odd_float(-0x1p-160) == -0x1p-149F);
  CHECK(to_odd_float(0x1.8p-149) == 0x1p-149F);
  CHECK(to_odd_float(0x1p127 * 1.9999999999) == std::numeric_limits<float>::max());
  CHECK(std::isnan(to_odd_float(std::nan(""))));
  CHECK(std::isinf(to_odd_float(-infinity)));
  CHECK(std::signbit(to_odd_float(-0.0)));
  support::Random random(10);
  int failures = 0;
  for (int i = 0; i < 300000; ++i) {
    const double value = std::ldexp(random.real(), static_cast<int>(random.between(-155, 127)));
    const float odd = to_odd_float(value);
    const double got = static_cast<double>(odd);
    const bool exact = static_cast<double>(static_cast<float>(value)) == value;
    const bool right = exact ? got == value
                             : (bit_as<std::uint32_t>(odd) & 1U) == 1U &&
                                   std::fabs(got - value) <
                                       std::ldexp(1.0, std::max(std::ilogb(value), -126) - 23) &&
                                   std::signbit(odd) == std::signbit(value);
    if (!right) ++failures;
  }
  CHECK(failures == 0);
}

template <class T>
int wrong_roundings_of_integers() {
  support::Random random(11);
  const Format f = format_of<T>();
  int failures = 0;
  for (int i = 0; i < 100000; ++i) {
    const std::int64_t bound = std::int64_t{1} << random.between(1, 31);
    const std::int32_t value = static_cast<std::int32_t>(random.between(-bound, bound - 1));
    if (!same(f, wide(round_to<T>(value)), rounded(f, static_cast<double>(value)))) ++failures;
  }
  return failures;
}

TEST_CASE("round_to takes an integer accumulator to a float by one rounding", "[numeric][host]") {
  CHECK(wrong_roundings_of_integers<float>() == 0);
  CHECK(wrong_roundings_of_integers<bf16>() == 0);
  CHECK(wrong_roundings_of_integers<fp16>() == 0);
  CHECK(wrong_roundings_of_integers<fp8_e4m3fn>() == 0);
  CHECK(wrong_roundings_of_integers<fp8_e5m2>() == 0);
  // 2^24 + 2^16 + 1 is just past a midpoint of bf16; as a float it would be the midpoint.
  CHECK(wide(round_to<bf16>(16777216 + 65536 + 1)) == 16777216.0 + 131072.0);
  CHECK(wide(round_to<bf16>(16777216 + 65536)) == 16777216.0);
  CHECK(round_to<double>(2147483647) == 2147483647.0);
  CHECK(round_to<std::int32_t>(-2147483647 - 1) == -2147483647 - 1);
  CHECK(round_to<std::int8_t>(300) == 44);  // modulo 256
  CHECK(round_to<std::int8_t>(-129) == 127);
}

}  // namespace
