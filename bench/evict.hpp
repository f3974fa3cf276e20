// SPDX-License-Identifier: Apache-2.0
// Evict: pushes a call's operands out of the caches before the next timed call, by reading a buffer
// of twice the last-level cache. Reading leaves no dirty lines whose write-back a call would pay.
#pragma once

#include "buffer.hpp"

namespace raggedgemm::bench {

class Evict {
 public:
  /// Empty (and run() does nothing) if the memory is not there.
  static Evict make();

  /// Enqueues the reads on the default stream.
  Status run() const;

  [[nodiscard]] std::int64_t bytes() const { return buffer_.bytes(); }

 private:
  Buffer buffer_;
};

}  // namespace raggedgemm::bench
