// SPDX-License-Identifier: Apache-2.0
// Bank conflicts of every shared memory instruction of the Ampere engine, by enumeration: 32 banks
// of four bytes; an instruction of 16 bytes a lane serves eight lanes in turn, one of eight bytes
// sixteen. ldmatrix reads a matrix, eight addresses, in turn.

#include <algorithm>
#include <map>
#include <set>

#include "raggedgemm/arch/sm80/feed.hpp"
#include "raggedgemm/arch/sm80/matrix_map.hpp"
#include "raggedgemm/arch/sm80/shared_image.hpp"
#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

/// The most clocks that a turn of `together` lanes takes for `bytes` each.
template <class AddressOfLane>
std::size_t slowest(index_t bytes, const AddressOfLane& address_bytes) {
  const index_t together = 128 / bytes;
  std::size_t worst = 0;
  for (index_t first = 0; first < 32; first += together) {
    std::map<index_t, std::set<index_t>> words_of_bank;
    for (index_t lane = first; lane < first + together; ++lane)
      for (index_t word = 0; word < bytes / 4; ++word) {
        const index_t at = address_bytes(lane) / 4 + word;
        words_of_bank[at % 32].insert(at);
      }
    for (const auto& bank : words_of_bank) worst = std::max(worst, bank.second.size());
  }
  return worst;
}

/// Fragments at every place of an image of `Outer` x `Depth`, and the writes of its feed.
template <bool IsA, bool DepthContiguous, index_t Outer, index_t Depth, index_t Lanes>
void check_image() {
  using Fragment = arch::sm80::FragmentMap<IsA>;
  using Image = std::conditional_t<DepthContiguous,
                                   arch::sm80::SharedImage<Outer, Depth / 8>,
                                   arch::sm80::SharedImage<Depth, Outer / 8>>;
  using Feed = arch::sm80::FeedMap<Image, Lanes>;
  for (index_t outer = 0; outer < Outer; outer += Fragment::outer)
    for (index_t depth = 0; depth < Depth; depth += Fragment::depth)
      CHECK(slowest(16, [&](index_t lane) {
              const index_t line = DepthContiguous ? outer : depth;
              const index_t chunk = (DepthContiguous ? depth : outer) / 8;
              return Image::offset_bytes(line + Fragment::line(DepthContiguous, lane),
                                         chunk + Fragment::chunk(DepthContiguous, lane));
            }) == 1);
  for (index_t wave = 0; wave < Lanes / 32; ++wave)
    for (index_t load = 0; load < Feed::loads; ++load)
      CHECK(slowest(16, [&](index_t lane) {
              return Image::offset_bytes(Feed::line(wave * 32 + lane, load),
                                         Feed::chunk(wave * 32 + lane));
            }) == 1);
}

}  // namespace

TEST_CASE("no shared memory instruction of the Ampere engine has bank conflicts", "[arch][host]") {
  SECTION("128 x 256 x 32") {
    check_image<true, true, 128, 32, 256>();
    check_image<true, false, 128, 32, 256>();
    check_image<false, true, 256, 32, 256>();
    check_image<false, false, 256, 32, 256>();
  }
  SECTION("64 x 128 x 64") {
    check_image<true, true, 64, 64, 128>();
    check_image<false, true, 128, 64, 128>();
    check_image<false, false, 128, 64, 128>();
  }
  SECTION("steps of 16, of unaligned operands") {
    check_image<true, true, 128, 16, 256>();
    check_image<true, false, 128, 16, 256>();
    check_image<false, true, 256, 16, 256>();
    check_image<false, false, 256, 16, 256>();
    check_image<true, true, 64, 16, 128>();
    check_image<false, true, 128, 16, 128>();
    check_image<false, false, 128, 16, 128>();
  }
}

TEST_CASE("the staging of the Ampere engine's epilogue has no bank conflicts", "[arch][host]") {
  using Map = arch::sm80::InstructionMap;
  using Piece = arch::sm80::StagingPiece;
  for (index_t col = 0; col < Piece::cols; col += Map::cols)
    for (const index_t elem : {0, 2})
      CHECK(slowest(8, [&](index_t lane) {
              return Piece::offset(Map::d_row(lane, elem), col + Map::d_col(lane, elem)) * 4;
            }) == 1);
  for (index_t turn = 0; turn < Piece::chunks; turn += 32)
    CHECK(slowest(16, [&](index_t lane) {
            return Piece::offset(Piece::row(turn + lane), Piece::col(turn + lane)) * 4;
          }) == 1);
}

TEST_CASE("the bank model sees the conflicts of an image without a twist", "[arch][host]") {
  CHECK(slowest(16, [](index_t lane) { return lane * 128; }) == 8);
  CHECK(slowest(16, [](index_t lane) { return lane * 64; }) == 4);
}
