// SPDX-License-Identifier: Apache-2.0
// The 64-lane wave of CDNA. Same members as arch/simt/wave.hpp, but what all lanes agree on lives
// in scalar registers: a cursor then costs a matrix kernel hardly any vector registers.
#pragma once

#include <cstdint>

#include "raggedgemm/arch/cdna/vector.hpp"
#include "raggedgemm/base/index.hpp"

#if RG_PLATFORM_HIP
#include <hip/hip_runtime.h>
#endif

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

inline constexpr index_t wave_lanes = 64;

#if RG_PLATFORM_HIP

/// The calling lane's index in its block. What is computed from it is computed where it is used:
/// hoisted out of the tile loop, it would hold vector registers through every main loop.
RG_DEVICE RG_FORCE_INLINE index_t block_lane() {
  index_t lane = static_cast<index_t>(threadIdx.x);
  forget(lane);
  return lane;
}

/// A value that is the same in all lanes, in scalar registers.
template <class T>
RG_DEVICE RG_FORCE_INLINE T uniform(T value) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "T must have 4 or 8 bytes");
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(
        T, __builtin_amdgcn_readfirstlane(__builtin_bit_cast(std::int32_t, value)));
  } else {
    using Halves = std::int32_t __attribute__((ext_vector_type(2)));
    const Halves halves = __builtin_bit_cast(Halves, value);
    return __builtin_bit_cast(T,
                              Halves{__builtin_amdgcn_readfirstlane(halves[0]),
                                     __builtin_amdgcn_readfirstlane(halves[1])});
  }
}

struct Wave {
  static constexpr index_t lanes = wave_lanes;

  static RG_DEVICE index_t lane() { return block_lane() % lanes; }

  /// Index of this wave in its block, in a scalar register.
  static RG_DEVICE index_t index() { return __builtin_amdgcn_readfirstlane(block_lane()) / lanes; }

  static RG_DEVICE std::uint64_t ballot(bool predicate) { return __ballot(predicate ? 1 : 0); }

  /// Index of the highest set bit; the mask is not zero.
  static RG_DEVICE index_t last_set(std::uint64_t mask) { return 63 - __builtin_clzll(mask); }

  /// No instruction for it is used here.
  static RG_DEVICE void prefetch(const void*) {}

  /// Requires: `from_lane` is the same in all lanes.
  static RG_DEVICE offset_t broadcast(offset_t value, index_t from_lane) {
    const std::uint64_t bits = static_cast<std::uint64_t>(value);
    const std::uint32_t low = static_cast<std::uint32_t>(
        __builtin_amdgcn_readlane(static_cast<int>(bits & 0xFFFFFFFFU), from_lane));
    const std::uint32_t high = static_cast<std::uint32_t>(
        __builtin_amdgcn_readlane(static_cast<int>(bits >> 32), from_lane));
    return static_cast<offset_t>(std::uint64_t{high} << 32 | low);
  }

  /// Sum of the values of all lanes below this one, or `limit` if that is less. Values are not
  /// negative, and two of them can be added.
  static RG_DEVICE offset_t exclusive_sum(offset_t value, offset_t limit) {
    const index_t self = lane();
    RG_UNROLL
    for (index_t step = 1; step < lanes; step *= 2) {
      const offset_t below = of_lane(value, self - step);
      if (self >= step) value = min_of(value + below, limit);
    }
    value = of_lane(value, self - 1);
    return self == 0 ? 0 : value;
  }

  /// Sum of the values of this lane and all lanes below it.
  static RG_DEVICE offset_t inclusive_sum(offset_t value) {
    const index_t self = lane();
    RG_UNROLL
    for (index_t step = 1; step < lanes; step *= 2) {
      const offset_t below = of_lane(value, self - step);
      if (self >= step) value += below;
    }
    return value;
  }

 private:
  /// The value that lane `from_lane` (modulo the wave) holds.
  static RG_DEVICE offset_t of_lane(offset_t value, index_t from_lane) {
    const std::uint64_t bits = static_cast<std::uint64_t>(value);
    const index_t from_bytes = from_lane * 4;
    const std::uint32_t low = static_cast<std::uint32_t>(
        __builtin_amdgcn_ds_bpermute(from_bytes, static_cast<int>(bits & 0xFFFFFFFFU)));
    const std::uint32_t high = static_cast<std::uint32_t>(
        __builtin_amdgcn_ds_bpermute(from_bytes, static_cast<int>(bits >> 32)));
    return static_cast<offset_t>(std::uint64_t{high} << 32 | low);
  }
};

/// The first parameter of the running kernel, in the constant memory where it arrives.
///
/// Requires: the kernel's first parameter is a T.
template <class T>
RG_DEVICE RG_FORCE_INLINE const T& first_kernel_parameter() {
  return *(const T*)__builtin_amdgcn_kernarg_segment_ptr();
}

/// The same parameter, but what is used of it is read from memory behind this point: parameters are
/// many and cheap to read, and kept in scalar registers across a main loop they would be spilled.
///
/// Requires: `parameter` is what first_kernel_parameter() gave.
template <class T>
RG_DEVICE RG_FORCE_INLINE const T& read_again(const T& parameter) {
  auto* pointer = (const __attribute__((address_space(4))) T*)&parameter;
  asm volatile("" : "+s"(pointer));
  return *(const T*)pointer;
}

#endif

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
