// SPDX-License-Identifier: Apache-2.0
// What tests need of CUDA and HIP beyond the library's own runtime: graphs, free memory, devices.
// Empty on the host.
#pragma once

#include <cstddef>

#include "raggedgemm/platform/runtime.hpp"

namespace support::gpu {

#if RG_PLATFORM_CUDA

using StreamHandle = cudaStream_t;

inline int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}
inline bool use_device(int ordinal) { return cudaSetDevice(ordinal) == cudaSuccess; }

/// Whether the current device reads ordinary host memory.
inline bool reads_pageable_memory() {
  int device = 0;
  int value = 0;
  return cudaGetDevice(&device) == cudaSuccess &&
         cudaDeviceGetAttribute(&value, cudaDevAttrPageableMemoryAccess, device) == cudaSuccess &&
         value != 0;
}

inline std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
}

/// Work captured from a stream, to be launched again and again.
class Graph {
 public:
  ~Graph() {
    if (exec_ != nullptr) static_cast<void>(cudaGraphExecDestroy(exec_));
    if (graph_ != nullptr) static_cast<void>(cudaGraphDestroy(graph_));
  }
  /// In the mode that refuses every call of the process that a capture cannot hold.
  bool begin(StreamHandle stream) {
    stream_ = stream;
    return cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess;
  }
  /// False when something in between could not be captured.
  bool end() {
    const bool captured = cudaStreamEndCapture(stream_, &graph_) == cudaSuccess &&
                          graph_ != nullptr &&
                          cudaGraphInstantiateWithFlags(&exec_, graph_, 0) == cudaSuccess;
    if (!captured) static_cast<void>(cudaGetLastError());
    return captured;
  }
  bool launch() {
    return cudaGraphLaunch(exec_, stream_) == cudaSuccess &&
           cudaStreamSynchronize(stream_) == cudaSuccess;
  }

 private:
  StreamHandle stream_ = nullptr;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
};

#elif RG_PLATFORM_HIP

using StreamHandle = hipStream_t;

inline int device_count() {
  int count = 0;
  return hipGetDeviceCount(&count) == hipSuccess ? count : 0;
}
inline bool use_device(int ordinal) { return hipSetDevice(ordinal) == hipSuccess; }

inline bool reads_pageable_memory() {
  int device = 0;
  int value = 0;
  return hipGetDevice(&device) == hipSuccess &&
         hipDeviceGetAttribute(&value, hipDeviceAttributePageableMemoryAccess, device) ==
             hipSuccess &&
         value != 0;
}

inline std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  return hipMemGetInfo(&free, &total) == hipSuccess ? free : 0;
}

class Graph {
 public:
  ~Graph() {
    if (exec_ != nullptr) static_cast<void>(hipGraphExecDestroy(exec_));
    if (graph_ != nullptr) static_cast<void>(hipGraphDestroy(graph_));
  }
  bool begin(StreamHandle stream) {
    stream_ = stream;
    return hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal) == hipSuccess;
  }
  bool end() {
    const bool captured = hipStreamEndCapture(stream_, &graph_) == hipSuccess &&
                          graph_ != nullptr &&
                          hipGraphInstantiate(&exec_, graph_, nullptr, nullptr, 0) == hipSuccess;
    if (!captured) static_cast<void>(hipGetLastError());
    return captured;
  }
  bool launch() {
    return hipGraphLaunch(exec_, stream_) == hipSuccess &&
           hipStreamSynchronize(stream_) == hipSuccess;
  }

 private:
  StreamHandle stream_ = nullptr;
  hipGraph_t graph_ = nullptr;
  hipGraphExec_t exec_ = nullptr;
};

#endif

}  // namespace support::gpu
