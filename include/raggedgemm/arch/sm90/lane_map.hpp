// SPDX-License-Identifier: Apache-2.0
// Which elements of a WGMMA accumulator one lane owns. Constexpr, tested on the host for exact
// cover.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm90 {

/// The accumulator of wgmma.mma_async.m64nNk16 over the 128 lanes of a warpgroup: warp w holds rows
/// 16w … 16w + 15; inside it, lanes form 8 rows of 4, each with two neighbouring columns of every
/// 8-column slice, once in the upper and once in the lower 8 rows.
/// Source: PTX ISA, "Register Fragments for wgmma.mma_async.m64nNk16", figure of matrix D.
struct AccumulatorMap {
  static constexpr index_t rows = 64;
  static constexpr index_t lanes = 128;
  static constexpr index_t slice_cols = 8;
  static constexpr index_t elems_per_slice = 4;  ///< of one lane, in each 8-column slice
  static constexpr index_t pair = 2;             ///< elements i, i + 1 (i even) are neighbours

  static constexpr index_t elems_per_lane(index_t cols) { return rows * cols / lanes; }

  static RG_HOST_DEVICE constexpr index_t row(index_t lane, index_t elem) {
    return lane / 32 * 16 + lane % 32 / 4 + elem % elems_per_slice / pair * 8;
  }
  static RG_HOST_DEVICE constexpr index_t col(index_t lane, index_t elem) {
    return elem / elems_per_slice * slice_cols + lane % 4 * pair + elem % pair;
  }
};

}  // namespace arch::sm90
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
