// SPDX-License-Identifier: Apache-2.0
// expect: block_n must be a multiple of TileConfig.lanes

#include "raggedgemm/arch/simt/lane_map.hpp"

auto rows = raggedgemm::arch::simt::LaneMap<10, 10, 64>::rows_per_lane;
