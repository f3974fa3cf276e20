// SPDX-License-Identifier: Apache-2.0
// Which lane holds which element of a 32 x 32 matrix instruction's operands and result, and of the
// 16-deep slices that the engine works in. Constexpr, tested on the host.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

/// Lane map of D[32, 32] += A[32, Depth] · B[Depth, 32] with `Depth` / 2 elements of A and B a
/// lane.
///
/// Source: AMD CDNA3 ISA, 7.1.4.2 and CDNA4 ISA, 7.1.5.1 (dense matrix layouts).
template <index_t Depth>
struct MatrixMap {
  static constexpr index_t outer = 32;  ///< rows of A and columns of B
  static constexpr index_t depth = Depth;
  static constexpr index_t operand_elems = Depth / 2;
  static constexpr index_t result_elems = 16;
  static constexpr index_t result_run = 4;  ///< consecutive rows of D that a lane holds

  /// Row of A (column of B) of a lane's elements.
  static RG_HOST_DEVICE constexpr index_t operand_outer(index_t lane) { return lane % 32; }
  static RG_HOST_DEVICE constexpr index_t operand_depth(index_t lane, index_t elem) {
    return lane / 32 * operand_elems + elem;
  }
  static RG_HOST_DEVICE constexpr index_t result_row(index_t lane, index_t elem) {
    return elem / 4 * 8 + lane / 32 * 4 + elem % 4;
  }
  static RG_HOST_DEVICE constexpr index_t result_col(index_t lane) { return lane % 32; }
};

/// What a lane reads of an operand tile for a slice of 16 along the depth: one 16-byte chunk of the
/// shared image, whatever the depth of the chip's instruction. Where two instructions make a slice,
/// each takes half of the chunk: they then see the depth in another order, A and B the same one.
struct SliceMap {
  static constexpr index_t depth = 16;
  static constexpr index_t elems = 8;

  static RG_HOST_DEVICE constexpr index_t outer(index_t lane) { return lane % 32; }
  static RG_HOST_DEVICE constexpr index_t depth_of(index_t lane, index_t elem) {
    return lane / 32 * elems + elem;
  }
  /// The chunk (of eight elements along the depth) that holds a lane's elements of slice 0; that of
  /// slice s has the bits of `chunk_bits(s)` flipped.
  static RG_HOST_DEVICE constexpr index_t chunk(index_t lane) { return lane / 32; }
  static RG_HOST_DEVICE constexpr index_t chunk_bits(index_t slice) {
    return slice * (depth / elems);
  }
};

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
