// SPDX-License-Identifier: Apache-2.0
// HugeArray: gigabytes of address space of which a test touches a few elements, for offsets past
// 2^31 and 2^32. On the host pages that nobody touches cost nothing; on a GPU it is real memory.
#pragma once

#include <cstddef>

#include "raggedgemm/platform/runtime.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace support {

template <class T>
class HugeArray {
 public:
  /// data() is nullptr where the memory cannot be had.
  explicit HugeArray(std::size_t elems) : bytes_(elems * sizeof(T)) {
#if defined(__linux__)
    if (!raggedgemm::runtime::has_gpu_platform) {
      void* const pages = mmap(nullptr,
                               bytes_,
                               PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                               -1,
                               0);
      data_ = pages == MAP_FAILED ? nullptr : static_cast<T*>(pages);
      return;
    }
#endif
    data_ = static_cast<T*>(raggedgemm::runtime::native::allocate(bytes_));
  }
  ~HugeArray() {
    if (data_ == nullptr) return;
#if defined(__linux__)
    if (!raggedgemm::runtime::has_gpu_platform) {
      munmap(data_, bytes_);
      return;
    }
#endif
    raggedgemm::runtime::native::release(data_);
  }
  HugeArray(const HugeArray&) = delete;
  HugeArray& operator=(const HugeArray&) = delete;

  [[nodiscard]] T* data() const { return data_; }
  [[nodiscard]] bool set(std::size_t index, T value) {
    return raggedgemm::runtime::native::copy_to_device(data_ + index, &value, sizeof value).ok();
  }
  [[nodiscard]] T get(std::size_t index) const {
    T value{};
    if (!raggedgemm::runtime::native::copy_to_host(&value, data_ + index, sizeof value).ok())
      return T{};
    return value;
  }

 private:
  std::size_t bytes_;
  T* data_ = nullptr;
};

}  // namespace support
