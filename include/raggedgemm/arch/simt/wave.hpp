// SPDX-License-Identifier: Apache-2.0
// A wave of any GPU: 32 lanes on NVIDIA, 64 on CDNA. Ballot, broadcast and scan through shuffles.
#pragma once

#include <cstdint>
#include <type_traits>

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

  /// Asks for the cache line of an address that will be read.
  static RG_DEVICE void prefetch(const void* address) {
#if RG_PLATFORM_HIP
    static_cast<void>(address);
#else
    asm volatile("prefetch.global.L2 [%0];" ::"l"(address));
#endif
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

  /// Sum of the values of all lanes below this one, or `limit` if that is less. Values are not
  /// negative, and two of them can be added.
  template <class T>
  static RG_DEVICE T exclusive_sum(T value, T limit) {
    T sum = value;
    RG_UNROLL
    for (index_t step = 1; step < Lanes; step *= 2) {
      const T below = shift_up(sum, step);
      if (lane() >= step) sum = min_of(sum + below, limit);
    }
    sum = shift_up(sum, 1);
    return lane() == 0 ? T{0} : sum;
  }

  /// Sum of the values of this lane and all lanes below it.
  static RG_DEVICE offset_t inclusive_sum(offset_t value) {
    RG_UNROLL
    for (index_t step = 1; step < Lanes; step *= 2) {
      const offset_t below = shift_up(value, step);
      if (lane() >= step) value += below;
    }
    return value;
  }

 private:
  /// The value of the lane `step` below this one.
  template <class T>
  static RG_DEVICE T shift_up(T value, index_t step) {
    using Shuffled = std::conditional_t<sizeof(T) == 8, long long, int>;
#if RG_PLATFORM_HIP
    return static_cast<T>(
        __shfl_up(static_cast<Shuffled>(value), static_cast<unsigned>(step), Lanes));
#else
    return static_cast<T>(
        __shfl_up_sync(0xFFFFFFFFU, static_cast<Shuffled>(value), static_cast<unsigned>(step)));
#endif
  }
};

#endif

}  // namespace arch::simt
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
