// SPDX-License-Identifier: Apache-2.0
// The barrier of a block, and fences that keep instructions in source order.
#pragma once

#include "raggedgemm/base/macros.hpp"

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

/// No instruction crosses this point when the compiler schedules.
RG_DEVICE RG_FORCE_INLINE void keep_order() { __builtin_amdgcn_sched_barrier(0); }

#endif

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
