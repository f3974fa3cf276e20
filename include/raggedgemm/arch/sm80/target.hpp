// SPDX-License-Identifier: Apache-2.0
// Whether this compiler pass can hold code for Ampere and later: asynchronous copies and the
// 16-deep matrix instructions.
#pragma once

#include "raggedgemm/base/macros.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm80 {

#if RG_PLATFORM_CUDA

/// True in nvcc's host pass, too: there it only names the kernel.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
inline constexpr bool compiled_here = true;
#else
inline constexpr bool compiled_here = false;
#endif

#endif

}  // namespace arch::sm80
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
