// SPDX-License-Identifier: Apache-2.0
// SharedImage: how an operand tile lies in shared memory so that no instruction that touches it has
// bank conflicts. Constexpr; the host tests enumerate every access.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

/// [Outer][128 bytes], depth contiguous: rows of eight 16-byte chunks, whatever the element. Chunk
/// c of row r lies at position c ^ twist(r) of its row.
///
/// Conflict-free for the reads of 32-row and 16-row fragments, for writes of whole rows and for
/// writes of two or four neighbouring rows a lane, on gfx942 (32 banks) and gfx950 (64 banks for
/// reads).
/// Source: search over linear twists; phases as published (tests/unit/arch/cdna_banks_test.cpp).
template <index_t ElemBytes, index_t Outer>
struct SharedImage {
  static constexpr bool depth_contiguous = true;
  static constexpr index_t outer = Outer;
  static constexpr index_t elem_bytes = ElemBytes;
  static constexpr index_t row_bytes = 128;
  static constexpr index_t chunk_bytes = 16;
  static constexpr index_t chunks = row_bytes / chunk_bytes;
  static constexpr index_t chunk_elems = chunk_bytes / ElemBytes;
  static constexpr index_t depth = row_bytes / ElemBytes;
  static constexpr index_t bytes = Outer * row_bytes;
  static constexpr index_t period_rows = 32;  ///< the twist repeats: row and row + 32 share it

  static RG_HOST_DEVICE constexpr index_t twist(index_t row) {
    return (row & 7) ^ ((row >> 3) & 1) * 5 ^ ((row >> 4) & 1) * 2;
  }

  static RG_HOST_DEVICE constexpr index_t offset_bytes(index_t row, index_t chunk) {
    return row * row_bytes + (chunk ^ twist(row)) * chunk_bytes;
  }
};

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
