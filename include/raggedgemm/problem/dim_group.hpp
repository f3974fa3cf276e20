// SPDX-License-Identifier: Apache-2.0
// DimGroup: dimensions of one kind (rows, columns, depth) on their way to a Problem. Those that lie
// side by side in memory are merged, one is walked by tiles, the rest become outer dimensions.
#pragma once

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/problem/outer_dims.hpp"
#include "raggedgemm/problem/tensor.hpp"

namespace raggedgemm {
namespace detail {

/// Dimensions of one kind, each with its strides in the operands that have it.
struct DimGroup {
  index_t count = 0;
  offset_t extent[max_rank] = {};
  OuterOffsets stride[max_rank] = {};

  constexpr void append(offset_t dim_extent, const OuterOffsets& strides) {
    if (dim_extent == 1) return;
    extent[count] = dim_extent;
    stride[count] = strides;
    ++count;
  }

  /// Merges neighbours that are contiguous in every operand.
  constexpr void merge() {
    index_t kept = 0;
    for (index_t i = 1; i < count; ++i) {
      const offset_t inner = extent[i];
      const OuterOffsets& outer = stride[kept];
      const OuterOffsets& s = stride[i];
      // Unsigned: strides that no memory has wrap instead of overflowing.
      const auto spans = [inner](offset_t outer_stride, offset_t inner_stride) {
        return static_cast<std::uint64_t>(outer_stride) ==
               static_cast<std::uint64_t>(inner) * static_cast<std::uint64_t>(inner_stride);
      };
      if (spans(outer.a, s.a) && spans(outer.b, s.b) && spans(outer.d, s.d) &&
          spans(outer.c, s.c) && spans(outer.groups, s.groups)) {
        extent[kept] *= inner;
        stride[kept] = s;
      } else {
        ++kept;
        extent[kept] = inner;
        stride[kept] = s;
      }
    }
    if (count > 0) count = kept + 1;
  }

  /// Takes the largest dimension out and moves the others to `rest`.
  constexpr bool split(offset_t& main_extent, OuterOffsets& main, OuterDims& rest) {
    merge();
    index_t largest = count - 1;
    for (index_t i = count - 2; i >= 0; --i)
      if (extent[i] > extent[largest]) largest = i;
    main_extent = 1;
    main = {1, 1, 1, 1, 0};  // a dimension of one element is contiguous
    for (index_t i = 0; i < count; ++i) {
      if (i == largest) {
        main_extent = extent[i];
        main = stride[i];
      } else if (!rest.append(extent[i], stride[i])) {
        return false;
      }
    }
    return true;
  }
};

}  // namespace detail
}  // namespace raggedgemm
