// SPDX-License-Identifier: Apache-2.0
// The host runtime: memory, copies, time and blocks on the CPU, under the names that
// runtime_cuda.hpp and runtime_hip.hpp give them for a GPU. Everything happens at once.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>

#include "raggedgemm/base/status.hpp"
#include "raggedgemm/platform/arch.hpp"
#include "raggedgemm/platform/thread_pool.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace runtime::host {

inline constexpr Platform platform = Platform::host;

/// The CPU as a device: `multiprocessors` is the number of threads.
inline Result<Device> device() noexcept {
  Device device;
  device.multiprocessors = thread_count();
  std::snprintf(device.name, sizeof device.name, "CPU, %d threads", device.multiprocessors);
  return device;
}

inline void* allocate(std::size_t bytes) noexcept {
  return ::operator new (bytes == 0 ? 1 : bytes, std::align_val_t{256}, std::nothrow);
}
inline void release(void* memory) noexcept { ::operator delete (memory, std::align_val_t{256}); }

inline Status copy_to_device(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(to, from, bytes);
  return {};
}
inline Status copy_to_host(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes != 0) std::memcpy(to, from, bytes);
  return {};
}
inline Status fill(void* memory, int byte, std::size_t bytes) noexcept {
  if (bytes != 0) std::memset(memory, byte, bytes);
  return {};
}
inline Status synchronize() noexcept { return {}; }

/// A stream; the host has no other than the calling thread.
class Stream {
 public:
  [[nodiscard]] static void* get() { return nullptr; }
  [[nodiscard]] static Status synchronize() { return {}; }
};

/// Time between two points of a stream, in microseconds.
class Stopwatch {
 public:
  void start(void* /*stream*/) { start_ = Clock::now(); }
  void stop(void* /*stream*/) { stop_ = Clock::now(); }
  double microseconds() {
    return std::chrono::duration<double, std::micro>(stop_ - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_;
  Clock::time_point stop_;
};

}  // namespace runtime::host
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
