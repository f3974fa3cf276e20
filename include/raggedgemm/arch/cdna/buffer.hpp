// SPDX-License-Identifier: Apache-2.0
// Buffer loads: a base, an end, and 32-bit byte offsets; what lies at or past the end reads as
// zero.
#pragma once

#include "raggedgemm/arch/cdna/vector.hpp"
#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

#if RG_PLATFORM_HIP

/// A window of global memory, read without branches.
///
/// Requires: base and bytes are the same in all lanes; bytes and offsets are multiples of the
/// load's width, so that a load is inside or outside as a whole. Guarantees: a load at or past the
/// end reads nothing and gives zero. Every part of the address is in the vector offset: whether a
/// scalar offset takes part in the bounds check, documents disagree. Source: AMD CDNA3 ISA, 9.1.5
/// (raw buffers); descriptor word 3 selects 32-bit data.
class Buffer {
 public:
  RG_DEVICE Buffer(const void* base, index_t bytes)
      : descriptor_(__builtin_amdgcn_make_buffer_rsrc(
            const_cast<void*>(base), 0, static_cast<std::uint32_t>(bytes), 0x00020000)) {}

  /// One, two or four dwords. `Once` hints that nobody reads them again soon. Source: AMD CDNA3
  /// ISA, 9.1.10 (nt: streaming).
  template <index_t Dwords, bool Once = false>
  RG_DEVICE DwordVector<Dwords> load(index_t offset_bytes) const {
    static_assert(Dwords == 1 || Dwords == 2 || Dwords == 4, "Dwords must be 1, 2 or 4");
    constexpr int cache = Once ? 2 : 0;
    if constexpr (Dwords == 4)
      return __builtin_bit_cast(
          Dwords4, __builtin_amdgcn_raw_buffer_load_b128(descriptor_, offset_bytes, 0, cache));
    else if constexpr (Dwords == 2)
      return __builtin_bit_cast(
          Dwords2, __builtin_amdgcn_raw_buffer_load_b64(descriptor_, offset_bytes, 0, cache));
    else
      return __builtin_bit_cast(
          DwordVector<1>,
          __builtin_amdgcn_raw_buffer_load_b32(descriptor_, offset_bytes, 0, cache));
  }

  /// 16 bytes a lane to consecutive places from `to` on, which is the same in all lanes. gfx950
  /// only.
  RG_DEVICE void load_to_shared(SharedByte* to, index_t offset_bytes) const {
#if defined(__gfx950__)
    __builtin_amdgcn_raw_ptr_buffer_load_lds(
        descriptor_, (__attribute__((address_space(3))) void*)to, 16, offset_bytes, 0, 0, 0);
#else
    static_cast<void>(to);
    static_cast<void>(offset_bytes);
#endif
  }

 private:
  __amdgpu_buffer_rsrc_t descriptor_;
};

#endif

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
