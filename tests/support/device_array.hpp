// SPDX-License-Identifier: Apache-2.0
// DeviceArray: memory of the platform under test with guard bytes on both sides. Guards, and every
// element not set, hold 0xFF: a NaN in each float type, so that a stray read shows in the result
// and a stray write in the guards. On the host under AddressSanitizer the guards may not even be
// read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "raggedgemm/platform/runtime.hpp"
#include "support/catch.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define SUPPORT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SUPPORT_ASAN 1
#endif
#endif
#if defined(SUPPORT_ASAN)
// Of <sanitizer/asan_interface.h>, which not every compiler package brings.
extern "C" void __asan_poison_memory_region(void const volatile* begin, std::size_t bytes);
extern "C" void __asan_unpoison_memory_region(void const volatile* begin, std::size_t bytes);
#endif

namespace support {

namespace runtime = raggedgemm::runtime::native;

/// REQUIRE, but for one expression: with Catch2 3, nvcc 13.0's front end does not end on a class
/// whose members hold several.
inline void require(bool holds, const char* what) {
  if (!holds) FAIL(what);
}

/// The bytes of an array. Not a template, and not inlined: one copy of this code is enough.
class DeviceBytes {
 public:
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;

  /// Whether no byte outside the elements has changed.
  [[nodiscard]] [[gnu::noinline]] bool guards_intact() {
    open_guards();
    std::vector<unsigned char> bytes(total_bytes_);
    const bool read = runtime::copy_to_host(bytes.data(), memory_, total_bytes_).ok();
    close_guards();
    if (!read) return false;
    const std::size_t back = front_bytes_ + bytes_;
    for (std::size_t i = 0; i < total_bytes_; ++i)
      if ((i < front_bytes_ || i >= back) && bytes[i] != 0xFF) return false;
    return true;
  }

 protected:
  [[gnu::noinline]] DeviceBytes(std::size_t bytes, std::size_t shift_bytes)
      : bytes_(bytes), front_bytes_(guard_bytes + shift_bytes) {
    total_bytes_ = front_bytes_ + bytes_ + guard_bytes;
    memory_ = static_cast<unsigned char*>(runtime::allocate(total_bytes_));
    require(memory_ != nullptr, "allocate");
    require(runtime::fill(memory_, 0xFF, total_bytes_).ok(), "fill");
    require(runtime::synchronize().ok(), "synchronize");
    close_guards();
  }
  [[gnu::noinline]] ~DeviceBytes() {
    open_guards();
    runtime::release(memory_);
  }

  [[nodiscard]] unsigned char* bytes() const { return memory_ + front_bytes_; }
  [[gnu::noinline]] void copy_from(const void* values, std::size_t count) {
    require(count == bytes_, "as many bytes as the array has");
    require(runtime::copy_to_device(bytes(), values, bytes_).ok(), "copy_to_device");
  }
  [[gnu::noinline]] void copy_to(void* values) const {
    require(runtime::copy_to_host(values, bytes(), bytes_).ok(), "copy_to_host");
  }

 private:
  static constexpr std::size_t guard_bytes = 512;  // a multiple of 256: alignment is kept

  void close_guards() {
#if defined(SUPPORT_ASAN)
    if (raggedgemm::runtime::has_gpu_platform) return;
    const std::size_t back = front_bytes_ + bytes_;
    __asan_poison_memory_region(memory_, front_bytes_);
    __asan_poison_memory_region(memory_ + back, total_bytes_ - back);
#endif
  }
  void open_guards() {
#if defined(SUPPORT_ASAN)
    if (!raggedgemm::runtime::has_gpu_platform)
      __asan_unpoison_memory_region(memory_, total_bytes_);
#endif
  }

  std::size_t bytes_;
  std::size_t front_bytes_;
  std::size_t total_bytes_ = 0;
  unsigned char* memory_ = nullptr;
};

template <class T>
class DeviceArray : public DeviceBytes {
 public:
  /// `elems` elements, all poison, starting `shift_elems` elements past a 256-byte boundary.
  explicit DeviceArray(std::size_t elems, std::size_t shift_elems = 0)
      : DeviceBytes(elems * sizeof(T), shift_elems * sizeof(T)), elems_(elems) {}
  explicit DeviceArray(const std::vector<T>& values, std::size_t shift_elems = 0)
      : DeviceArray(values.size(), shift_elems) {
    set(values);
  }

  [[nodiscard]] T* data() const { return reinterpret_cast<T*>(bytes()); }
  [[nodiscard]] std::size_t elems() const { return elems_; }

  void set(const std::vector<T>& values) { copy_from(values.data(), values.size() * sizeof(T)); }

  [[nodiscard]] std::vector<T> get() const {
    std::vector<T> values(elems_);
    copy_to(values.data());
    return values;
  }

 private:
  std::size_t elems_;
};

/// The value whose bytes are all 0xFF: a NaN, and what untouched memory holds.
template <class T>
T poison() {
  T value;
  std::memset(static_cast<void*>(&value), 0xFF, sizeof value);
  return value;
}

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Index of the first element whose bits differ, or -1.
template <class T>
std::int64_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!same_bits(a[i], b[i])) return static_cast<std::int64_t>(i);
  return -1;
}

}  // namespace support
