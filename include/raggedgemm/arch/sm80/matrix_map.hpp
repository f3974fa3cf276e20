// SPDX-License-Identifier: Apache-2.0
// Which lane of a warp holds which element of a 16 x 8 x 16 matrix instruction, and which address
// it gives to the instruction that reads fragments. Constexpr, tested on the host.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm80 {

/// Lane map of mma.m16n8k16: D[16, 8] += A[16, 16] · B[16, 8], 16-bit A and B, f32 D. Registers of
/// A and B hold two neighbours along the depth. Source: PTX ISA, "Matrix Fragments for mma.m16n8k16
/// with floating point type".
struct InstructionMap {
  static constexpr index_t rows = 16;
  static constexpr index_t cols = 8;
  static constexpr index_t depth = 16;
  static constexpr index_t a_elems = 8;  ///< of one lane, as are the next
  static constexpr index_t b_elems = 4;
  static constexpr index_t d_elems = 4;

  static RG_HOST_DEVICE constexpr index_t a_row(index_t lane, index_t elem) {
    return lane / 4 + elem / 2 % 2 * 8;
  }
  static RG_HOST_DEVICE constexpr index_t a_depth(index_t lane, index_t elem) {
    return lane % 4 * 2 + elem % 2 + elem / 4 * 8;
  }
  static RG_HOST_DEVICE constexpr index_t b_col(index_t lane) { return lane / 4; }
  static RG_HOST_DEVICE constexpr index_t b_depth(index_t lane, index_t elem) {
    return lane % 4 * 2 + elem % 2 + elem / 2 * 8;
  }
  static RG_HOST_DEVICE constexpr index_t d_row(index_t lane, index_t elem) {
    return lane / 4 + elem / 2 * 8;
  }
  static RG_HOST_DEVICE constexpr index_t d_col(index_t lane, index_t elem) {
    return lane % 4 * 2 + elem % 2;
  }
};

/// A fragment is 16 outer indices (rows of A, columns of B) by 16 along the depth: four matrices of
/// 8 x 8, which one ldmatrix reads, lane l giving the address of line l % 8 of matrix l / 8.
/// Register r of a lane then holds elements of matrix r.
///
/// The order of the matrices is that in which the instruction wants its registers: those of A for
/// one instruction, those of B for two instructions of 8 columns.
template <bool IsA>
struct FragmentMap {
  static constexpr index_t outer = 16;
  static constexpr index_t depth = 16;
  static constexpr index_t side = 8;  ///< of a matrix

  /// Which half of the fragment's outer indices, and of its depth, a matrix holds.
  static RG_HOST_DEVICE constexpr index_t outer_half(index_t matrix) {
    return IsA ? matrix % 2 : matrix / 2;
  }
  static RG_HOST_DEVICE constexpr index_t depth_half(index_t matrix) {
    return IsA ? matrix / 2 : matrix % 2;
  }
  /// Line and chunk, inside the fragment, whose address a lane gives.
  static RG_HOST_DEVICE constexpr index_t line(bool depth_contiguous, index_t lane) {
    const index_t half = depth_contiguous ? outer_half(lane / side) : depth_half(lane / side);
    return half * side + lane % side;
  }
  static RG_HOST_DEVICE constexpr index_t chunk(bool depth_contiguous, index_t lane) {
    return depth_contiguous ? depth_half(lane / side) : outer_half(lane / side);
  }
  /// What a lane gets of a matrix: elements 0 and 1 of its register. A matrix whose lines are depth
  /// indices is read transposed.
  static RG_HOST_DEVICE constexpr index_t outer_of(index_t lane, index_t matrix) {
    return outer_half(matrix) * side + lane / 4;
  }
  static RG_HOST_DEVICE constexpr index_t depth_of(index_t lane, index_t matrix, index_t elem) {
    return depth_half(matrix) * side + lane % 4 * 2 + elem;
  }
};

}  // namespace arch::sm80
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
