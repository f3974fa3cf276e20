// SPDX-License-Identifier: Apache-2.0
// expect: TileConfig.block_n must be a multiple of 4 columns a lane

#include "raggedgemm/arch/simt/lane_map.hpp"

auto rows = raggedgemm::arch::simt::LaneMap<128, 66, 64>::rows_per_lane;
