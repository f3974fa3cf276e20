// SPDX-License-Identifier: Apache-2.0
// TileOrder: the bijection from a group's tile index to its (row, column) of tiles.
// Chosen on the host from what the host knows; kept apart so that tests can enumerate it.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {

struct TileCoordinate {
  index_t row = 0;
  index_t col = 0;
};

/// Order of the tiles of one group.
///
/// Tiles are walked in bands of `supergroup` tile rows (or, with `column_bands`, tile columns),
/// inside a band across it first: neighbouring tiles share an operand while it is in cache. With
/// `chiplets` > 1, hardware deals work-groups to chiplets round-robin; the remap gives each chiplet
/// a contiguous run of the order, so that its private L2 sees neighbours.
/// Guarantees: a bijection onto tile_rows x tile_cols for every positive size (tested).
struct TileOrder {
  index_t column_bands = 0;  ///< 0: bands of rows; 1: bands of columns (the M/N swap)
  index_t supergroup = 1;    ///< tiles across a band
  index_t chiplets = 1;

  [[nodiscard]] RG_HOST_DEVICE constexpr TileCoordinate map(index_t tile,
                                                            index_t tile_rows,
                                                            index_t tile_cols) const {
    if (chiplets > 1) tile = chiplet_remap(tile, tile_rows * tile_cols);
    const index_t across = column_bands != 0 ? tile_cols : tile_rows;
    const index_t along = column_bands != 0 ? tile_rows : tile_cols;
    // A band of full width holds supergroup * along tiles. Where that passes 31 bits, every tile is
    // in the first band (a division of 64 bits costs a GPU some 100 instructions).
    const index_t band_tiles =
        static_cast<index_t>(min_of(offset_t{supergroup} * along, offset_t{0x7FFFFFFF}));
    const index_t band_begin = tile / band_tiles * supergroup;  // first tile across
    const index_t width = min_of(supergroup, across - band_begin);
    const index_t in_band = tile - band_begin * along;
    const index_t second = in_band / width;
    const index_t first = band_begin + (in_band - second * width);
    return column_bands != 0 ? TileCoordinate{second, first} : TileCoordinate{first, second};
  }

  /// map(), with the tile rows of each band of columns begun one further on: where a group's last
  /// tile row is shorter than the others, no block of a grid gets that one every time, or never.
  [[nodiscard]] RG_HOST_DEVICE constexpr TileCoordinate map_turned(index_t tile,
                                                                   index_t tile_rows,
                                                                   index_t tile_cols) const {
    TileCoordinate where = map(tile, tile_rows, tile_cols);
    if (column_bands == 0 || tile_rows == 1) return where;
    where.row += where.col / supergroup % tile_rows;
    if (where.row >= tile_rows) where.row -= tile_rows;
    return where;
  }

  /// Tile t runs on chiplet t mod `chiplets`; chiplet c gets one contiguous run of the order.
  [[nodiscard]] RG_HOST_DEVICE constexpr index_t chiplet_remap(index_t tile, index_t tiles) const {
    const index_t chiplet = tile % chiplets;
    const index_t position = tile / chiplets;
    const index_t short_run = tiles / chiplets;
    const index_t long_runs = tiles % chiplets;  // this many chiplets hold one tile more
    return chiplet * short_run + min_of(chiplet, long_runs) + position;
  }
};

/// How the rows of a group are cut into tiles: as few as `block` allows; with a `step` below it as
/// even as multiples of the step allow, because the blocks that get a short last tile would idle.
struct RowCut {
  index_t tiles = 0;
  index_t rows = 0;  ///< of every tile but the last, which has at least one

  static RG_HOST_DEVICE constexpr RowCut of(offset_t extent, index_t block, index_t step) {
    const index_t tiles = static_cast<index_t>(ceil_div(extent, offset_t{block}));
    if (step == block || tiles <= 1 || extent > 0x7FFFFFFF) return {tiles, block};
    return {tiles, round_up(ceil_div(static_cast<index_t>(extent), tiles), step)};
  }
};

/// The M/N swap: with fewer rows a group than columns, the columns' operand (the weights) is the
/// larger one, and all row tiles of one column tile should run together.
/// Source: the rule of XLA's dot and ragged dot emitters, M_total / G < N.
constexpr TileOrder tile_order_for(offset_t mean_group_rows,
                                   offset_t cols,
                                   index_t supergroup,
                                   index_t chiplets) noexcept {
  return TileOrder{mean_group_rows < cols ? 1 : 0, supergroup, chiplets};
}

}  // namespace raggedgemm
