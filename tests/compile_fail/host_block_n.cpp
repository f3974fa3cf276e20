// SPDX-License-Identifier: Apache-2.0
// expect: TileConfig.block_n must be a multiple of 16 on the host

#include "raggedgemm/arch/host/block.hpp"

raggedgemm::arch::host::Block<float, 96, 100, 256, 1> block(nullptr);
