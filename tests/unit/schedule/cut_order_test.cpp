// SPDX-License-Identifier: Apache-2.0
// The turns of a grid cover every tile once, and those of the last round once a part, for thousands
// of counts; a block's parts are of one round, and the memory for their sums suffices.

#include "raggedgemm/schedule/cut_order.hpp"

#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using namespace raggedgemm;

/// What the turns do to the tiles; empty when all is right.
const char* check(TileCounts tiles, index_t blocks, index_t most_parts) {
  const CutOrder order = CutOrder::of(tiles, blocks, most_parts);
  std::vector<index_t> parts_of(static_cast<std::size_t>(tiles.all), 0);
  index_t last_tile = 0;
  index_t pieces = 0;
  for (offset_t turn = 0; turn < order.count(); ++turn) {
    const Turn now = order.at(turn);
    if (now.tile < last_tile || now.tile >= tiles.all) return "a tile out of order";
    last_tile = now.tile;
    index_t& seen = parts_of[static_cast<std::size_t>(now.tile)];
    if (now.piece < 0) {
      if (seen != 0) return "a whole tile twice";
      seen = -1;
      if (now.part != 0) return "a part of a whole tile";
      continue;
    }
    if (now.tile >= tiles.with_depth) return "a tile without depth is cut";
    if (turn < blocks) return "a part in the first round";
    if (now.piece != pieces++ || now.part != seen++) return "a part out of order";
  }
  if (pieces > blocks) return "more parts than a round has blocks";
  if (order.cut_tiles > blocks / 2) return "more tiles than there is room for";
  if (pieces != order.cut_tiles * order.parts && order.cut_tiles > 0) return "parts are missing";
  for (const index_t seen : parts_of)
    if (seen != -1 && (seen < 2 || seen != order.parts || seen > most_parts))
      return "a tile is not whole";
  if (order.at(order.count()).tile != tiles.all) return "no end";
  if (order.at(offset_t{1} << 40).tile != tiles.all) return "no end far away";
  return nullptr;
}

TEST_CASE("Turns cover every tile once, or once a part", "[schedule][host]") {
  support::Random random(5);
  for (int i = 0; i < 20000; ++i) {
    TileCounts tiles;
    tiles.with_depth = static_cast<index_t>(random.between(0, 90));
    tiles.all =
        tiles.with_depth + static_cast<index_t>(random.one_in(2) ? 0 : random.between(0, 9));
    const index_t blocks = static_cast<index_t>(random.between(1, 40));
    const index_t parts = static_cast<index_t>(random.between(1, 17));
    if (const char* const wrong = check(tiles, blocks, parts))
      FAIL(wrong << ": " << tiles.with_depth << " of " << tiles.all << " tiles, " << blocks
                 << " blocks, parts " << parts);
  }
  SUCCEED();
}

TEST_CASE("The last round is cut into as many parts as there are blocks for", "[schedule][host]") {
  const CutOrder four_left = CutOrder::of({400, 400}, 132, 16);
  CHECK(four_left.whole == 396);
  CHECK(four_left.cut_tiles == 4);
  CHECK(four_left.parts == 16);  // 33 would find a block, but are not allowed
  CHECK(CutOrder::of({1216, 1216}, 132, 16).parts == 4);    // 28 tiles
  CHECK(CutOrder::of({528, 528}, 132, 16).cut_tiles == 0);  // none is left
  CHECK(CutOrder::of({512, 512}, 132, 16).cut_tiles == 0);  // 116 are, for 132 blocks
  CHECK(CutOrder::of({131, 131}, 132, 16).cut_tiles == 0);  // the first round
  CHECK(CutOrder::of({400, 400}, 132, 1).cut_tiles == 0);
}

TEST_CASE("What is left of cut tiles fits into its bytes", "[schedule][host]") {
  for (const offset_t blocks : {1, 2, 7, 132, 264}) {
    std::vector<unsigned char> memory(static_cast<std::size_t>(CutSums::bytes(blocks, 4096)));
    unsigned char* const begin = memory.data();
    const CutSums cut = CutSums::of(begin, blocks);
    const auto offset = [&](const void* at) {
      return static_cast<const unsigned char*>(at) - begin;
    };
    CHECK(offset(cut.tiles) >= 8);
    CHECK(offset(cut.tiles) % 16 == 0);
    CHECK(offset(cut.tiles + blocks / 2) <= offset(cut.sums));
    CHECK(offset(cut.sums) % 128 == 0);
    CHECK(offset(cut.sums) + blocks * 4096 == CutSums::bytes(blocks, 4096));
  }
}

}  // namespace
