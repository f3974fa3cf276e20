// SPDX-License-Identifier: Apache-2.0
// bf16: 1 sign, 8 exponent, 7 mantissa bits. Bit-compatible with __nv_bfloat16, hip_bfloat16 and
// the frameworks' bfloat16; conversions are portable, device code of hot kernels uses arch/'s own.
#pragma once

#include <cstdint>

#include "raggedgemm/base/bit_cast.hpp"
#include "raggedgemm/base/macros.hpp"

namespace raggedgemm {

/// A bfloat16 as its 16 bits.
struct bf16 {
  std::uint16_t bits = 0;
};

/// Exact.
RG_HOST_DEVICE constexpr float to_float(bf16 value) noexcept {
  return bit_as<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

/// Round to nearest, ties to even; NaN stays NaN (quiet), overflow becomes infinity.
RG_HOST_DEVICE constexpr bf16 to_bf16(float value) noexcept {
  const std::uint32_t bits = bit_as<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16;
  const bool is_nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  return bf16{static_cast<std::uint16_t>(is_nan ? (bits >> 16) | 0x0040U : rounded)};
}

}  // namespace raggedgemm
