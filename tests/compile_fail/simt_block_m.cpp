// SPDX-License-Identifier: Apache-2.0
// expect: TileConfig.block_m must be a multiple of the rows of lanes

#include "raggedgemm/arch/simt/lane_map.hpp"

auto rows = raggedgemm::arch::simt::LaneMap<8, 64, 256>::rows_per_lane;
