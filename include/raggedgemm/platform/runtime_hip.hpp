// SPDX-License-Identifier: Apache-2.0
// The HIP runtime under the library's names. Only compiled by hipcc or clang -x hip.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "raggedgemm/base/status.hpp"
#include "raggedgemm/platform/arch.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace runtime::gpu {

inline constexpr Platform platform = Platform::hip;

/// ok, or vendor_error with the runtime's number; the runtime's own last error is cleared so that
/// the next call starts clean.
inline Status status_of(hipError_t error, const char* operation) noexcept {
  if (error == hipSuccess) return {};
  static_cast<void>(hipGetLastError());
  return {StatusCode::vendor_error, operation, error, hipSuccess, hipGetErrorString(error)};
}

/// `name` is the target as the runtime spells it, "gfx942:sramecc+:xnack-".
inline Arch arch_of(const char* name) noexcept {
  if (std::strncmp(name, "gfx942", 6) == 0) return Arch::gfx942;
  if (std::strncmp(name, "gfx950", 6) == 0) return Arch::gfx950;
  return Arch::gfx9;
}

/// The calling thread's current device.
/// Errors: no_device. Cost: property queries, once a device; no synchronisation, legal during
/// capture.
inline Result<Device> device() noexcept {
  int ordinal = 0;
  if (hipGetDevice(&ordinal) != hipSuccess) {
    static_cast<void>(hipGetLastError());
    return Status{StatusCode::no_device, "hip device", 0, 1, "this process sees no HIP device"};
  }
  constexpr int cached = 64;
  static Device cache[cached];
  static std::once_flag filled[cached];
  const auto query = [&](Device& d) {
    const auto attribute = [&](hipDeviceAttribute_t which) {
      int value = 0;
      static_cast<void>(hipDeviceGetAttribute(&value, which, ordinal));
      return value;
    };
    hipDeviceProp_t properties{};
    static_cast<void>(hipGetDeviceProperties(&properties, ordinal));
    d.platform = Platform::hip;
    d.arch = arch_of(properties.gcnArchName);
    d.ordinal = ordinal;
    d.multiprocessors = properties.multiProcessorCount;
    d.chiplets = max_of(index_t{1}, index_t{attribute(hipDeviceAttributeNumberOfXccs)});
    d.shared_bytes = static_cast<std::int64_t>(properties.sharedMemPerBlock);
    d.last_level_cache_bytes = properties.l2CacheSize;
    std::snprintf(d.name, sizeof d.name, "HIP device %d (%.40s)", ordinal, properties.gcnArchName);
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
  hipDeviceProp_t properties{};
  if (hipGetDevice(&ordinal) != hipSuccess ||
      hipGetDeviceProperties(&properties, ordinal) != hipSuccess)
    return "no HIP device";
  return properties.name;
}

/// Refuses memory that the current device cannot read: an ordinary host pointer on a device without
/// access to pageable memory, or another device's memory without peer access. Null passes.
/// Errors: not_device_memory, wrong_device. Cost: pointer attributes, no device work.
inline Status check_readable(const char* operand, const void* pointer) noexcept {
  if (pointer == nullptr) return {};
  hipPointerAttribute_t attributes{};
  int current = 0;
  if (hipPointerGetAttributes(&attributes, pointer) != hipSuccess ||
      hipGetDevice(&current) != hipSuccess) {
    static_cast<void>(hipGetLastError());
    attributes.type = hipMemoryTypeUnregistered;
  }
  if (attributes.type == hipMemoryTypeUnregistered) {
    int pageable = 0;
    static_cast<void>(
        hipDeviceGetAttribute(&pageable, hipDeviceAttributePageableMemoryAccess, current));
    if (pageable != 0) return {};
    return {StatusCode::not_device_memory,
            operand,
            0,
            1,
            "the device cannot read this host memory; copy it to the device"};
  }
  if (attributes.type == hipMemoryTypeDevice && attributes.device != current) {
    int peer = 0;
    static_cast<void>(hipDeviceCanAccessPeer(&peer, current, attributes.device));
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
  hipFuncAttributes attributes{};
  if (hipFuncGetAttributes(&attributes, kernel) != hipSuccess) {
    static_cast<void>(hipGetLastError());
    return -1;
  }
  return static_cast<std::int64_t>(attributes.sharedSizeBytes);
}

/// Blocks of the kernel that one multiprocessor holds at a time; also raises its shared memory
/// limit. 0 when it cannot run at all.
inline index_t occupancy(const void* kernel, index_t lanes, std::size_t shared_bytes) noexcept {
  int blocks = 0;
  if (hipFuncSetAttribute(kernel,
                          hipFuncAttributeMaxDynamicSharedMemorySize,
                          static_cast<int>(shared_bytes)) != hipSuccess ||
      hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, lanes, shared_bytes) !=
          hipSuccess) {
    static_cast<void>(hipGetLastError());
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
  return status_of(hipLaunchKernel(kernel,
                                   dim3(static_cast<unsigned>(blocks)),
                                   dim3(static_cast<unsigned>(lanes)),
                                   parameters,
                                   shared_bytes,
                                   static_cast<hipStream_t>(stream)),
                   "kernel launch");
}

/// launch() of a kernel that reads what the one before it on the stream writes.
inline Status launch_dependent(const void* kernel,
                               index_t blocks,
                               index_t lanes,
                               std::size_t shared_bytes,
                               void** parameters,
                               void* stream) noexcept {
  return launch(kernel, blocks, lanes, shared_bytes, parameters, stream);
}

inline void* allocate(std::size_t bytes) noexcept {
  void* memory = nullptr;
  if (hipMalloc(&memory, bytes == 0 ? 1 : bytes) != hipSuccess) {
    static_cast<void>(hipGetLastError());
    return nullptr;
  }
  return memory;
}
inline void release(void* memory) noexcept { static_cast<void>(hipFree(memory)); }

inline Status copy_to_device(void* to, const void* from, std::size_t bytes) noexcept {
  return status_of(hipMemcpy(to, from, bytes, hipMemcpyHostToDevice), "copy to device");
}
inline Status copy_to_host(void* to, const void* from, std::size_t bytes) noexcept {
  return status_of(hipMemcpy(to, from, bytes, hipMemcpyDeviceToHost), "copy to host");
}
inline Status fill(void* memory, int byte, std::size_t bytes) noexcept {
  return status_of(hipMemset(memory, byte, bytes), "fill");
}
inline Status synchronize() noexcept { return status_of(hipDeviceSynchronize(), "synchronize"); }

/// A stream of the current device, destroyed with the object. `get()` is what Options::stream
/// takes.
class Stream {
 public:
  Stream() { static_cast<void>(hipStreamCreateWithFlags(&stream_, hipStreamNonBlocking)); }
  ~Stream() { static_cast<void>(hipStreamDestroy(stream_)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  [[nodiscard]] hipStream_t get() const { return stream_; }
  [[nodiscard]] Status synchronize() const {
    return status_of(hipStreamSynchronize(stream_), "synchronize");
  }

 private:
  hipStream_t stream_ = nullptr;
};

/// Time between two points of a stream, in microseconds.
class Stopwatch {
 public:
  Stopwatch() {
    static_cast<void>(hipEventCreate(&start_));
    static_cast<void>(hipEventCreate(&stop_));
  }
  ~Stopwatch() {
    static_cast<void>(hipEventDestroy(start_));
    static_cast<void>(hipEventDestroy(stop_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  void start(void* stream) {
    static_cast<void>(hipEventRecord(start_, static_cast<hipStream_t>(stream)));
  }
  void stop(void* stream) {
    static_cast<void>(hipEventRecord(stop_, static_cast<hipStream_t>(stream)));
  }
  double microseconds() {
    float milliseconds = 0;
    static_cast<void>(hipEventSynchronize(stop_));
    static_cast<void>(hipEventElapsedTime(&milliseconds, start_, stop_));
    return 1e3 * static_cast<double>(milliseconds);
  }

 private:
  hipEvent_t start_ = nullptr;
  hipEvent_t stop_ = nullptr;
};

}  // namespace runtime::gpu
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
