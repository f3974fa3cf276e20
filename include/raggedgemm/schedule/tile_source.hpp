// SPDX-License-Identifier: Apache-2.0
// Tile sources: which tile ids a block works on, in increasing order.
#pragma once

#include <atomic>

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {

/// Block b of `blocks` takes tiles b, b + blocks, …: no counter, no atomics.
class RoundRobin {
 public:
  RG_HOST_DEVICE RoundRobin(offset_t block, offset_t blocks) : next_(block), step_(blocks) {}
  RG_HOST_DEVICE offset_t next() {
    const offset_t tile = next_;
    next_ += step_;
    return tile;
  }

 private:
  offset_t next_;
  offset_t step_;
};

/// Host blocks take the next tile that nobody has: threads of unequal speed end together.
class SharedCounter {
 public:
  explicit SharedCounter(std::atomic<offset_t>& counter) : counter_(counter) {}
  offset_t next() { return counter_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<offset_t>& counter_;
};

}  // namespace RG_PLATFORM
}  // namespace raggedgemm
