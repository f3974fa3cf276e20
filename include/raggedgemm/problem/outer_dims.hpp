// SPDX-License-Identifier: Apache-2.0
// OuterDims: the dimensions of a general ragged dot that are walked around the matrix product, as
// extents and element strides. No operand is transposed or copied for them.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {

/// What one outer index adds to the addresses of the operands and of the group description.
struct OuterOffsets {
  offset_t a = 0;
  offset_t b = 0;
  offset_t d = 0;
  offset_t c = 0;
  offset_t groups = 0;
};

/// A row-major list of dimensions (the last runs fastest) with a stride for each operand; 0 where
/// an operand does not have the dimension. Rank 0 is one index with no offset.
struct OuterDims {
  static constexpr index_t max_rank = 6;

  index_t rank = 0;
  offset_t extent[max_rank] = {};
  OuterOffsets stride[max_rank] = {};

  [[nodiscard]] RG_HOST_DEVICE constexpr offset_t count() const {
    offset_t product = 1;
    RG_NO_UNROLL
    for (index_t i = 0; i < rank; ++i) product *= extent[i];
    return product;
  }

  /// Whether some dimension has rows of the group description of its own.
  [[nodiscard]] RG_HOST_DEVICE constexpr bool has_groups() const {
    RG_NO_UNROLL
    for (index_t i = 0; i < rank; ++i)
      if (stride[i].groups != 0) return true;
    return false;
  }

  /// Rows of the group description that these dimensions tell apart.
  [[nodiscard]] RG_HOST_DEVICE constexpr offset_t group_rows() const {
    offset_t rows = 1;
    RG_NO_UNROLL
    for (index_t i = 0; i < rank; ++i)
      if (stride[i].groups != 0) rows *= extent[i];
    return rows;
  }

  /// Where row `row` of them starts, in entries.
  [[nodiscard]] RG_HOST_DEVICE constexpr offset_t group_row(offset_t row) const {
    offset_t at = 0;
    RG_NO_UNROLL
    for (index_t i = rank - 1; i >= 0; --i) {
      if (stride[i].groups == 0) continue;
      const offset_t next = row / extent[i];
      at += (row - next * extent[i]) * stride[i].groups;
      row = next;
    }
    return at;
  }

  [[nodiscard]] RG_HOST_DEVICE constexpr OuterOffsets offsets(offset_t index) const {
    OuterOffsets sum;
    RG_NO_UNROLL
    for (index_t i = rank - 1; i >= 0; --i) {
      const offset_t next = index / extent[i];
      const offset_t at = index - next * extent[i];
      sum.a += at * stride[i].a;
      sum.b += at * stride[i].b;
      sum.d += at * stride[i].d;
      sum.c += at * stride[i].c;
      sum.groups += at * stride[i].groups;
      index = next;
    }
    return sum;
  }

  /// False when the rank is exhausted; dimensions of extent 1 take no place.
  constexpr bool append(offset_t dim_extent, const OuterOffsets& strides) {
    if (dim_extent == 1) return true;
    if (rank == max_rank) return false;
    extent[rank] = dim_extent;
    stride[rank] = strides;
    ++rank;
    return true;
  }
};

}  // namespace raggedgemm
