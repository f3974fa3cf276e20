// SPDX-License-Identifier: Apache-2.0
// Arguments: what every kernel receives: the problem in tile terms, with pointers and tile order.
// A plain value that travels as a kernel parameter, so a captured graph owns its copy.
#pragma once

#include <cstdint>

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/problem/problem.hpp"
#include "raggedgemm/schedule/tile_order.hpp"
#include "raggedgemm/schedule/work.hpp"

namespace raggedgemm {

/// An operand: address of element (slab 0, row 0, col 0) and its strides in elements.
template <class Pointer>
struct Operand {
  Pointer data = nullptr;
  Strides stride;

  /// Address of (slab, row, col), as elements of T. Widened before multiplying.
  template <class T>
  [[nodiscard]] RG_HOST_DEVICE T* at(offset_t slab, offset_t row, offset_t col) const {
    return static_cast<T*>(data) + slab * stride.slab + row * stride.row + col * stride.col;
  }
};

/// Sums of parts of the depth, in the workspace: of every tile, [parts, slabs of D, rows, cols], in
/// elements; or, if `cutting_blocks` is not 0, of the last tiles (CutOrder, CutSums).
struct Partials {
  void* data = nullptr;
  index_t parts = 1;
  offset_t part_stride = 0;
  offset_t slab_stride = 0;    ///< 0 where D has no slabs
  index_t cutting_blocks = 0;  ///< of a grid whose last tiles are cut, in `parts` at most
};

/// A copy of an operand to lines that begin at multiples of 16 bytes. Lines are along the
/// operand's contiguous dimension; strides and lengths are in bytes.
struct CopyLines {
  const void* from = nullptr;
  void* to = nullptr;  ///< 16-byte aligned; lines and slabs follow each other
  offset_t slabs = 0;
  offset_t lines = 0;  ///< of a slab
  offset_t line_bytes = 0;
  offset_t from_line = 0;  ///< from one line to the next
  offset_t from_slab = 0;
  offset_t to_line = 0;
  Groups groups;  ///< where given, slabs of empty groups are left out
  offset_t group_offset = 0;
  offset_t ragged_extent = 0;
  /// Gather: where given, line (or slab) i is read at index[i], as zeros where there is none.
  const std::int32_t* index = nullptr;
  offset_t index_extent = 0;
  bool index_of_slabs = false;
};

/// D = epilogue(alpha · A·B + beta · C), in the terms of Problem.
struct Arguments {
  Operand<const void*> a;                   ///< [rows, depth]
  Operand<const void*> b;                   ///< [depth, cols]
  Operand<void*> d;                         ///< [rows, cols]
  Operand<const void*> c;                   ///< [rows, cols], read when beta is not zero
  const float* group_alpha = nullptr;       ///< [slabs], or none
  const std::int32_t* lhs_index = nullptr;  ///< gather of lhs along the ragged dimension
  offset_t lhs_extent = 0;                  ///< what its entries index; others read as zero
  const std::int32_t* out_index = nullptr;  ///< scatter of output rows
  std::uint32_t out_extent = 0;             ///< what its entries index; others are dropped
  Fault* fault = nullptr;
  offset_t group_offset = 0;  ///< group of slab 0
  Groups groups;
  offset_t rows = 0;
  offset_t cols = 0;
  offset_t depth = 0;
  offset_t slabs = 0;
  OuterDims instances;  ///< products with groups of their own: batch and other outer dimensions
  OuterDims segments;   ///< depth dimensions around the inner one: all add to the same output
  double alpha = 1.0;
  double beta = 0.0;
  Tail tail = Tail::zero;
  TileOrder order;
  Partials partials;  ///< of kernels that split the depth
};

}  // namespace raggedgemm
