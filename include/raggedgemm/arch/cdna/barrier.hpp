// SPDX-License-Identifier: Apache-2.0
// The barrier of a block, and fences that keep instructions in source order.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

#if RG_PLATFORM_HIP

/// All lanes of the block meet; what they wrote to shared memory is visible to all.
///
/// Orders shared memory only: loads from global memory stay in flight across it, which is what
/// register prefetch is for.
RG_DEVICE RG_FORCE_INLINE void shared_memory_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup", "local");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup", "local");
}

/// The same, but for the compiler (clang 22), which before shared_memory_barrier() waits for loads
/// that write shared memory, too: here they stay in flight. Source: AMD CDNA3 ISA, 4.4 (s_waitcnt
/// of lgkmcnt alone).
RG_DEVICE RG_FORCE_INLINE void phase_barrier() {
  asm volatile("" ::: "memory");
  __builtin_amdgcn_s_waitcnt(15 | 3 << 14 | 7 << 4 | 0 << 8);
  __builtin_amdgcn_s_barrier();
  asm volatile("" ::: "memory");
}

/// Waits until all loads of this wave but the last `Loads` have arrived: those that write shared
/// memory themselves, the compiler does not wait for. Source: AMD CDNA3 ISA, 4.4 (s_waitcnt; its
/// other counters at their ends: no wait).
template <index_t Loads>
RG_DEVICE RG_FORCE_INLINE void wait_for_loads() {
  static_assert(Loads >= 0 && Loads < 64, "the counter has six bits");
  asm volatile("" ::: "memory");
  __builtin_amdgcn_s_waitcnt((Loads & 15) | (Loads >> 4) << 14 | 7 << 4 | 15 << 8);
  asm volatile("" ::: "memory");
}

/// No instruction crosses this point when the compiler schedules, or none but scalar ones.
template <bool ScalarMay = false>
RG_DEVICE RG_FORCE_INLINE void keep_order() {
  __builtin_amdgcn_sched_barrier(ScalarMay ? 4 : 0);
}

/// Of the waves of a SIMD, those of the highest priority (0 to 3) issue first. Source: AMD CDNA3
/// ISA, 12.5 (s_setprio).
template <index_t Priority>
RG_DEVICE RG_FORCE_INLINE void set_priority() {
  __builtin_amdgcn_s_setprio(Priority);
}

#endif

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
