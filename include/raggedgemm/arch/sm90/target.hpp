// SPDX-License-Identifier: Apache-2.0
// Whether this compiler pass can hold Hopper code. WGMMA and setmaxnreg exist for sm_90a only, and
// __CUDA_ARCH_LIST__ calls sm_90 and sm_90a the same: the feature macro is what tells them apart.
#pragma once

#include "raggedgemm/base/macros.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm90 {

#if RG_PLATFORM_CUDA

/// True in nvcc's host pass, too: there it only names the kernel.
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool compiled_here = true;
#else
inline constexpr bool compiled_here = false;
#endif

#endif

}  // namespace arch::sm90
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
