// SPDX-License-Identifier: Apache-2.0
// The runtimes that this compiler can build for: the host always, one GPU platform with nvcc or
// hipcc. `runtime::native` is the GPU where there is one, and the same names exist in both.
#pragma once

#include "raggedgemm/platform/runtime_host.hpp"

#if RG_PLATFORM_CUDA
#include "raggedgemm/platform/runtime_cuda.hpp"
#elif RG_PLATFORM_HIP
#include "raggedgemm/platform/runtime_hip.hpp"
#endif

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace runtime {

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP
inline constexpr bool has_gpu_platform = true;
namespace native = gpu;
#else
inline constexpr bool has_gpu_platform = false;
namespace native = host;
#endif

}  // namespace runtime
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
