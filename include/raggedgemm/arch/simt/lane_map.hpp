// SPDX-License-Identifier: Apache-2.0
// Which elements of a block tile one lane of the SIMT block owns. Constexpr, tested on the host for
// exact cover.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm::arch::simt {

/// Lanes form a grid of row_lanes x col_lanes. A lane owns `rows_per_lane` consecutive rows and
/// `chunks_per_lane` chunks of `chunk` consecutive columns, the chunks col_lanes * chunk apart:
/// lanes of one wave then read B in shared memory without bank conflicts and store whole sectors.
template <index_t BlockM, index_t BlockN, index_t Lanes>
struct LaneMap {
  static constexpr index_t chunk = 4;
  static constexpr index_t elems_per_lane = BlockM * BlockN / Lanes;
  static constexpr index_t chunks_per_lane = elems_per_lane >= 64 ? 2 : 1;
  static constexpr index_t col_lanes = BlockN / (chunk * chunks_per_lane);
  static constexpr index_t row_lanes = Lanes / col_lanes;
  static constexpr index_t rows_per_lane = BlockM / row_lanes;
  static_assert(BlockM * BlockN % Lanes == 0,
                "TileConfig.block_m * block_n must be a multiple of TileConfig.lanes");
  static_assert(col_lanes * chunk * chunks_per_lane == BlockN,
                "TileConfig.block_n must be a multiple of 4 columns a lane (8 for large tiles)");
  static_assert(row_lanes * col_lanes == Lanes && rows_per_lane * row_lanes == BlockM,
                "TileConfig.block_m must be a multiple of the rows of lanes");

  static RG_HOST_DEVICE constexpr index_t row(index_t lane, index_t i) {
    return lane / col_lanes * rows_per_lane + i;
  }
  static RG_HOST_DEVICE constexpr index_t col(index_t lane, index_t chunk_index) {
    return lane % col_lanes * chunk + chunk_index * col_lanes * chunk;
  }
};

}  // namespace raggedgemm::arch::simt
