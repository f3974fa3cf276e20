// SPDX-License-Identifier: Apache-2.0
// Which lane holds which element of a matrix instruction's operands and result, and of the slices
// along the depth that the engine works in. Constexpr, tested on the host.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

/// Lane map of D[Outer, Outer] += A[Outer, Depth] · B[Depth, Outer] with 32-bit results.
///
/// Source: AMD CDNA3 ISA, 7.1.4.2 and CDNA4 ISA, 7.1.5.1 (dense matrix layouts).
template <index_t Outer, index_t Depth>
struct MatrixMap {
  static constexpr index_t outer = Outer;  ///< rows of A and columns of B
  static constexpr index_t depth = Depth;
  static constexpr index_t lane_groups = 64 / Outer;  ///< each has a part of the depth
  static constexpr index_t operand_elems = Depth / lane_groups;
  static constexpr index_t result_elems = Outer * Outer / 64;
  static constexpr index_t result_run = 4;  ///< consecutive indices of A's side that a lane holds

  /// Row of A (column of B) of a lane's elements.
  static RG_HOST_DEVICE constexpr index_t operand_outer(index_t lane) { return lane % Outer; }
  static RG_HOST_DEVICE constexpr index_t operand_depth(index_t lane, index_t elem) {
    return lane / Outer * operand_elems + elem;
  }
  static RG_HOST_DEVICE constexpr index_t result_row(index_t lane, index_t elem) {
    return elem / 4 * (4 * lane_groups) + lane / Outer * 4 + elem % 4;
  }
  static RG_HOST_DEVICE constexpr index_t result_col(index_t lane) { return lane % Outer; }

  /// The index of A's side that the engine puts into row `row` of A.
  static RG_HOST_DEVICE constexpr index_t index_of_row(index_t row) { return row; }
  /// The result element that is the `place`th of a lane's, in the order of the indices.
  static RG_HOST_DEVICE constexpr index_t result_elem(index_t place) { return place; }
};

/// The same for 16 x 16 x 4 with 64-bit results, of which a lane holds every fourth row. Rows of A
/// may come in any order if those of D are taken in the same one: in this order, a lane holds four
/// consecutive indices, and reads of A from a shared image are free of bank conflicts.
struct DoubleMatrixMap : MatrixMap<16, 4> {
  static RG_HOST_DEVICE constexpr index_t result_row(index_t lane, index_t elem) {
    return elem * 4 + lane / 16;
  }
  static RG_HOST_DEVICE constexpr index_t index_of_row(index_t row) {
    return row % 4 * 4 + result_elem(row / 4);
  }
  /// Swaps the two bits.
  static RG_HOST_DEVICE constexpr index_t result_elem(index_t place) {
    return place % 2 * 2 + place / 2;
  }
};

/// The instruction that a chip has for an operand dtype: how many bytes of each operand a lane
/// brings, and what follows from it for the engine's slices.
template <class MapType, index_t OperandBytes>
struct Instruction {
  using Map = MapType;
  static constexpr index_t operand_bytes = OperandBytes;
  static constexpr index_t chunks = max_of(1, OperandBytes / 16);        ///< of 16 bytes, of a lane
  static constexpr index_t instructions = max_of(1, 16 / OperandBytes);  ///< of one slice
};

/// What a lane reads of an operand tile for one slice along the depth: whole chunks of 16 bytes of
/// the shared image, enough for one instruction or for several. Each instruction then takes its
/// part of what the lane has: it sees the depth in another order, A and B the same one.
template <class InstructionType>
struct SliceMap {
  using Map = typename InstructionType::Map;
  static constexpr index_t chunks = InstructionType::chunks;          ///< of a lane
  static constexpr index_t depth_chunks = Map::lane_groups * chunks;  ///< of all lanes of a row

  /// The chunk of its row that a lane reads first for slice 0; number `part` of slice s has the
  /// bits of chunk_bits(s, part) flipped.
  static RG_HOST_DEVICE constexpr index_t chunk(index_t lane) { return lane / Map::outer; }
  static RG_HOST_DEVICE constexpr index_t chunk_bits(index_t slice, index_t part) {
    return (slice * chunks + part) * Map::lane_groups;
  }
};

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
