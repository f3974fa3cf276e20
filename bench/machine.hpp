// SPDX-License-Identifier: Apache-2.0
// What the machine is: name, free memory, last-level cache; asked of the vendor's runtime.
// The one header of the bench, beside the vendor BLAS, that knows the platforms apart.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "raggedgemm/platform/runtime.hpp"
#include "raggedgemm/version.hpp"

namespace raggedgemm::bench {

/// The runtime that every buffer, copy and clock of the bench comes from.
namespace device = runtime::native;

inline constexpr bool on_gpu = runtime::has_gpu_platform;

/// Bytes that can still be allocated on the device; 0 when that is not known.
inline std::int64_t free_memory_bytes() {
#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
#if RG_PLATFORM_CUDA
  const bool good = cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess;
#else
  const bool good = hipMemGetInfo(&free_bytes, &total_bytes) == hipSuccess;
#endif
  return good ? static_cast<std::int64_t>(free_bytes) : 0;
#else
  std::ifstream file("/proc/meminfo");
  std::string word;
  std::int64_t kib = 0;
  while (file >> word)
    if (word == "MemAvailable:" && file >> kib) return kib * 1024;
  return 0;
#endif
}

inline std::string machine_name() {
#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP
  return device::device_name();
#else
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  return "CPU";
#endif
}

/// Bytes of the last cache before memory, or a generous guess. MI300's runtime reports its L2, not
/// the 256 MiB behind it, so the guess is also the least answer on a GPU.
inline std::int64_t last_level_cache_bytes() {
#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP
  constexpr std::int64_t guess = std::int64_t{RG_PLATFORM_HIP ? 256 : 64} << 20;
  const Result<Device> found = device::device();
  const std::int64_t known = found.ok() ? found.value().last_level_cache_bytes : 0;
#else
  // Not sysconf: it answers for the whole socket, of which a virtual machine may have a part.
  constexpr std::int64_t guess = std::int64_t{32} << 20;
  std::ifstream file("/sys/devices/system/cpu/cpu0/cache/index3/size");  // "32768K"
  std::int64_t known = 0;
  if (file >> known) known *= 1024;
#endif
  return known > guess ? known : guess;
}

inline std::string compiler_name() {
#if defined(__CUDACC_VER_MAJOR__)
  return "nvcc " + std::to_string(__CUDACC_VER_MAJOR__) + "." +
         std::to_string(__CUDACC_VER_MINOR__);
#elif defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "g++ " __VERSION__;
#else
  return "unknown";
#endif
}

}  // namespace raggedgemm::bench
