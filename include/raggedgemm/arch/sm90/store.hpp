// SPDX-License-Identifier: Apache-2.0
// An accumulator's fragments to and from shared memory, at 32-bit addresses.
#pragma once

#include <cstdint>

#include "raggedgemm/arch/sm90/barrier.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm90 {

#if RG_PLATFORM_CUDA

/// Writes four 8 x 8 matrices of 16-bit elements. Lane l holds elements (l / 4, l % 4 * 2) and the
/// next of each matrix in one register (low half first), and the address of row l % 8 of matrix
/// l / 8; `Transposed` writes each matrix transposed.
/// Source: PTX ISA, "stmatrix".
template <bool Transposed>
RG_DEVICE RG_FORCE_INLINE void store_matrices(std::uint32_t address, const std::uint32_t (&m)[4]) {
  if constexpr (Transposed)
    asm volatile(
        "stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
        "r"(m[0]),
        "r"(m[1]),
        "r"(m[2]),
        "r"(m[3])
        : "memory");
  else
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
                 "r"(m[0]),
                 "r"(m[1]),
                 "r"(m[2]),
                 "r"(m[3])
                 : "memory");
}

/// Plain stores and loads of 1 to 8 bytes (in the low bits). By address: a generic pointer for each
/// element would take two registers.
template <index_t Bytes>
RG_DEVICE RG_FORCE_INLINE void store_shared(std::uint32_t address, std::uint64_t bits) {
  static_assert(Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8);
  const std::uint32_t low = static_cast<std::uint32_t>(bits);
  if constexpr (Bytes == 1)
    asm volatile("st.shared.b8 [%0], %1;" ::"r"(address), "r"(low) : "memory");
  else if constexpr (Bytes == 2)
    asm volatile("st.shared.b16 [%0], %1;" ::"r"(address), "h"(static_cast<std::uint16_t>(low))
                 : "memory");
  else if constexpr (Bytes == 4)
    asm volatile("st.shared.b32 [%0], %1;" ::"r"(address), "r"(low) : "memory");
  else
    asm volatile("st.shared.b64 [%0], %1;" ::"r"(address), "l"(bits) : "memory");
}

template <index_t Bytes>
RG_DEVICE RG_FORCE_INLINE std::uint64_t load_shared(std::uint32_t address) {
  static_assert(Bytes == 1 || Bytes == 2 || Bytes == 4 || Bytes == 8);
  std::uint64_t bits = 0;
  if constexpr (Bytes == 8) {
    asm volatile("ld.shared.b64 %0, [%1];" : "=l"(bits) : "r"(address) : "memory");
  } else {
    std::uint32_t low = 0;
    if constexpr (Bytes == 1)
      asm volatile("ld.shared.b8 %0, [%1];" : "=r"(low) : "r"(address) : "memory");
    else if constexpr (Bytes == 2)
      asm volatile("ld.shared.u16 %0, [%1];" : "=r"(low) : "r"(address) : "memory");
    else
      asm volatile("ld.shared.b32 %0, [%1];" : "=r"(low) : "r"(address) : "memory");
    bits = low;
  }
  return bits;
}

#endif

}  // namespace arch::sm90
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
