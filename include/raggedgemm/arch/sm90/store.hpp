// SPDX-License-Identifier: Apache-2.0
// Stores of an accumulator's fragments into shared memory.
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

#endif

}  // namespace arch::sm90
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
