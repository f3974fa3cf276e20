// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime under the library's names. Only compiled by nvcc.
#pragma once

#include <cuda_runtime.h>

#include <cstdio>
#include <mutex>
#include <string>

#include "raggedgemm/base/status.hpp"
#include "raggedgemm/platform/arch.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace runtime::gpu {

inline constexpr Platform platform = Platform::cuda;

/// ok, or vendor_error with the runtime's number; the runtime's own last error is cleared so that
/// the next call starts clean.
inline Status status_of(cudaError_t error, const char* operation) noexcept {
  if (error == cudaSuccess) return {};
  static_cast<void>(cudaGetLastError());
  return {StatusCode::vendor_error, operation, error, cudaSuccess, cudaGetErrorString(error)};
}

constexpr Arch arch_of(int major, int minor) noexcept {
  if (major == 9 && minor == 0) return Arch::sm90;
  return major >= 8 ? Arch::sm80 : Arch::sm70;
}

/// The calling thread's current device.
/// Errors: no_device. Cost: attribute queries only; no synchronisation, legal during capture.
inline Result<Device> device() noexcept {
  int ordinal = 0;
  if (cudaGetDevice(&ordinal) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return Status{StatusCode::no_device, "cuda device", 0, 1, "this process sees no CUDA device"};
  }
  constexpr int cached = 64;
  static Device cache[cached];
  static std::once_flag filled[cached];
  const auto query = [&](Device& d) {
    const auto attribute = [&](cudaDeviceAttr which) {
      int value = 0;
      static_cast<void>(cudaDeviceGetAttribute(&value, which, ordinal));
      return value;
    };
    const int major = attribute(cudaDevAttrComputeCapabilityMajor);
    const int minor = attribute(cudaDevAttrComputeCapabilityMinor);
    d.platform = Platform::cuda;
    d.arch = arch_of(major, minor);
    d.ordinal = ordinal;
    d.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
    d.shared_bytes = attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    d.last_level_cache_bytes = attribute(cudaDevAttrL2CacheSize);
    std::snprintf(d.name, sizeof d.name, "CUDA device %d (sm_%d%d)", ordinal, major, minor);
  };
  if (ordinal >= cached) {
    Device fresh;
    query(fresh);
    return fresh;
  }
  std::call_once(filled[ordinal], [&] { query(cache[ordinal]); });
  return cache[ordinal];
}

/// The marketing name of the current device, for reports.
inline std::string device_name() {
  int ordinal = 0;
  cudaDeviceProp properties{};
  if (cudaGetDevice(&ordinal) != cudaSuccess ||
      cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess)
    return "no CUDA device";
  return properties.name;
}

/// Refuses memory that the current device cannot read: an ordinary host pointer on a device without
/// access to pageable memory, or another device's memory without peer access. Null passes.
/// Errors: not_device_memory, wrong_device. Cost: pointer attributes, no device work.
inline Status check_readable(const char* operand, const void* pointer) noexcept {
  if (pointer == nullptr) return {};
  cudaPointerAttributes attributes{};
  int current = 0;
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess ||
      cudaGetDevice(&current) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    attributes.type = cudaMemoryTypeUnregistered;
  }
  if (attributes.type == cudaMemoryTypeUnregistered) {
    int pageable = 0;
    static_cast<void>(cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, current));
    if (pageable != 0) return {};
    return {StatusCode::not_device_memory,
            operand,
            0,
            1,
            "the device cannot read this host memory; copy it to the device"};
  }
  if (attributes.type == cudaMemoryTypeDevice && attributes.device != current) {
    int peer = 0;
    static_cast<void>(cudaDeviceCanAccessPeer(&peer, current, attributes.device));
    if (peer == 0)
      return {StatusCode::wrong_device,
              operand,
              attributes.device,
              current,
              "the memory belongs to another device than the current one"};
  }
  return {};
}

/// Static shared memory of a kernel's code for the current device, or -1 when the binary has none.
inline std::int64_t static_shared_bytes(const void* kernel) noexcept {
  cudaFuncAttributes attributes{};
  if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return -1;
  }
  return static_cast<std::int64_t>(attributes.sharedSizeBytes);
}

/// Blocks of the kernel that one multiprocessor holds at a time; also raises its shared memory
/// limit. 0 when it cannot run at all.
inline index_t occupancy(const void* kernel, index_t lanes, std::size_t shared_bytes) noexcept {
  int blocks = 0;
  if (cudaFuncSetAttribute(kernel,
                           cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(shared_bytes)) != cudaSuccess ||
      cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, lanes, shared_bytes) !=
          cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return 0;
  }
  return blocks;
}

inline Status launch(const void* kernel,
                     index_t blocks,
                     index_t lanes,
                     std::size_t shared_bytes,
                     void** parameters,
                     void* stream) noexcept {
  return status_of(cudaLaunchKernel(kernel,
                                    dim3(static_cast<unsigned>(blocks)),
                                    dim3(static_cast<unsigned>(lanes)),
                                    parameters,
                                    shared_bytes,
                                    static_cast<cudaStream_t>(stream)),
                   "kernel launch");
}

/// launch() of a kernel that may begin before the one that the stream has launched last has ended;
/// it must have code of its own for Hopper or later, and wait itself for what that one writes
/// (arch/simt/dependent_launch.hpp).
inline Status launch_dependent(const void* kernel,
                               index_t blocks,
                               index_t lanes,
                               std::size_t shared_bytes,
                               void** parameters,
                               void* stream) noexcept {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(static_cast<unsigned>(lanes));
  config.dynamicSmemBytes = shared_bytes;
  config.stream = static_cast<cudaStream_t>(stream);
  config.attrs = &early;
  config.numAttrs = 1;
  return status_of(cudaLaunchKernelExC(&config, kernel, parameters), "kernel launch");
}

inline void* allocate(std::size_t bytes) noexcept {
  void* memory = nullptr;
  if (cudaMalloc(&memory, bytes == 0 ? 1 : bytes) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return nullptr;
  }
  return memory;
}
inline void release(void* memory) noexcept { static_cast<void>(cudaFree(memory)); }

inline Status copy_to_device(void* to, const void* from, std::size_t bytes) noexcept {
  return status_of(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copy to device");
}
inline Status copy_to_host(void* to, const void* from, std::size_t bytes) noexcept {
  return status_of(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copy to host");
}
inline Status fill(void* memory, int byte, std::size_t bytes) noexcept {
  return status_of(cudaMemset(memory, byte, bytes), "fill");
}
inline Status synchronize() noexcept { return status_of(cudaDeviceSynchronize(), "synchronize"); }

/// A stream of the current device, destroyed with the object. `get()` is what Options::stream
/// takes.
class Stream {
 public:
  Stream() { static_cast<void>(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  [[nodiscard]] cudaStream_t get() const { return stream_; }
  [[nodiscard]] Status synchronize() const {
    return status_of(cudaStreamSynchronize(stream_), "synchronize");
  }

 private:
  cudaStream_t stream_ = nullptr;
};

/// Time between two points of a stream, in microseconds.
class Stopwatch {
 public:
  Stopwatch() {
    static_cast<void>(cudaEventCreate(&start_));
    static_cast<void>(cudaEventCreate(&stop_));
  }
  ~Stopwatch() {
    static_cast<void>(cudaEventDestroy(start_));
    static_cast<void>(cudaEventDestroy(stop_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  void start(void* stream) {
    static_cast<void>(cudaEventRecord(start_, static_cast<cudaStream_t>(stream)));
  }
  void stop(void* stream) {
    static_cast<void>(cudaEventRecord(stop_, static_cast<cudaStream_t>(stream)));
  }
  double microseconds() {
    float milliseconds = 0;
    static_cast<void>(cudaEventSynchronize(stop_));
    static_cast<void>(cudaEventElapsedTime(&milliseconds, start_, stop_));
    return 1e3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

}  // namespace runtime::gpu
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
