// SPDX-License-Identifier: Apache-2.0
// bias: adds a vector of columns to every output row, one vector a group or one for all.
#pragma once

#include "raggedgemm/epilogue/transform.hpp"
#include "raggedgemm/numeric/convert.hpp"
#include "raggedgemm/problem/view.hpp"

namespace raggedgemm {

/// out[…, n] += bias[g, n], in f32 before the rounding. Rows in no group get none.
template <class T>
struct Bias : Epilogue {
  const T* data;
  offset_t cols;
  offset_t group_stride;  ///< 0: the same vector for every group
  offset_t col_stride;

  constexpr Bias(const T* pointer, offset_t n, offset_t group_step, offset_t col_step)
      : data(pointer), cols(n), group_stride(group_step), col_stride(col_step) {}

  template <class C, int Width>
  RG_HOST_DEVICE Chunk<C, Width> transform(Chunk<C, Width> chunk, const OutputPosition& at) const {
    const T* row = data + at.slab * group_stride;
    RG_UNROLL
    for (int v = 0; v < Width; ++v)
      if (at.col + v < cols)
        chunk[v] += static_cast<C>(Element<T>::widen(row[(at.col + v) * col_stride]));
    return chunk;
  }
};

/// Per-group bias [g, n], device memory, any strides.
template <class T>
constexpr Bias<std::remove_const_t<T>> bias(const View<T, 2>& per_group) {
  return {per_group.data, per_group.extent[1], per_group.stride[0], per_group.stride[1]};
}

/// One bias [n] for every group.
template <class T>
constexpr Bias<std::remove_const_t<T>> bias(const View<T, 1>& shared) {
  return {shared.data, shared.extent[0], 0, shared.stride[0]};
}

}  // namespace raggedgemm
