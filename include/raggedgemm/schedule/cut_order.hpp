// SPDX-License-Identifier: Apache-2.0
// CutOrder: the tiles of a persistent kernel's last round, where they are fewer than blocks: their
// depth is cut into parts, so that no block idles while others have a whole tile before them.
// Source: the hybrid of whole tiles and stream-K (Osama et al., 2023), with parts of equal size.
#pragma once

#include <cstdint>

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {

/// How many tiles a call has.
struct TileCounts {
  index_t with_depth = 0;  ///< those that read operands: they come first
  index_t all = 0;         ///< with rows of no group, written as zeros
};

/// What one turn of a block is about: a tile, or part `part` of `parts` of its depth.
struct Turn {
  index_t tile = 0;
  index_t piece = -1;  ///< number among all parts of all cut tiles; -1: the tile is whole
  index_t part = 0;
};

/// Turns 0, 1, … are dealt to the blocks one after the other: turn t to block t mod `blocks`.
/// Guarantees: turns 0 … count() - 1 cover all tiles once, those that are cut once a part; tiles do
/// not decrease; which are cut depends on the sizes and the grid only (tested).
struct CutOrder {
  index_t whole = 0;      ///< turns before the first part
  index_t cut_tiles = 0;  ///< at most half the blocks
  index_t parts = 1;
  index_t all = 0;  ///< tiles

  /// The first round stays whole, so that a block may begin before the tiles are counted.
  static RG_HOST_DEVICE constexpr CutOrder of(TileCounts tiles,
                                              index_t blocks,
                                              index_t most_parts) {
    CutOrder order;
    order.all = tiles.all;
    const index_t rest = tiles.with_depth % blocks;
    order.whole = tiles.with_depth - rest;
    if (rest == 0 || order.whole == 0) return order;
    order.parts = min_of(blocks / rest, most_parts);
    if (order.parts > 1) order.cut_tiles = rest;
    return order;
  }

  [[nodiscard]] RG_HOST_DEVICE constexpr index_t count() const {
    return all + cut_tiles * (parts - 1);
  }

  [[nodiscard]] RG_HOST_DEVICE constexpr Turn at(offset_t turn) const {
    const index_t pieces = cut_tiles * parts;
    const index_t number = static_cast<index_t>(min_of(turn, offset_t{count()}));
    const index_t piece = number - whole;
    if (pieces == 0 || piece < 0) return {number, -1, 0};
    if (piece >= pieces) return {number - cut_tiles * (parts - 1), -1, 0};
    const index_t cut = piece / parts;
    return {whole + cut, piece, piece - cut * parts};
  }
};

/// A tile that was cut: whole when its parts are added up.
struct alignas(16) CutTile {
  std::int32_t slab = 0;
  std::int32_t row_begin = 0;
  std::int32_t col_begin = 0;
  std::int32_t rows = 0;
  std::int32_t cols = 0;
  std::int32_t has_depth = 0;  ///< 0: its sums are 0, whatever was left
  std::int32_t is_tail = 0;
};

/// What a kernel that cuts tiles leaves for the one that adds up: a piece of the workspace.
struct CutSums {
  std::int32_t* tiles_and_parts = nullptr;  ///< {cut tiles, parts}; null: no tile is cut
  CutTile* tiles = nullptr;
  void* sums = nullptr;  ///< [pieces, block_m, block_n], in the type of the accumulators

  /// Of the workspace, for a grid of so many blocks and sums of a tile of so many bytes.
  static RG_HOST_DEVICE constexpr offset_t bytes(offset_t blocks, offset_t tile_bytes) noexcept {
    return sums_offset(blocks) + blocks * tile_bytes;
  }
  static RG_HOST_DEVICE CutSums of(void* data, offset_t blocks) noexcept {
    unsigned char* const begin = static_cast<unsigned char*>(data);
    return {reinterpret_cast<std::int32_t*>(begin),
            reinterpret_cast<CutTile*>(begin + header_bytes),
            begin + sums_offset(blocks)};
  }

 private:
  static constexpr offset_t header_bytes = 128;
  static RG_HOST_DEVICE constexpr offset_t sums_offset(offset_t blocks) noexcept {
    return round_up(header_bytes + blocks / 2 * offset_t{sizeof(CutTile)}, offset_t{128});
  }
};

}  // namespace raggedgemm
