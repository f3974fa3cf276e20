// SPDX-License-Identifier: Apache-2.0
// Chunk: a few neighbouring elements of one row, held in registers.
// What accumulators hand to the epilogue and the epilogue to the store.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {

/// `Width` elements of consecutive columns of one row.
template <class T, int Width>
struct Chunk {
  static constexpr int width = Width;
  T value[Width];

  RG_HOST_DEVICE T& operator[](int i) { return value[i]; }
  RG_HOST_DEVICE const T& operator[](int i) const { return value[i]; }
};

}  // namespace raggedgemm
