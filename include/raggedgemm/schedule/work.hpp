// SPDX-License-Identifier: Apache-2.0
// Work: what a tile id decodes to. Coordinates only; pointers are made from it where they are used.
#pragma once

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/problem/outer_dims.hpp"

namespace raggedgemm {

/// One output tile: D[slab][row_begin …, col_begin …] over depth k_begin … k_begin + k_extent.
struct Work {
  offset_t slab = 0;       ///< group (or batch) of the operands that have slabs
  offset_t row_begin = 0;  ///< first row of A and D
  offset_t col_begin = 0;  ///< first column of B and D
  offset_t k_begin = 0;    ///< first depth index of A and B
  offset_t k_extent = 0;   ///< depth; 0 writes a zero product
  index_t rows = 0;        ///< valid rows, 1 … block_m
  index_t cols = 0;        ///< valid columns, 1 … block_n
  OuterOffsets outer;      ///< of the instance: added to every address; zero for plain calls
  index_t part = 0;        ///< of the depth, where it is split; k_begin and k_extent are the part's
  bool is_tail = false;    ///< belongs to no group: the epilogue's transform is not applied
};

}  // namespace raggedgemm
