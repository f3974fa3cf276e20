// SPDX-License-Identifier: Apache-2.0
// Two kernels in a row of which the second begins before the first one's last blocks have ended:
// its launch and its first reads are hidden. Hopper and later; elsewhere launches wait as always.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::simt {

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP

/// In the first kernel, once in every block: the second may begin when all blocks have come here.
RG_DEVICE inline void let_next_kernel_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// In the second kernel, before it reads what the first one writes: returns when that has ended.
RG_DEVICE inline void wait_for_kernel_before() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

#endif

}  // namespace arch::simt
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
