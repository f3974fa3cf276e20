// SPDX-License-Identifier: Apache-2.0
// Every macro of the library: which platform compiles this file, and the function annotations.
// No other header defines one; user switches start with RAGGEDGEMM_.
#pragma once

// The platform is chosen by the compiler: hipcc or `-x hip`, nvcc, or any other C++20 compiler.
#if defined(__HIP__) || defined(__HIPCC__)
#define RG_PLATFORM_HIP 1
#define RG_PLATFORM_CUDA 0
#elif defined(__CUDACC__)
#define RG_PLATFORM_HIP 0
#define RG_PLATFORM_CUDA 1
#else
#define RG_PLATFORM_HIP 0
#define RG_PLATFORM_CUDA 0
#endif

// Code that differs between platforms lives in an inline namespace of its own, hidden from the
// dynamic linker: a g++ .cpp and an nvcc .cu of one program must not have their inline functions
// merged by link order.
// Sources that leave kernels to raggedgemm::compiled differ from header-only ones, too.
#if defined(RAGGEDGEMM_COMPILED)
#define RG_PLATFORM [[gnu::visibility("hidden")]] compiled_kernels
#elif RG_PLATFORM_HIP
#define RG_PLATFORM [[gnu::visibility("hidden")]] hip
#elif RG_PLATFORM_CUDA
#define RG_PLATFORM [[gnu::visibility("hidden")]] cuda
#else
#define RG_PLATFORM [[gnu::visibility("hidden")]] host
#endif

#if RG_PLATFORM_HIP || RG_PLATFORM_CUDA
#define RG_HOST_DEVICE __host__ __device__
#define RG_DEVICE __device__
#define RG_KERNEL __global__
#define RG_LAUNCH_BOUNDS(lanes) __launch_bounds__(lanes, 1)
#else
#define RG_HOST_DEVICE
#define RG_DEVICE
#define RG_KERNEL
#define RG_LAUNCH_BOUNDS(lanes)
#endif

#if RG_PLATFORM_CUDA
// Large parameters stay in constant memory; tensor maps must.
#define RG_GRID_CONSTANT __grid_constant__
// One text serves device lanes and the one-lane host block; which of the two a template calls is
// decided by its arguments, so the check for host calls in `__host__ __device__` code is off there.
#define RG_EXEC_CHECK_DISABLE _Pragma("nv_exec_check_disable")
#else
#define RG_GRID_CONSTANT
#define RG_EXEC_CHECK_DISABLE
#endif

#if defined(__GNUC__) || defined(__clang__)
#define RG_RESTRICT __restrict__
#define RG_FORCE_INLINE inline __attribute__((always_inline))
#else
#define RG_RESTRICT
#define RG_FORCE_INLINE inline
#endif

// Whether the host's inner loops may use x86 vector instructions, chosen at run time.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define RG_HOST_X86 1
#else
#define RG_HOST_X86 0
#endif

// A loop that must be unrolled in device code: register arrays need constant indices. In nvcc's
// host pass nothing will do: its front end does not know GCC's pragma, nor GCC the front end's.
#if RG_PLATFORM_CUDA && !defined(__CUDA_ARCH__) && !defined(__clang__)
#define RG_UNROLL
#elif RG_PLATFORM_CUDA || RG_PLATFORM_HIP || defined(__clang__)
#define RG_UNROLL _Pragma("unroll")
#elif defined(__GNUC__)
#define RG_UNROLL _Pragma("GCC unroll 64")
#else
#define RG_UNROLL
#endif

// A loop of device code whose loads should be in flight four at a time.
#if (RG_PLATFORM_CUDA && defined(__CUDA_ARCH__)) || RG_PLATFORM_HIP
#define RG_UNROLL_BY_4 _Pragma("unroll 4")
#else
#define RG_UNROLL_BY_4
#endif

// A loop of device code that must stay rolled, for the size of the code.
#if (RG_PLATFORM_CUDA && defined(__CUDA_ARCH__)) || RG_PLATFORM_HIP
#define RG_NO_UNROLL _Pragma("unroll 1")
#else
#define RG_NO_UNROLL
#endif
