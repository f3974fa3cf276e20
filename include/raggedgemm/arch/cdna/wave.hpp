// SPDX-License-Identifier: Apache-2.0
// The 64-lane wave of CDNA. Same members as arch/simt/wave.hpp, but what all lanes agree on lives in
// scalar registers: a cursor then costs a matrix kernel hardly any vector registers.
#pragma once

#include <cstdint>

#include "raggedgemm/base/bit_cast.hpp"
#include "raggedgemm/base/index.hpp"

#if RG_PLATFORM_HIP
#include <hip/hip_runtime.h>
#endif

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

inline constexpr index_t wave_lanes = 64;

#if RG_PLATFORM_HIP

struct Wave {
  static constexpr index_t lanes = wave_lanes;

  static RG_DEVICE index_t lane() { return static_cast<index_t>(threadIdx.x) % lanes; }

  /// Index of this wave in its block, in a scalar register.
  static RG_DEVICE index_t index() {
    return __builtin_amdgcn_readfirstlane(static_cast<index_t>(threadIdx.x) / lanes);
  }

  static RG_DEVICE std::uint64_t ballot(bool predicate) { return __ballot(predicate ? 1 : 0); }

  /// Index of the highest set bit; the mask is not zero.
  static RG_DEVICE index_t last_set(std::uint64_t mask) {
    return 63 - __builtin_clzll(mask);
  }

  /// Requires: `from_lane` is the same in all lanes.
  static RG_DEVICE offset_t broadcast(offset_t value, index_t from_lane) {
    const std::uint64_t bits = static_cast<std::uint64_t>(value);
    const std::uint32_t low = static_cast<std::uint32_t>(
        __builtin_amdgcn_readlane(static_cast<int>(bits & 0xFFFFFFFFU), from_lane));
    const std::uint32_t high = static_cast<std::uint32_t>(
        __builtin_amdgcn_readlane(static_cast<int>(bits >> 32), from_lane));
    return static_cast<offset_t>(std::uint64_t{high} << 32 | low);
  }

  /// Sum of the values of this lane and all lanes below it.
  static RG_DEVICE offset_t inclusive_sum(offset_t value) {
    long long sum = value;
    RG_UNROLL
    for (index_t step = 1; step < lanes; step *= 2) {
      const long long below = __shfl_up(sum, static_cast<unsigned>(step), lanes);
      if (lane() >= step) sum += below;
    }
    return sum;
  }
};

#endif

}  // namespace arch::cdna
}  // inline namespace
}  // namespace raggedgemm
