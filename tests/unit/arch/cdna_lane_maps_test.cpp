// SPDX-License-Identifier: Apache-2.0
// The lane maps of CDNA's matrix instructions and feeds: every element has one lane, and 64
// simulated lanes that follow the maps multiply right.

#include <array>
#include <vector>

#include "raggedgemm/arch/cdna/feed.hpp"
#include "raggedgemm/arch/cdna/shared_image.hpp"
#include "raggedgemm/arch/gfx942/matrix.hpp"
#include "raggedgemm/arch/gfx950/matrix.hpp"
#include "raggedgemm/engine/mfma.hpp"
#include "support/catch.hpp"

namespace {

using namespace raggedgemm;
using arch::cdna::SliceMap;

constexpr index_t lanes = arch::cdna::wave_lanes;

/// True when f(i), i < calls, takes each value 0 … calls - 1 once.
template <class F>
bool is_bijection(index_t calls, const F& f) {
  std::vector<int> hits(static_cast<std::size_t>(calls), 0);
  for (index_t i = 0; i < calls; ++i) {
    const index_t value = f(i);
    if (value < 0 || value >= calls || hits[static_cast<std::size_t>(value)]++ != 0) return false;
  }
  return true;
}

template <class Map>
void check_instruction_map() {
  CHECK(is_bijection(Map::outer * Map::depth, [](index_t i) {
    const index_t lane = i / Map::operand_elems;
    return Map::operand_outer(lane) * Map::depth + Map::operand_depth(lane, i % Map::operand_elems);
  }));
  CHECK(is_bijection(Map::outer * Map::outer, [](index_t i) {
    const index_t lane = i / Map::result_elems;
    return Map::result_row(lane, i % Map::result_elems) * Map::outer + Map::result_col(lane);
  }));
  // The engine stores runs of consecutive rows of D (columns of the output) as one chunk.
  for (index_t lane = 0; lane < lanes; ++lane)
    for (index_t elem = 0; elem < Map::result_elems; ++elem)
      CHECK(Map::result_row(lane, elem) ==
            Map::result_row(lane, elem - elem % Map::result_run) + elem % Map::result_run);
}

using Fragment = std::array<int, SliceMap::elems>;
using Result = std::array<int, 16>;

/// One matrix instruction, by its lane map: gathers A and B, multiplies, scatters into D.
template <class Map>
void simulate(const std::array<Fragment, 64>& a,
              const std::array<Fragment, 64>& b,
              index_t first_elem,
              std::array<Result, 64>& d) {
  int am[32][16] = {};
  int bm[16][32] = {};
  for (index_t lane = 0; lane < lanes; ++lane)
    for (index_t j = 0; j < Map::operand_elems; ++j) {
      const auto l = static_cast<std::size_t>(lane);
      const auto e = static_cast<std::size_t>(first_elem + j);
      am[Map::operand_outer(lane)][Map::operand_depth(lane, j)] = a[l][e];
      bm[Map::operand_depth(lane, j)][Map::operand_outer(lane)] = b[l][e];
    }
  for (index_t lane = 0; lane < lanes; ++lane)
    for (index_t i = 0; i < Map::result_elems; ++i)
      for (index_t k = 0; k < Map::depth; ++k)
        d[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)] +=
            am[Map::result_row(lane, i)][k] * bm[k][Map::result_col(lane)];
}

/// A 64-deep step of one 32 x 32 tile, as the engine does it: operands in shared images, fragments
/// read by SliceMap, operands swapped, chunks of four columns.
template <class Map>
void check_step_multiplies_right() {
  using Image = arch::cdna::SharedImage<32>;
  constexpr index_t slices = Image::depth / SliceMap::depth;
  constexpr index_t parts = SliceMap::depth / Map::depth;
  std::vector<int> a_image(static_cast<std::size_t>(Image::bytes / 2));
  std::vector<int> b_image(a_image.size());
  const auto a_at = [](index_t m, index_t k) { return (m * 7 + k * 3) % 11 - 5; };
  const auto b_at = [](index_t k, index_t n) { return (n * 5 + k * 2) % 13 - 6; };
  for (index_t row = 0; row < 32; ++row)
    for (index_t k = 0; k < Image::depth; ++k) {
      const index_t at = Image::offset_bytes(row, k / Image::chunk_elems) / Image::elem_bytes +
                         k % Image::chunk_elems;
      a_image[static_cast<std::size_t>(at)] = a_at(row, k);
      b_image[static_cast<std::size_t>(at)] = b_at(k, row);
    }
  std::array<Result, 64> d{};
  for (index_t slice = 0; slice < slices; ++slice) {
    std::array<Fragment, 64> a;
    std::array<Fragment, 64> b;
    for (index_t lane = 0; lane < lanes; ++lane) {
      const index_t from = Image::offset_bytes(SliceMap::outer(lane), SliceMap::chunk(lane)) ^
                           SliceMap::chunk_bits(slice) * Image::chunk_bytes;
      for (index_t e = 0; e < SliceMap::elems; ++e) {
        const auto at = static_cast<std::size_t>(from / Image::elem_bytes + e);
        a[static_cast<std::size_t>(lane)][static_cast<std::size_t>(e)] = a_image[at];
        b[static_cast<std::size_t>(lane)][static_cast<std::size_t>(e)] = b_image[at];
      }
    }
    for (index_t part = 0; part < parts; ++part)
      simulate<Map>(b, a, part * Map::operand_elems, d);  // swapped, as the engine does
  }
  for (index_t lane = 0; lane < lanes; ++lane)
    for (index_t i = 0; i < Map::result_elems; ++i) {
      const index_t m = Map::result_col(lane);
      const index_t n = Map::result_row(lane, i);
      int sum = 0;
      for (index_t k = 0; k < Image::depth; ++k) sum += a_at(m, k) * b_at(k, n);
      CHECK(d[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)] == sum);
    }
}

template <index_t Outer, index_t Lanes>
void check_feed_maps() {
  using Image = arch::cdna::SharedImage<Outer>;
  using DepthMajor = arch::cdna::DepthMajorMap<Outer, Lanes>;
  CHECK(is_bijection(Lanes * DepthMajor::loads, [](index_t i) {
    const index_t lane = i % Lanes;
    return DepthMajor::row(lane, i / Lanes) * Image::chunks + DepthMajor::chunk(lane);
  }));
  // A lane's writes are a constant step apart: the twist must not change from one to the next.
  for (index_t lane = 0; lane < Lanes; ++lane)
    for (index_t load = 0; load < DepthMajor::loads; ++load)
      CHECK(Image::offset_bytes(DepthMajor::row(lane, load), DepthMajor::chunk(lane)) ==
            Image::offset_bytes(DepthMajor::row(lane, 0), DepthMajor::chunk(lane)) +
                load * DepthMajor::row_step * Image::row_bytes);

  using OuterMajor = arch::cdna::OuterMajorMap<Outer, Lanes>;
  CHECK(is_bijection(Lanes * OuterMajor::units * OuterMajor::unit_outer, [](index_t i) {
    const index_t lane = i % Lanes;
    const index_t unit = i / Lanes % OuterMajor::units;
    const index_t column = i / (Lanes * OuterMajor::units);
    return (OuterMajor::outer(lane, unit) + column) * Image::chunks + OuterMajor::chunk(lane, unit);
  }));
  // Writes of one unit flip bits of the first one's address.
  for (index_t lane = 0; lane < Lanes; ++lane)
    for (index_t unit = 0; unit < OuterMajor::units; ++unit)
      for (index_t column = 0; column < OuterMajor::unit_outer; ++column) {
        const index_t outer = OuterMajor::outer(lane, unit);
        const index_t chunk = OuterMajor::chunk(lane, unit);
        CHECK(Image::offset_bytes(outer + column, chunk) ==
              (Image::offset_bytes(outer, chunk) ^ Image::twist(column) * Image::chunk_bytes) +
                  column * Image::row_bytes);
      }
}

}  // namespace

TEST_CASE("matrix instruction maps cover operands and result exactly once", "[arch][host]") {
  SECTION("gfx942") { check_instruction_map<arch::gfx942::InstructionMap>(); }
  SECTION("gfx950") { check_instruction_map<arch::gfx950::InstructionMap>(); }
}

TEST_CASE("64 lanes that follow the slice and instruction maps multiply right", "[arch][host]") {
  SECTION("gfx942, two instructions a slice") {
    check_step_multiplies_right<arch::gfx942::InstructionMap>();
  }
  SECTION("gfx950, one instruction a slice") {
    check_step_multiplies_right<arch::gfx950::InstructionMap>();
  }
}

TEST_CASE("feeds write every chunk of a tile exactly once", "[arch][host]") {
  SECTION("256 outer indices, 512 lanes") { check_feed_maps<256, 512>(); }
  SECTION("128 outer indices, 256 lanes") { check_feed_maps<128, 256>(); }
}

TEST_CASE("a shared image holds each chunk at a place of its own", "[arch][host]") {
  using Image = arch::cdna::SharedImage<256>;
  CHECK(is_bijection(Image::outer * Image::chunks, [](index_t i) {
    return Image::offset_bytes(i / Image::chunks, i % Image::chunks) / Image::chunk_bytes;
  }));
  for (index_t row = 0; row + Image::period_rows < Image::outer; ++row)
    CHECK(Image::twist(row) == Image::twist(row + Image::period_rows));
}

TEST_CASE("waves of a block share its tile exactly", "[engine][host]") {
  using Large = engine::WaveGrid<256, 256, 512>;
  CHECK(Large::wave_rows * Large::rows == 256);
  CHECK(Large::wave_cols * Large::cols == 256);
  CHECK(Large::row_tiles == 4);
  CHECK(Large::col_tiles == 2);
  using Small = engine::WaveGrid<128, 128, 256>;
  CHECK(Small::row_tiles == 2);
  CHECK(Small::col_tiles == 2);
}
