// SPDX-License-Identifier: Apache-2.0
// The tile order is a bijection for every shape, and gives each chiplet one contiguous run.

#include "raggedgemm/schedule/tile_order.hpp"

#include <algorithm>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using namespace raggedgemm;

/// Whether map() (or map_turned()) meets every (row, col) exactly once.
template <bool Turned = false>
bool is_bijection(const TileOrder& order, index_t rows, index_t cols) {
  std::vector<char> met(static_cast<std::size_t>(rows * cols), 0);
  for (index_t tile = 0; tile < rows * cols; ++tile) {
    const TileCoordinate at =
        Turned ? order.map_turned(tile, rows, cols) : order.map(tile, rows, cols);
    if (at.row < 0 || at.row >= rows || at.col < 0 || at.col >= cols) return false;
    char& count = met[static_cast<std::size_t>(at.row * cols + at.col)];
    if (count != 0) return false;
    count = 1;
  }
  return true;
}

TEST_CASE("TileOrder is a bijection for every small shape", "[schedule][host]") {
  int failures = 0;
  for (index_t rows = 1; rows <= 9; ++rows)
    for (index_t cols = 1; cols <= 9; ++cols)
      for (index_t supergroup = 1; supergroup <= 10; ++supergroup)
        for (const index_t chiplets : {1, 2, 3, 6, 8})
          for (index_t bands = 0; bands < 2; ++bands)
            if (!is_bijection(TileOrder{bands, supergroup, chiplets}, rows, cols) ||
                !is_bijection<true>(TileOrder{bands, supergroup, chiplets}, rows, cols))
              ++failures;
  CHECK(failures == 0);
}

TEST_CASE("TileOrder is a bijection for thousands of random shapes", "[schedule][host]") {
  support::Random random(11);
  for (int i = 0; i < 3000; ++i) {
    const index_t rows = static_cast<index_t>(random.between(1, 70));
    const index_t cols = static_cast<index_t>(random.between(1, 70));
    const TileOrder order{static_cast<index_t>(random.between(0, 1)),
                          static_cast<index_t>(random.between(1, 80)),
                          static_cast<index_t>(random.between(1, 40))};
    if (!is_bijection(order, rows, cols))
      FAIL("rows " << rows << ", cols " << cols << ", bands " << order.column_bands
                   << ", supergroup " << order.supergroup << ", chiplets " << order.chiplets);
  }
  SUCCEED();
}

TEST_CASE("Turned rows give every block its share of the short ones", "[schedule][host]") {
  // Groups of a few tile rows, the last of them shorter; blocks take every 132nd tile, as on a
  // card.
  constexpr index_t blocks = 132;
  const TileOrder order{1, 8, 1};
  constexpr index_t cols = 1920;
  const auto most_of_a_block = [&](bool turned, index_t rows) {
    std::vector<int> short_ones(blocks, 0);
    for (index_t tile = 0; tile < rows * cols; ++tile) {
      const TileCoordinate at =
          turned ? order.map_turned(tile, rows, cols) : order.map(tile, rows, cols);
      if (at.row == rows - 1) ++short_ones[static_cast<std::size_t>(tile % blocks)];
    }
    return *std::max_element(short_ones.begin(), short_ones.end());
  };
  constexpr int share = cols / blocks;
  for (const index_t rows : {2, 3, 4, 5, 8, 11}) {
    INFO("rows " << rows);
    CHECK(most_of_a_block(true, rows) <= share + share / 5);
  }
  CHECK(most_of_a_block(false, 11) > 4 * share);  // or this would show nothing
}

TEST_CASE("TileOrder stays inside shapes of nearly 2^31 tiles", "[schedule][host]") {
  for (const index_t chiplets : {1, 8})
    for (index_t bands = 0; bands < 2; ++bands)
      for (const index_t supergroup : {1, 8, 2147483647}) {
        const TileOrder order{bands, supergroup, chiplets};
        constexpr index_t rows = 65536;
        constexpr index_t cols = 32767;
        for (const index_t tile : {index_t{0}, index_t{1}, rows * cols / 2, rows * cols - 1}) {
          const TileCoordinate at = order.map(tile, rows, cols);
          CHECK(at.row >= 0);
          CHECK(at.row < rows);
          CHECK(at.col >= 0);
          CHECK(at.col < cols);
        }
      }
}

TEST_CASE("TileOrder deals each chiplet one contiguous run of the order", "[schedule][host]") {
  for (const index_t chiplets : {2, 3, 6, 8})
    for (const index_t tiles : {1, 5, 7, 8, 9, 63, 64, 65, 1000}) {
      const TileOrder order{0, 1, chiplets};
      for (index_t tile = chiplets; tile < tiles; ++tile) {
        // Tile t and t - chiplets run on one chiplet, one after the other.
        if (order.chiplet_remap(tile, tiles) != order.chiplet_remap(tile - chiplets, tiles) + 1)
          FAIL("chiplets " << chiplets << ", tiles " << tiles << ", tile " << tile);
      }
    }
  SUCCEED();
}

TEST_CASE("tile_order_for bands columns when a group has fewer rows than the output columns",
          "[schedule][host]") {
  CHECK(tile_order_for(31, 32, 8, 1).column_bands == 1);
  CHECK(tile_order_for(32, 32, 8, 1).column_bands == 0);
  CHECK(tile_order_for(1, 4096, 8, 6).supergroup == 8);
  CHECK(tile_order_for(1, 4096, 8, 6).chiplets == 6);
}

TEST_CASE("RowCut covers every extent with as few tiles as blocks would, none of them empty",
          "[schedule][host]") {
  int failures = 0;
  for (const index_t block : {16, 64, 256})
    for (const index_t step : {8, 16, 32, 256})
      for (offset_t extent = 0; extent <= 3000; ++extent) {
        if (step > block) continue;
        const RowCut cut = RowCut::of(extent, block, step);
        failures += cut.tiles != ceil_div(extent, offset_t{block});
        failures += cut.rows > block || cut.rows % step != 0;
        if (cut.tiles == 0) continue;
        const offset_t last = extent - offset_t{cut.rows} * (cut.tiles - 1);
        failures += last < 1 || last > cut.rows;
      }
  CHECK(failures == 0);
  CHECK(RowCut::of(640, 256, 32).rows == 224);  // not 256, 256 and 128
  CHECK(RowCut::of(offset_t{1} << 40, 16, 8).rows == 16);
}

}  // namespace
