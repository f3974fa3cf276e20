// SPDX-License-Identifier: Apache-2.0
// The low word of two words shifted right together.
#pragma once

#include <cstdint>

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::simt {

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP

/// Bits `bits` … `bits` + 31 of high:low; `bits` is below 32. One instruction.
RG_DEVICE inline std::uint32_t funnel_shift(std::uint32_t low, std::uint32_t high, index_t bits) {
#if RG_PLATFORM_HIP
  return __builtin_amdgcn_alignbit(high, low, static_cast<std::uint32_t>(bits));
#else
  return static_cast<std::uint32_t>((std::uint64_t{high} << 32 | low) >> bits);
#endif
}

#endif

}  // namespace arch::simt
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
