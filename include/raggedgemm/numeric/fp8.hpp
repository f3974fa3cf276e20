// SPDX-License-Identifier: Apache-2.0
// The four 8-bit floats: OCP e4m3fn and e5m2, and the fnuz forms of gfx942.
// One template; conversions are portable and round to nearest even.
#pragma once

#include <cstdint>

#include "raggedgemm/base/bit_cast.hpp"
#include "raggedgemm/base/macros.hpp"

namespace raggedgemm {

/// An 8-bit float of `MantissaBits` stored mantissa bits and the exponent bias `Bias`.
///
/// | | largest | infinity | NaN | negative zero |
/// |---|---|---|---|---|
/// | e4m3fn | 448 | none | 0x7F, 0xFF | yes |
/// | e5m2 | 57344 | 0x7C, 0xFC | above them | yes |
/// | e4m3fnuz | 240 | none | 0x80 | none |
/// | e5m2fnuz | 57344 | none | 0x80 | none |
/// Source: OCP 8-bit Floating Point Specification 1.0; AMD CDNA3 ISA, fp8 and bf8 formats.
template <int MantissaBits, int Bias, bool Fnuz>
struct Fp8 {
  std::uint8_t bits = 0;

  static constexpr int mantissa_bits = MantissaBits;
  static constexpr int bias = Bias;
  static constexpr bool fnuz = Fnuz;
  /// e5m2 alone keeps IEEE 754's infinities.
  static constexpr bool has_infinity = !Fnuz && MantissaBits == 2;
  static constexpr std::uint32_t largest_code = Fnuz ? 0x7F : has_infinity ? 0x7B : 0x7E;
  static constexpr std::uint32_t nan_code = Fnuz ? 0x80 : 0x7F;
};

using fp8_e4m3fn = Fp8<3, 7, false>;
using fp8_e5m2 = Fp8<2, 15, false>;
using fp8_e4m3fnuz = Fp8<3, 8, true>;
using fp8_e5m2fnuz = Fp8<2, 16, true>;

namespace detail {

/// 2^exponent for a normal float.
RG_HOST_DEVICE constexpr float power_of_two(int exponent) noexcept {
  return bit_as<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

}  // namespace detail

/// Exact.
template <int M, int B, bool Fnuz>
RG_HOST_DEVICE constexpr float to_float(Fp8<M, B, Fnuz> value) noexcept {
  using Format = Fp8<M, B, Fnuz>;
  const std::uint32_t code = value.bits & 0x7FU;
  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x80U) << 24;
  if (Fnuz ? value.bits == Format::nan_code : code > Format::largest_code) {
    const bool infinite = Format::has_infinity && code == 0x7CU;
    return bit_as<float>(infinite ? sign | 0x7F800000U : 0x7FC00000U);
  }
  const std::uint32_t mantissa = code & ((1U << M) - 1U);
  const std::uint32_t exponent = code >> M;
  const float magnitude =
      exponent == 0 ? static_cast<float>(mantissa) * detail::power_of_two(1 - B - M)
                    : bit_as<float>(((exponent + 127U - static_cast<std::uint32_t>(B)) << 23) |
                                    (mantissa << (23 - M)));
  return bit_as<float>(bit_as<std::uint32_t>(magnitude) | sign);
}

/// Round to nearest, ties to even. Past the largest value: infinity where the format has one, else
/// NaN (what the frameworks' conversions do); NaN stays NaN.
template <class Format>
RG_HOST_DEVICE constexpr Format to_fp8(float value) noexcept {
  constexpr int m = Format::mantissa_bits;
  constexpr int drop = 23 - m;
  const std::uint32_t bits = bit_as<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 24) & 0x80U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  constexpr auto smallest_normal = static_cast<std::uint32_t>(1 - Format::bias + 127) << 23;
  std::uint32_t code = 0;
  if (magnitude > 0x7F800000U) {
    code = 0xFFU;
  } else if (magnitude >= smallest_normal) {
    const std::uint32_t rounded =
        (magnitude + ((1U << (drop - 1)) - 1U) + ((magnitude >> drop) & 1U)) >> drop;
    code = rounded - (static_cast<std::uint32_t>(127 - Format::bias) << m);
  } else {
    // Adding 2^23 leaves the value in units of the smallest subnormal in the low bits, rounded.
    const float scaled = bit_as<float>(magnitude) * detail::power_of_two(Format::bias - 1 + m);
    code = bit_as<std::uint32_t>(scaled + 8388608.0F) & 0xFFU;
  }
  if (code > Format::largest_code) {
    const bool infinite = Format::has_infinity && magnitude <= 0x7F800000U;
    const std::uint32_t special = infinite ? 0x7CU : Format::nan_code;
    return Format{static_cast<std::uint8_t>(Format::fnuz ? special : special | sign)};
  }
  if (Format::fnuz && code == 0) return Format{};
  return Format{static_cast<std::uint8_t>(code | sign)};
}

}  // namespace raggedgemm
