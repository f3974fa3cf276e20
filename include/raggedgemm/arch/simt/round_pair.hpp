// SPDX-License-Identifier: Apache-2.0
// Rounding two floats to 16-bit ones by one instruction, where the hardware has it. The portable
// conversions of numeric/ take some ten instructions each: more than the rest of an epilogue.
#pragma once

#include <cstdint>

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::simt {

#if RG_PLATFORM_CUDA && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800

inline constexpr bool rounds_pairs = true;

/// `low` in bits 0-15, `high` in bits 16-31; to nearest, ties to even, NaN becomes 0x7FFF.
RG_DEVICE RG_FORCE_INLINE std::uint32_t round_pair_to_bf16(float low, float high) {
  std::uint32_t pair = 0;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
RG_DEVICE RG_FORCE_INLINE std::uint32_t round_pair_to_fp16(float low, float high) {
  std::uint32_t pair = 0;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

#else

/// False on the host and where no such instruction exists; then neither function is called.
inline constexpr bool rounds_pairs = false;

RG_HOST_DEVICE inline std::uint32_t round_pair_to_bf16(float, float) { return 0; }
RG_HOST_DEVICE inline std::uint32_t round_pair_to_fp16(float, float) { return 0; }

#endif

}  // namespace arch::simt
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
