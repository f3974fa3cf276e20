// SPDX-License-Identifier: Apache-2.0
// Loops over device memory with one body for all platforms: threads on the host, a grid-stride
// kernel on a GPU. The bench's own kernels: filling, evicting, expanding and gathering rows.
#pragma once

#include <algorithm>
#include <cstring>

#include "machine.hpp"

namespace raggedgemm::bench {

/// Where a row is copied from and to. No `from`: the row is set to zero. No `to`: it is skipped.
struct RowCopy {
  void* to = nullptr;
  const void* from = nullptr;
};

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP

template <class Body>
RG_KERNEL void each_index_kernel(Body body, offset_t count) {
  const offset_t step = static_cast<offset_t>(gridDim.x) * blockDim.x;
  for (offset_t i = static_cast<offset_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    body(i);
}

struct alignas(16) Word16 {
  std::uint64_t half[2];
};

template <class Word, class RowOf>
RG_KERNEL void copy_rows_kernel(RowOf row_of, offset_t rows, offset_t words) {
  for (offset_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const RowCopy copy = row_of(row);
    if (copy.to == nullptr) continue;
    Word* const to = static_cast<Word*>(copy.to);
    const Word* const from = static_cast<const Word*>(copy.from);
    for (offset_t i = threadIdx.x; i < words; i += blockDim.x)
      to[i] = from != nullptr ? from[i] : Word{};
  }
}

/// body(0) … body(count - 1), in any order, on the default stream.
template <class Body>
Status for_each_index(offset_t count, Body body) {
  if (count <= 0) return {};
  constexpr offset_t most_blocks = 1 << 14;
  const offset_t blocks = min_of(ceil_div(count, offset_t{256}), most_blocks);
  void* parameters[] = {&body, &count};
  return device::launch(reinterpret_cast<const void*>(&each_index_kernel<Body>),
                        static_cast<index_t>(blocks),
                        256,
                        0,
                        parameters,
                        nullptr);
}

template <class Word, class RowOf>
Status copy_rows_by(offset_t rows, offset_t row_bytes, RowOf row_of) {
  offset_t words = row_bytes / static_cast<offset_t>(sizeof(Word));
  index_t lanes = 64;
  while (lanes < 256 && lanes < words) lanes *= 2;
  void* parameters[] = {&row_of, &rows, &words};
  return device::launch(reinterpret_cast<const void*>(&copy_rows_kernel<Word, RowOf>),
                        static_cast<index_t>(min_of(rows, offset_t{1} << 16)),
                        lanes,
                        0,
                        parameters,
                        nullptr);
}

/// Copies (or clears) the rows that row_of(0) … row_of(rows - 1) name.
/// Requires: rows begin at multiples of row_bytes from a 256-byte aligned address.
template <class RowOf>
Status copy_rows(offset_t rows, offset_t row_bytes, RowOf row_of) {
  if (rows <= 0 || row_bytes <= 0) return {};
  if (row_bytes % 16 == 0) return copy_rows_by<Word16>(rows, row_bytes, row_of);
  if (row_bytes % 4 == 0) return copy_rows_by<std::uint32_t>(rows, row_bytes, row_of);
  return copy_rows_by<std::uint16_t>(rows, row_bytes, row_of);
}

#else

/// One contiguous run of indices a thread.
template <class Body>
Status for_each_run(offset_t count, const Body& body) {
  struct Job {
    const Body& body;
    offset_t count;
    offset_t run;
    static void call(void* context, index_t block) {
      const Job& job = *static_cast<const Job*>(context);
      const offset_t begin = min_of(block * job.run, job.count);
      job.body(begin, min_of(begin + job.run, job.count));
    }
  };
  const index_t blocks = runtime::host::thread_count();
  Job job{body, count, ceil_div(count, offset_t{blocks})};
  runtime::host::ThreadPool::instance().run(blocks, &Job::call, &job);
  return {};
}

template <class Body>
Status for_each_index(offset_t count, const Body& body) {
  return for_each_run(count, [&](offset_t begin, offset_t end) {
    for (offset_t i = begin; i < end; ++i) body(i);
  });
}

template <class RowOf>
Status copy_rows(offset_t rows, offset_t row_bytes, const RowOf& row_of) {
  return for_each_run(rows, [&](offset_t begin, offset_t end) {
    for (offset_t row = begin; row < end; ++row) {
      const RowCopy copy = row_of(row);
      if (copy.to == nullptr) continue;
      if (copy.from != nullptr)
        std::memcpy(copy.to, copy.from, static_cast<std::size_t>(row_bytes));
      else
        std::memset(copy.to, 0, static_cast<std::size_t>(row_bytes));
    }
  });
}

#endif

/// Row i of one dense array to row i of another; without `from`, zeros.
struct DenseRows {
  char* to;
  const char* from;
  offset_t row_bytes;
  RG_HOST_DEVICE RowCopy operator()(offset_t row) const {
    return {to + row * row_bytes, from != nullptr ? from + row * row_bytes : nullptr};
  }
};

}  // namespace raggedgemm::bench
