// SPDX-License-Identifier: Apache-2.0
// fp16: IEEE 754 binary16. Bit-compatible with __half, _Float16 and the frameworks' float16.
// Branch-free conversions (select only), so that compilers turn loops over them into vector code.
#pragma once

#include <cstdint>

#include "raggedgemm/base/bit_cast.hpp"
#include "raggedgemm/base/macros.hpp"

namespace raggedgemm {

/// A half-precision float as its 16 bits.
struct fp16 {
  std::uint16_t bits = 0;
};

/// Exact. Subnormals are made by one exact multiplication by 2^112.
RG_HOST_DEVICE constexpr float to_float(fp16 value) noexcept {
  const std::uint32_t magnitude = (static_cast<std::uint32_t>(value.bits) & 0x7FFFU) << 13;
  const std::uint32_t sign = (static_cast<std::uint32_t>(value.bits) & 0x8000U) << 16;
  const float scaled = bit_as<float>(magnitude) * 0x1p112F;
  const std::uint32_t special = magnitude + ((0xFFU - 0x1FU) << 23);  // infinity and NaN
  const std::uint32_t bits = magnitude >= (0x1FU << 23) ? special : bit_as<std::uint32_t>(scaled);
  return bit_as<float>(bits | sign);
}

/// Round to nearest, ties to even; overflow becomes infinity, NaN stays NaN (quiet).
RG_HOST_DEVICE constexpr fp16 to_fp16(float value) noexcept {
  const std::uint32_t bits = bit_as<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  // Normal results: rebias the exponent and round the 13 dropped bits.
  const std::uint32_t normal =
      (magnitude - (112U << 23) + 0x0FFFU + ((magnitude >> 13) & 1U)) >> 13;
  // Subnormal results: adding 0.5 aligns the mantissa so that the hardware does the rounding.
  const std::uint32_t subnormal =
      bit_as<std::uint32_t>(bit_as<float>(magnitude) + 0.5F) - 0x3F000000U;
  std::uint32_t half = magnitude < (113U << 23) ? subnormal : normal;
  half = magnitude >= 0x477FF000U ? 0x7C00U : half;  // 65520 and above
  half = magnitude > 0x7F800000U ? 0x7E00U : half;
  return fp16{static_cast<std::uint16_t>(half | sign)};
}

}  // namespace raggedgemm
