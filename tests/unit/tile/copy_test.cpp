// SPDX-License-Identifier: Apache-2.0
// copy: every element arrives where the tile map says, padding is zero, nothing else is read.

#include "raggedgemm/tile/copy.hpp"

#include <vector>

#include "raggedgemm/arch/host/block.hpp"
#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using namespace raggedgemm;
using Block = arch::host::Block<float, 12, 32, 8, 1>;

/// Copies into a poisoned tile and counts what is wrong.
template <class Map>
int wrong_elements(index_t outer, index_t depth, offset_t outer_stride, offset_t depth_stride) {
  const offset_t elems = 1 + (outer - 1) * outer_stride + (depth - 1) * depth_stride;
  std::vector<bf16> source(static_cast<std::size_t>(elems),
                           bf16{0x7FC0});  // exactly what may be read
  for (offset_t i = 0; i < outer; ++i)
    for (offset_t k = 0; k < depth; ++k)
      source[static_cast<std::size_t>(i * outer_stride + k * depth_stride)] =
          to_bf16(static_cast<float>(100 * i + k + 1));
  alignas(64) static float tile[Map::elems];
  for (float& value : tile) value = __builtin_nanf("");
  copy<Block, Map>(tile, source.data(), outer_stride, depth_stride, outer, depth);
  int wrong = 0;
  for (index_t i = 0; i < round_up(outer, Map::chunk); ++i)
    for (index_t k = 0; k < depth; ++k) {
      const float needed =
          i < outer ? to_float(to_bf16(static_cast<float>(100 * i + k + 1))) : 0.0F;
      if (tile[Map::offset(i, k)] != needed) ++wrong;
    }
  return wrong;
}

TEST_CASE("copy fills whole chunks, zero past the valid rows, for any strides", "[tile][host]") {
  for (index_t outer = 1; outer <= 12; ++outer)
    for (index_t depth = 1; depth <= 8; ++depth) {
      REQUIRE(wrong_elements<Block::AMap>(outer, depth, 8, 1) == 0);   // row-major
      REQUIRE(wrong_elements<Block::AMap>(outer, depth, 1, 13) == 0);  // transposed
      REQUIRE(wrong_elements<Block::AMap>(outer, depth, 19, 2) == 0);  // neither
    }
  for (index_t outer = 1; outer <= 32; ++outer)
    for (index_t depth = 1; depth <= 8; ++depth) {
      REQUIRE(wrong_elements<Block::BMap>(outer, depth, 1, 32) == 0);
      REQUIRE(wrong_elements<Block::BMap>(outer, depth, 9, 1) == 0);
    }
}

TEST_CASE("The host's tile maps give every element a place of its own", "[arch][host]") {
  std::vector<int> used(static_cast<std::size_t>(Block::AMap::elems), 0);
  for (index_t i = 0; i < Block::AMap::outer; ++i)
    for (index_t k = 0; k < Block::AMap::depth; ++k) {
      const index_t at = Block::AMap::offset(i, k);
      REQUIRE(at >= 0);
      REQUIRE(at < Block::AMap::elems);
      REQUIRE(++used[static_cast<std::size_t>(at)] == 1);
    }
}

}  // namespace
