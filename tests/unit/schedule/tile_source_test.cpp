// SPDX-License-Identifier: Apache-2.0
// Tile sources hand out every tile id once, in increasing order for each block.

#include "raggedgemm/schedule/tile_source.hpp"

#include <vector>

#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

TEST_CASE("RoundRobin blocks share the tiles without a gap or a double", "[schedule][host]") {
  constexpr offset_t tiles = 1000;
  for (const offset_t blocks : {1, 2, 7, 132, 999, 1001}) {
    std::vector<int> taken(tiles, 0);
    for (offset_t block = 0; block < blocks; ++block) {
      RoundRobin source(block, blocks);
      offset_t before = -1;
      for (offset_t tile = source.next(); tile < tiles; tile = source.next()) {
        REQUIRE(tile > before);
        before = tile;
        ++taken[static_cast<std::size_t>(tile)];
      }
    }
    CHECK(taken == std::vector<int>(tiles, 1));
  }
}

TEST_CASE("SharedCounter hands out each tile once", "[schedule][host]") {
  std::atomic<offset_t> counter{0};
  SharedCounter first(counter);
  SharedCounter second(counter);
  CHECK(first.next() == 0);
  CHECK(second.next() == 1);
  CHECK(first.next() == 2);
}

}  // namespace
