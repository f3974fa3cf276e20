// SPDX-License-Identifier: Apache-2.0
// Buffer: device memory that gives itself back, and that says no before the machine is full.
// A null buffer is how every "OOM" of the bench begins.
#pragma once

#include <utility>

#include "machine.hpp"

namespace raggedgemm::bench {

/// Whether an allocation of this many bytes would leave a tenth of what is free now.
inline bool fits_in_memory(double wanted_bytes) {
  const double free_bytes = static_cast<double>(free_memory_bytes());
  return free_bytes <= 0 || wanted_bytes <= 0.9 * free_bytes;
}

/// Device memory, 256-byte aligned. `make` returns an empty buffer when the runtime has none, or
/// when less than a tenth of what is free now would be left.
class Buffer {
 public:
  Buffer() = default;
  ~Buffer() { reset(); }
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  static Buffer make(double wanted_bytes) {
    Buffer buffer;
    if (!fits_in_memory(wanted_bytes)) return buffer;
    buffer.bytes_ = static_cast<std::int64_t>(wanted_bytes);
    buffer.data_ = device::allocate(static_cast<std::size_t>(buffer.bytes_));
    return buffer;
  }

  void reset() {
    if (data_ != nullptr) device::release(data_);
    data_ = nullptr;
    bytes_ = 0;
  }

  explicit operator bool() const { return data_ != nullptr; }
  [[nodiscard]] void* data() const { return data_; }
  [[nodiscard]] char* bytes_data() const { return static_cast<char*>(data_); }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

 private:
  void* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace raggedgemm::bench
