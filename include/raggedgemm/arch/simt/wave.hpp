// SPDX-License-Identifier: Apache-2.0
// A wave of any GPU: 32 lanes on NVIDIA, 64 on CDNA. Ballot, broadcast and scan through shuffles.
#pragma once

#include <cstdint>

#include "raggedgemm/base/index.hpp"

#if RG_PLATFORM_HIP
#include <hip/hip_runtime.h>
#endif

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::simt {

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP

template <index_t Lanes>
struct Wave {
  static constexpr index_t lanes = Lanes;

  static RG_DEVICE index_t lane() { return static_cast<index_t>(threadIdx.x % Lanes); }

  static RG_DEVICE std::uint64_t ballot(bool predicate) {
#if RG_PLATFORM_HIP
    return __ballot(predicate ? 1 : 0);
#else
    return __ballot_sync(0xFFFFFFFFU, predicate ? 1 : 0);
#endif
  }

  /// Index of the highest set bit; the mask is not zero.
  static RG_DEVICE index_t last_set(std::uint64_t mask) {
    return 63 - __clzll(static_cast<long long>(mask));
  }

  /// Index of the lowest set bit; the mask is not zero.
  static RG_DEVICE index_t first_set(std::uint64_t mask) {
    return __ffsll(static_cast<long long>(mask)) - 1;
  }

  template <class T>
  static RG_DEVICE T broadcast(T value, index_t from_lane) {
#if RG_PLATFORM_HIP
    return __shfl(value, from_lane, Lanes);
#else
    return __shfl_sync(0xFFFFFFFFU, value, from_lane);
#endif
  }

  static RG_DEVICE offset_t broadcast(offset_t value, index_t from_lane) {
    return static_cast<offset_t>(broadcast(static_cast<long long>(value), from_lane));
  }

  /// Sum of the values of this lane and all lanes below it.
  static RG_DEVICE offset_t inclusive_sum(offset_t value) {
    long long sum = value;
    RG_UNROLL
    for (index_t step = 1; step < Lanes; step *= 2) {
#if RG_PLATFORM_HIP
      const long long below = __shfl_up(sum, static_cast<unsigned>(step), Lanes);
#else
      const long long below = __shfl_up_sync(0xFFFFFFFFU, sum, static_cast<unsigned>(step));
#endif
      if (lane() >= step) sum += below;
    }
    return sum;
  }
};

#endif

}  // namespace arch::simt
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
