// SPDX-License-Identifier: Apache-2.0
// expect: TileConfig.block_m must be a multiple of 6 on the host

#include "raggedgemm/arch/host/block.hpp"

raggedgemm::arch::host::Block<float, 100, 192, 256, 1> block(nullptr);
