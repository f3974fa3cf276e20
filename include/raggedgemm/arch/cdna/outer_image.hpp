// SPDX-License-Identifier: Apache-2.0
// OuterImage: an operand tile of 16-bit elements in shared memory as it lies in global memory when
// its outer index is contiguous, and the transposing reads of gfx950 that make fragments of it.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

/// [64][Outer] 16-bit elements. Chunk c (of eight outer indices) of depth d lies at position c ^
/// twist(d) of its row.
///
/// Conflict-free for transposing reads on gfx950 (64 banks for reads) with rows of 512 bytes.
/// Source: search over linear twists (tests/unit/arch/cdna_banks_test.cpp).
template <index_t ElemBytes, index_t Outer>
struct OuterImage {
  static_assert(ElemBytes == 2 && Outer == 256,
                "TileConfig.direct needs 16-bit elements and tiles of 256 "
                "where the outer index is contiguous");
  static constexpr bool depth_contiguous = false;
  static constexpr index_t outer = Outer;
  static constexpr index_t elem_bytes = ElemBytes;
  static constexpr index_t row_bytes = Outer * ElemBytes;
  static constexpr index_t chunk_bytes = 16;
  static constexpr index_t chunk_elems = chunk_bytes / ElemBytes;
  static constexpr index_t depth = 128 / ElemBytes;
  static constexpr index_t bytes = depth * row_bytes;
  static constexpr index_t period_rows = 16;  ///< the twist repeats: depth and depth + 16 share it

  static RG_HOST_DEVICE constexpr index_t twist(index_t depth_index) {
    return (depth_index & 1) * 4 ^ ((depth_index >> 1) & 1) * 10 ^ ((depth_index >> 3) & 1) * 2;
  }

  static RG_HOST_DEVICE constexpr index_t offset_bytes(index_t depth_index, index_t chunk) {
    return depth_index * row_bytes + (chunk ^ twist(depth_index)) * chunk_bytes;
  }
};

/// Lane map of a transposing read, ds_read_b64_tr_b16: each lane names 8 bytes, four outer indices
/// of one depth, and gets four depths of one outer index. Two of them make what a lane takes of a
/// slice of 16 along the depth for an instruction with 32 rows: eight depths.
///
/// Source: AMD CDNA4 ISA, transposed LDS reads; ROCm/rocm-systems pull request 10175.
struct TransposingRead {
  static constexpr index_t reads = 2;  ///< of one slice
  static constexpr index_t elems = 4;

  /// Depth in the slice and outer index in the matrix tile of what a lane names.
  static RG_HOST_DEVICE constexpr index_t named_depth(index_t lane, index_t read) {
    return lane / 32 * 8 + read * 4 + lane % 16 / 4;
  }
  static RG_HOST_DEVICE constexpr index_t named_outer(index_t lane) {
    return (lane & 16) + lane % 4 * 4;
  }

  /// Element `elem` that a lane gets is element got_elem(lane) of what lane got_lane(lane, elem)
  /// names.
  static RG_HOST_DEVICE constexpr index_t got_lane(index_t lane, index_t elem) {
    return (lane & 48) + lane / 4 % 4 + elem * 4;
  }
  static RG_HOST_DEVICE constexpr index_t got_elem(index_t lane) { return lane % 4; }
};

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
