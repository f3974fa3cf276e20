// SPDX-License-Identifier: Apache-2.0
// The SIMT lane map covers a tile exactly once, for every tile config of the table.

#include "raggedgemm/arch/simt/lane_map.hpp"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "raggedgemm/dispatch/config_table.hpp"
#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

/// Elements that the lanes own more or less than once.
template <class Map>
int miscounted(index_t block_m, index_t block_n, index_t lanes) {
  std::vector<int> owners(static_cast<std::size_t>(block_m * block_n), 0);
  for (index_t lane = 0; lane < lanes; ++lane)
    for (index_t i = 0; i < Map::rows_per_lane; ++i)
      for (index_t j = 0; j < Map::chunks_per_lane; ++j)
        for (index_t v = 0; v < Map::chunk; ++v) {
          const index_t row = Map::row(lane, i);
          const index_t col = Map::col(lane, j) + v;
          if (row < 0 || row >= block_m || col < 0 || col >= block_n) return -1;
          ++owners[static_cast<std::size_t>(row * block_n + col)];
        }
  int count = 0;
  for (const int n : owners) count += n != 1 ? 1 : 0;
  return count;
}

/// Checks the row if it is one of the SIMT engine's; returns how many were checked.
template <index_t Row>
int check_row() {
  constexpr ConfigRow row = config_row(Row);
  constexpr TileConfig tile = row.config;
  if constexpr (tile.engine == EngineId::simple && row.arch != Arch::host) {
    using Map = arch::simt::LaneMap<tile.block_m, tile.block_n, tile.lanes>;
    INFO(row.name);
    CHECK(miscounted<Map>(tile.block_m, tile.block_n, tile.lanes) == 0);
    // One chunk is stored as one packet: it must not straddle its alignment.
    for (index_t lane = 0; lane < tile.lanes; ++lane) REQUIRE(Map::col(lane, 0) % Map::chunk == 0);
    return 1;
  }
  return 0;
}

template <index_t... Rows>
int check_rows(std::integer_sequence<index_t, Rows...>) {
  return (check_row<Rows>() + ...);
}

TEST_CASE("The SIMT lane map covers the tile of every config row exactly once", "[arch][host]") {
  CHECK(check_rows(std::make_integer_sequence<index_t, config_rows>{}) >= 4);
}

TEST_CASE("The SIMT lane map covers other tiles exactly once", "[arch][host]") {
  CHECK(miscounted<arch::simt::LaneMap<32, 64, 128>>(32, 64, 128) == 0);
  CHECK(miscounted<arch::simt::LaneMap<8, 256, 64>>(8, 256, 64) == 0);
  CHECK(miscounted<arch::simt::LaneMap<256, 128, 512>>(256, 128, 512) == 0);
}

TEST_CASE("Every config row of the table is whole", "[dispatch][host]") {
  std::set<std::pair<std::string, Arch>> names;
  for (index_t i = 0; i < config_rows; ++i) {
    const ConfigRow& row = config_row(i);
    INFO("row " << i << " " << row.name);
    CHECK(names.insert({row.name, row.arch}).second);
    CHECK(std::string(row.provenance) != "");
    CHECK(row.variants != 0);
    CHECK((row.any_dtypes || row.input_dtypes != 0));
    CHECK(row.mean_extent_at_least <= row.mean_extent_at_most);
    // What validate() and the decoders count on.
    CHECK(row.config.block_m >= 16);
    CHECK(row.config.block_n >= 32);
    CHECK(row.config.supergroup >= 1);
  }
  // Every architecture has, for every variant, a row that runs anything of any size.
  for (const Arch arch :
       {Arch::host, Arch::sm70, Arch::sm80, Arch::sm90, Arch::gfx9, Arch::gfx942, Arch::gfx950})
    for (int variant = 0; variant < variant_count; ++variant) {
      bool found = false;
      for (index_t i = 0; i < config_rows; ++i) {
        const ConfigRow& row = config_row(i);
        found |= runs_on(row.arch, arch) && row.any_dtypes && row.alignment_bytes == 1 &&
                 row.core && row.config.layout == Layout::strided &&
                 (row.variants & bit_of(static_cast<Variant>(variant))) != 0;
      }
      CHECK(found);
    }
}

}  // namespace
