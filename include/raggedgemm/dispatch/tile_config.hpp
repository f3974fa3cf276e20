// SPDX-License-Identifier: Apache-2.0
// TileConfig: everything about a kernel that is chosen for speed, as one constexpr value.
#pragma once

#include <cstdint>

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/platform/arch.hpp"
#include "raggedgemm/problem/problem.hpp"

namespace raggedgemm {

enum class EngineId : std::int32_t {
  simple,     ///< copy, multiply, store: any GPU, and the host
  tma_wgmma,  ///< Hopper: TMA producer, WGMMA consumers
  mfma,       ///< CDNA: matrix instructions from LDS
  mma_sync,   ///< Ampere and later: asynchronous copies, matrix instructions from registers
};

constexpr const char* name_of(EngineId engine) noexcept {
  switch (engine) {
    case EngineId::simple: return "simple";
    case EngineId::tma_wgmma: return "tma_wgmma";
    case EngineId::mfma: return "mfma";
    case EngineId::mma_sync: return "mma_sync";
  }
  return "unknown";
}

/// A tile configuration. Fields that an engine does not use stay at their defaults.
struct TileConfig {
  EngineId engine = EngineId::simple;
  index_t block_m = 0;              ///< output rows of a tile
  index_t block_n = 0;              ///< output columns of a tile
  index_t block_k = 0;              ///< depth of one pipeline step
  index_t stages = 1;               ///< pipeline slots
  index_t lanes = 1;                ///< lanes of a block
  Layout layout = Layout::strided;  ///< the operand layout the engine is written for; strided: any
  index_t supergroup = 1;           ///< tiles across a band of the tile order
  index_t tiles_at_once = 1;        ///< tma_wgmma: 2 gives each consumer group a tile of its own

  bool swapped = false;    ///< tma_wgmma: tile columns take WGMMA's 64-row side, rows the other
  Arch arch = Arch::host;  ///< mfma: the one that the kernel is compiled for; the row's (tile_of)
  bool direct = false;     ///< mfma: loads write shared memory without passing registers (gfx950)
  bool tf32 = false;       ///< mfma: rounds f32 operands to tf32; the row's (tile_of)
  bool splits = false;     ///< cuts the depth into parts; their sums go through the workspace
  bool ping_pong = false;  ///< mfma: two groups of waves take turns, one in memory, one multiplying

  constexpr bool operator==(const TileConfig&) const = default;
};

/// A config value as a type: `__global__` templates take types only.
template <TileConfig Value>
struct config {
  static constexpr TileConfig value = Value;
};

}  // namespace raggedgemm
