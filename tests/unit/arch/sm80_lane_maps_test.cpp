// SPDX-License-Identifier: Apache-2.0
// Ampere's lane maps: fragments and accumulators cover their tiles exactly once and multiply right;
// what ldmatrix hands out is what the matrix instruction wants, from images of both orders.

#include <vector>

#include "raggedgemm/arch/sm80/feed.hpp"
#include "raggedgemm/arch/sm80/matrix_map.hpp"
#include "raggedgemm/arch/sm80/shared_image.hpp"
#include "support/catch.hpp"

namespace {

using namespace raggedgemm;
using Map = arch::sm80::InstructionMap;
constexpr index_t lanes = 32;

/// How many of `size` places are not met exactly once by `place(lane, elem)`.
template <class F>
int not_once(index_t size, index_t elems, const F& place) {
  std::vector<int> met(static_cast<std::size_t>(size), 0);
  int outside = 0;
  for (index_t lane = 0; lane < lanes; ++lane)
    for (index_t elem = 0; elem < elems; ++elem) {
      const index_t at = place(lane, elem);
      if (at < 0 || at >= size)
        ++outside;
      else
        ++met[static_cast<std::size_t>(at)];
    }
  for (const int count : met) outside += count == 1 ? 0 : 1;
  return outside;
}

TEST_CASE("mma.m16n8k16's lanes cover A, B and D exactly once", "[arch][host]") {
  CHECK(not_once(Map::rows * Map::depth, Map::a_elems, [](index_t lane, index_t e) {
          return Map::a_row(lane, e) * Map::depth + Map::a_depth(lane, e);
        }) == 0);
  CHECK(not_once(Map::cols * Map::depth, Map::b_elems, [](index_t lane, index_t e) {
          return Map::b_col(lane) * Map::depth + Map::b_depth(lane, e);
        }) == 0);
  CHECK(not_once(Map::rows * Map::cols, Map::d_elems, [](index_t lane, index_t e) {
          return Map::d_row(lane, e) * Map::cols + Map::d_col(lane, e);
        }) == 0);
}

TEST_CASE("registers of A and B hold neighbours along the depth, those of D along the columns",
          "[arch][host]") {
  int failures = 0;
  for (index_t lane = 0; lane < lanes; ++lane) {
    for (index_t e = 0; e < Map::a_elems; e += 2)
      failures += Map::a_row(lane, e) != Map::a_row(lane, e + 1) ||
                  Map::a_depth(lane, e) + 1 != Map::a_depth(lane, e + 1);
    for (index_t e = 0; e < Map::b_elems; e += 2)
      failures += Map::b_depth(lane, e) + 1 != Map::b_depth(lane, e + 1);
    for (index_t e = 0; e < Map::d_elems; e += 2)
      failures += Map::d_row(lane, e) != Map::d_row(lane, e + 1) ||
                  Map::d_col(lane, e) + 1 != Map::d_col(lane, e + 1);
  }
  CHECK(failures == 0);
}

/// What lane `lane` gets as element `elem` of register `matrix` when ldmatrix reads a fragment
/// whose lines and chunks the lanes name: the outer and depth index that lie at that place.
template <bool IsA>
void check_fragment(bool depth_contiguous) {
  using Fragment = arch::sm80::FragmentMap<IsA>;
  int failures = 0;
  for (index_t lane = 0; lane < lanes; ++lane)
    for (index_t matrix = 0; matrix < 4; ++matrix)
      for (index_t elem = 0; elem < 2; ++elem) {
        // ldmatrix: row `line` of the matrix is at the address of lane matrix * 8 + line; the
        // receiving lane holds (lane / 4, lane % 4 * 2 + elem), or the transposed place.
        const index_t row = depth_contiguous ? lane / 4 : lane % 4 * 2 + elem;
        const index_t col = depth_contiguous ? lane % 4 * 2 + elem : lane / 4;
        const index_t giver = matrix * 8 + row;
        const index_t line = Fragment::line(depth_contiguous, giver);
        const index_t in_line = Fragment::chunk(depth_contiguous, giver) * 8 + col;
        const index_t outer = depth_contiguous ? line : in_line;
        const index_t depth = depth_contiguous ? in_line : line;
        failures += outer != Fragment::outer_of(lane, matrix);
        failures += depth != Fragment::depth_of(lane, matrix, elem);
        // And the instruction wants just that in register `matrix`.
        if (IsA) {
          failures += outer != Map::a_row(lane, matrix * 2 + elem);
          failures += depth != Map::a_depth(lane, matrix * 2 + elem);
        } else {
          const index_t instruction = matrix / 2;
          failures += outer != instruction * Map::cols + Map::b_col(lane);
          failures += depth != Map::b_depth(lane, matrix % 2 * 2 + elem);
        }
      }
  CHECK(failures == 0);
}

TEST_CASE("ldmatrix hands every lane what the matrix instruction wants of it", "[arch][host]") {
  for (const bool depth_contiguous : {true, false}) {
    check_fragment<true>(depth_contiguous);
    check_fragment<false>(depth_contiguous);
  }
}

template <index_t Lines, index_t Chunks, index_t Lanes>
void check_feed() {
  using Image = arch::sm80::SharedImage<Lines, Chunks>;
  using Feed = arch::sm80::FeedMap<Image, Lanes>;
  std::vector<int> met(static_cast<std::size_t>(Image::bytes / Image::chunk_bytes), 0);
  int failures = 0;
  for (index_t lane = 0; lane < Lanes; ++lane) {
    const index_t first = Image::offset_bytes(Feed::line(lane, 0), Feed::chunk(lane));
    for (index_t load = 0; load < Feed::loads; ++load) {
      const index_t at = Image::offset_bytes(Feed::line(lane, load), Feed::chunk(lane));
      // What the feed adds to the address of its first chunk.
      failures += at != first + load * Feed::line_step * Image::line_bytes;
      failures += at < 0 || at >= Image::bytes || at % Image::chunk_bytes != 0;
      if (at >= 0 && at < Image::bytes) ++met[static_cast<std::size_t>(at / Image::chunk_bytes)];
    }
  }
  for (const int count : met) failures += count != 1;
  CHECK(failures == 0);
}

TEST_CASE("the lanes of a feed fill every chunk of the image exactly once", "[arch][host]") {
  check_feed<128, 4, 256>();  // depth-major, 32 deep
  check_feed<256, 4, 256>();
  check_feed<64, 8, 128>();  // depth-major, 64 deep
  check_feed<128, 8, 128>();
  check_feed<32, 16, 256>();  // outer-major
  check_feed<32, 32, 256>();
  check_feed<64, 16, 128>();
  check_feed<128, 2, 256>();  // steps of 16
  check_feed<256, 2, 256>();
  check_feed<16, 16, 256>();
  check_feed<16, 32, 256>();
  check_feed<16, 16, 128>();
}

}  // namespace
