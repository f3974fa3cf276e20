// SPDX-License-Identifier: Apache-2.0
// A block's dynamic shared memory, and the mark of a kernel that has no code for this architecture.
#pragma once

#include <cstdint>

#include "raggedgemm/base/index.hpp"

#if RG_PLATFORM_HIP
#include <hip/hip_runtime.h>
#endif

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::simt {

/// Kernels keep all their shared memory dynamic; one with this much static shared memory is the
/// empty body of an architecture that the engine has no code for. The host reads it from the
/// kernel's attributes, without a launch.
inline constexpr std::int64_t missing_kernel_mark_bytes = 4112;

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP

RG_DEVICE inline unsigned char* shared_memory() {
  extern __shared__ __align__(1024) unsigned char raggedgemm_shared_memory[];
  return raggedgemm_shared_memory;
}

#if RG_PLATFORM_CUDA
/// The 32-bit address that shared-memory instructions take.
RG_DEVICE RG_FORCE_INLINE std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}
#endif

/// The body of a kernel whose engine has no code for this architecture. Selection never launches
/// it; were it launched, it would trap rather than leave the output unwritten.
RG_DEVICE inline void missing_kernel() {
  __shared__ volatile unsigned char mark[missing_kernel_mark_bytes];
  mark[threadIdx.x] = 1;
#if RG_PLATFORM_HIP
  __builtin_trap();
#else
  __trap();
#endif
}

#endif

}  // namespace arch::simt
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
