// SPDX-License-Identifier: Apache-2.0
// What the programs that check kernels on one GPU have in common: errors, memory, values, a cold
// L2.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

inline void require(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("FAILED: %s: %s\n", what, cudaGetErrorString(error));
  std::fflush(stdout);
  std::exit(2);
}

/// Device memory of some elements.
template <class T>
class Buffer {
 public:
  template <std::integral Int>
  explicit Buffer(Int elems) : elems_(static_cast<std::size_t>(elems)) {
    require(cudaMalloc(&data_, std::max<std::size_t>(elems_, 8) * sizeof(T)), "cudaMalloc");
  }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) {
    require(cudaMemcpy(data_, values.data(), bytes(), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  ~Buffer() { static_cast<void>(cudaFree(data_)); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return static_cast<T*>(data_); }
  void fill(int byte) { require(cudaMemset(data_, byte, bytes()), "cudaMemset"); }
  std::size_t elems() const { return elems_; }
  std::size_t bytes() const { return elems_ * sizeof(T); }

 private:
  void* data_ = nullptr;
  std::size_t elems_;
};

/// In [-1, 1), the same for the same arguments.
__host__ __device__ inline float noise(std::uint64_t i, std::uint32_t seed) {
  std::uint64_t x = (i + 1) * 0x9E3779B97F4A7C15ULL + seed * 0xD1B54A32D192ED03ULL;
  x ^= x >> 32;
  x *= 0xD6E8FEB86659FD93ULL;
  x ^= x >> 32;
  return static_cast<float>(static_cast<std::int32_t>(x)) * 0x1p-31F;
}

/// Reads `memory`, which is larger than L2.
static __global__ void evict(const uint4* memory, std::size_t elems, std::uint32_t* sink) {
  std::uint32_t sum = 0;
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < elems;
       i += std::size_t{gridDim.x} * blockDim.x)
    sum ^= memory[i].x ^ memory[i].y ^ memory[i].z ^ memory[i].w;
  if (sum == 0x12345678U) *sink = sum;
}
