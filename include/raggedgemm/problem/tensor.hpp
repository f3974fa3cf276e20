// SPDX-License-Identifier: Apache-2.0
// Tensor: an array of run-time rank and dtype, as general and type-erased calls describe operands.
#pragma once

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/problem/dtype.hpp"

namespace raggedgemm {

inline constexpr index_t max_rank = 8;

/// An array of run-time rank: device memory, int64 strides in elements.
template <class Pointer>
struct BasicTensor {
  Pointer data = nullptr;
  DType dtype = DType::f32;
  index_t rank = 0;
  offset_t extent[max_rank] = {};
  offset_t stride[max_rank] = {};
};
using Tensor = BasicTensor<const void*>;   ///< an input
using MutableTensor = BasicTensor<void*>;  ///< an output

}  // namespace raggedgemm
