// SPDX-License-Identifier: Apache-2.0
// The reading loop of Evict.
// Every word is read and compared, so that no compiler drops the loads.
#include "evict.hpp"

#include "device_loop.hpp"

namespace raggedgemm::bench {

namespace {

/// Sums a run of words; the buffer holds zeros, so that nothing is ever stored.
struct ReadRun {
  std::uint64_t* words;
  RG_HOST_DEVICE void operator()(offset_t i) const {
    constexpr offset_t run = on_gpu ? 1 : 512;  // neighbouring lanes read neighbouring words
    std::uint64_t sum = 0;
    for (offset_t j = 0; j < run; ++j) sum += words[i * run + j];
    if (sum != 0) words[i * run] = 0;
  }
};

}  // namespace

Evict Evict::make() {
  Evict evict;
  evict.buffer_ = Buffer::make(2.0 * static_cast<double>(last_level_cache_bytes()));
  if (evict.buffer_)
    static_cast<void>(
        device::fill(evict.buffer_.data(), 0, static_cast<std::size_t>(evict.buffer_.bytes())));
  return evict;
}

Status Evict::run() const {
  if (!buffer_) return {};
  constexpr offset_t bytes_of_run = (on_gpu ? 1 : 512) * 8;
  return for_each_index(buffer_.bytes() / bytes_of_run,
                        ReadRun{static_cast<std::uint64_t*>(buffer_.data())});
}

}  // namespace raggedgemm::bench
