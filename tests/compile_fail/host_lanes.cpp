// SPDX-License-Identifier: Apache-2.0
// expect: TileConfig.lanes must be 1 on the host

#include "raggedgemm/arch/host/block.hpp"

raggedgemm::arch::host::Block<float, 96, 192, 256, 32> block(nullptr);
