// SPDX-License-Identifier: Apache-2.0
// The lane maps of CDNA's matrix instructions and feeds: every element has one lane, and 64
// simulated lanes that follow the maps multiply right.

#include <array>
#include <vector>

#include "raggedgemm/arch/cdna/direct_feed.hpp"
#include "raggedgemm/arch/cdna/feed.hpp"
#include "raggedgemm/arch/cdna/shared_image.hpp"
#include "raggedgemm/arch/gfx942/matrix.hpp"
#include "raggedgemm/arch/gfx950/matrix.hpp"
#include "raggedgemm/engine/mfma.hpp"
#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

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

/// What the engine relies on for an instruction for elements of type T.
template <class T, class Instruction>
void check_instruction_map() {
  using Map = typename Instruction::Map;
  CHECK(Map::operand_elems * index_t{sizeof(T)} == Instruction::operand_bytes);
  CHECK(is_bijection(Map::outer * Map::depth, [](index_t i) {
    const index_t lane = i / Map::operand_elems;
    return Map::operand_outer(lane) * Map::depth + Map::operand_depth(lane, i % Map::operand_elems);
  }));
  CHECK(is_bijection(Map::outer * Map::outer, [](index_t i) {
    const index_t lane = i / Map::result_elems;
    return Map::result_row(lane, i % Map::result_elems) * Map::outer + Map::result_col(lane);
  }));
  CHECK(is_bijection(Map::outer, [](index_t i) { return Map::index_of_row(i); }));
  CHECK(is_bijection(Map::result_elems, [](index_t i) { return Map::result_elem(i); }));
  // The engine stores runs of consecutive indices of A's side (columns of the output) as one chunk.
  const auto index_of = [](index_t lane, index_t place) {
    return Map::index_of_row(Map::result_row(lane, Map::result_elem(place)));
  };
  for (index_t lane = 0; lane < lanes; ++lane)
    for (index_t place = 0; place < Map::result_elems; ++place) {
      const index_t in_run = place % Map::result_run;
      CHECK(index_of(lane, place) == index_of(lane, place - in_run) + in_run);
    }
}

using Numbers = std::vector<int>;  // of one lane
using Wave = std::array<Numbers, 64>;

/// One matrix instruction, by its lane map: gathers A and B, multiplies, scatters into D.
template <class Map>
void simulate(const Wave& a, const Wave& b, index_t first_elem, Wave& d) {
  int am[Map::outer][Map::depth] = {};
  int bm[Map::depth][Map::outer] = {};
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

/// One step of one matrix tile, as the engine does it: operands in shared images, fragments read by
/// SliceMap, operands swapped, chunks of consecutive columns.
template <class T, class Instruction>
void check_step_multiplies_right() {
  using Map = typename Instruction::Map;
  using Slice = arch::cdna::SliceMap<Instruction>;
  using Image = arch::cdna::SharedImage<index_t{sizeof(T)}, Map::outer>;
  constexpr index_t slices = Image::chunks / Slice::depth_chunks;
  static_assert(slices * Slice::depth_chunks == Image::chunks);
  static_assert(slices * Instruction::instructions * Map::depth == Image::depth);
  Numbers a_image(static_cast<std::size_t>(Image::bytes / Image::elem_bytes));
  Numbers b_image(a_image.size());
  const auto a_at = [](index_t m, index_t k) { return (m * 7 + k * 3) % 11 - 5; };
  const auto b_at = [](index_t k, index_t n) { return (n * 5 + k * 2) % 13 - 6; };
  for (index_t row = 0; row < Map::outer; ++row)
    for (index_t k = 0; k < Image::depth; ++k) {
      const index_t at = Image::offset_bytes(row, k / Image::chunk_elems) / Image::elem_bytes +
                         k % Image::chunk_elems;
      a_image[static_cast<std::size_t>(at)] = a_at(row, k);
      b_image[static_cast<std::size_t>(at)] = b_at(k, row);
    }
  Wave d;
  d.fill(Numbers(static_cast<std::size_t>(Map::result_elems), 0));
  for (index_t slice = 0; slice < slices; ++slice) {
    Wave a;
    Wave b;
    const auto read = [&](const Numbers& image, index_t row, index_t lane, Numbers& fragment) {
      for (index_t part = 0; part < Slice::chunks; ++part) {
        const index_t from = Image::offset_bytes(row, Slice::chunk(lane)) ^
                             Slice::chunk_bits(slice, part) * Image::chunk_bytes;
        for (index_t e = 0; e < Image::chunk_elems; ++e)
          fragment.push_back(image[static_cast<std::size_t>(from / Image::elem_bytes + e)]);
      }
    };
    for (index_t lane = 0; lane < lanes; ++lane) {
      const index_t outer = Map::operand_outer(lane);
      read(a_image, outer, lane, a[static_cast<std::size_t>(lane)]);
      read(b_image, Map::index_of_row(outer), lane, b[static_cast<std::size_t>(lane)]);
    }
    for (index_t part = 0; part < Instruction::instructions; ++part)
      simulate<Map>(b, a, part * Map::operand_elems, d);  // swapped, as the engine does
  }
  for (index_t lane = 0; lane < lanes; ++lane)
    for (index_t i = 0; i < Map::result_elems; ++i) {
      const index_t m = Map::result_col(lane);
      const index_t n = Map::index_of_row(Map::result_row(lane, i));
      int sum = 0;
      for (index_t k = 0; k < Image::depth; ++k) sum += a_at(m, k) * b_at(k, n);
      CHECK(d[static_cast<std::size_t>(lane)][static_cast<std::size_t>(i)] == sum);
    }
}

template <class T, class Instruction>
void check_instruction() {
  check_instruction_map<T, Instruction>();
  check_step_multiplies_right<T, Instruction>();
}

template <index_t ElemBytes, index_t Outer, index_t Lanes>
void check_depth_major_map() {
  using Image = arch::cdna::SharedImage<ElemBytes, Outer>;
  using DepthMajor = arch::cdna::DepthMajorMap<ElemBytes, Outer, Lanes>;
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
}

template <index_t ElemBytes, index_t Outer, index_t Lanes>
void check_feed_maps() {
  check_depth_major_map<ElemBytes, Outer, Lanes>();
  using Image = arch::cdna::SharedImage<ElemBytes, Outer>;
  using OuterMajor = arch::cdna::OuterMajorMap<ElemBytes, Outer, Lanes>;
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

/// Loads to shared memory fill an image: the lane at a place asks for the chunk that belongs there,
/// and for the same one in each of its loads, or in each `chunk_loads`th.
template <class Image, index_t Lanes>
void check_direct_map() {
  using Map = arch::cdna::DirectMap<Image, Lanes>;
  for (index_t lane = 0; lane < Lanes; ++lane)
    for (index_t load = 0; load < Map::loads; ++load)
      CHECK(Image::offset_bytes(Map::line(lane, load), Map::chunk(lane, load)) ==
            lane * Image::chunk_bytes + load * Map::load_bytes);
}

/// A fragment that transposing reads make of an OuterImage is the one that a read of a SharedImage
/// gives.
void check_transposing_reads() {
  using Image = arch::cdna::OuterImage<2, 256>;
  using Read = arch::cdna::TransposingRead;
  using Slice = arch::cdna::SliceMap<arch::gfx950::InstructionFor<bf16>>;
  std::vector<index_t> image(static_cast<std::size_t>(Image::bytes / 2));  // depth · 256 + outer
  for (index_t depth = 0; depth < Image::depth; ++depth)
    for (index_t outer = 0; outer < Image::outer; ++outer)
      image[static_cast<std::size_t>(Image::offset_bytes(depth, outer / Image::chunk_elems) / 2 +
                                     outer % Image::chunk_elems)] = depth * 256 + outer;
  for (index_t wave_first = 0; wave_first < Image::outer; wave_first += 128)
    for (index_t tile = 0; tile < 4; ++tile)
      for (index_t slice = 0; slice < 4; ++slice)
        for (index_t read = 0; read < Read::reads; ++read) {
          // As the engine computes it: the address for the first read, bits flipped, rows added.
          const auto named = [&](index_t lane) {
            const index_t outer = wave_first + Read::named_outer(lane);
            const index_t begin =
                Image::offset_bytes(Read::named_depth(lane, 0), outer / Image::chunk_elems) +
                outer % Image::chunk_elems * 2;
            return (begin ^ tile * 64) + (slice * 16 + read * Read::elems) * Image::row_bytes;
          };
          for (index_t lane = 0; lane < lanes; ++lane)
            for (index_t elem = 0; elem < Read::elems; ++elem) {
              const index_t at = named(Read::got_lane(lane, elem)) / 2 + Read::got_elem(lane);
              const index_t depth =
                  (Slice::chunk(lane) ^ Slice::chunk_bits(slice, 0)) * 8 + read * 4 + elem;
              CHECK(image[static_cast<std::size_t>(at)] ==
                    depth * 256 + wave_first + tile * 32 + lane % 32);
            }
        }
}

}  // namespace

TEST_CASE("loads to shared memory put every chunk at its place", "[arch][host]") {
  SECTION("depth contiguous, 16 bits") { check_direct_map<arch::cdna::SharedImage<2, 256>, 512>(); }
  SECTION("depth contiguous, 8 bits") { check_direct_map<arch::cdna::SharedImage<1, 256>, 512>(); }
  SECTION("outer index contiguous") { check_direct_map<arch::cdna::OuterImage<2, 256>, 512>(); }
  SECTION("depth contiguous, 256 lanes") {
    check_direct_map<arch::cdna::SharedImage<2, 256>, 256>();
  }
  SECTION("outer index contiguous, 256 lanes") {
    check_direct_map<arch::cdna::OuterImage<2, 256>, 256>();
    static_assert(arch::cdna::DirectMap<arch::cdna::OuterImage<2, 256>, 256>::chunk_loads == 2);
  }
}

TEST_CASE("transposing reads give the fragments of a slice", "[arch][host]") {
  check_transposing_reads();
}

TEST_CASE("maps of gfx942 cover operands and result once, and 64 lanes multiply right",
          "[arch][host]") {
  using namespace arch::gfx942;
  SECTION("bf16, fp16") { check_instruction<bf16, InstructionFor<bf16>>(); }
  SECTION("fp8") { check_instruction<fp8_e4m3fnuz, InstructionFor<fp8_e4m3fnuz>>(); }
  SECTION("s8") { check_instruction<std::int8_t, InstructionFor<std::int8_t>>(); }
  SECTION("f32") { check_instruction<float, InstructionFor<float>>(); }
  SECTION("f32 rounded to tf32") { check_instruction<float, InstructionFor<float, true>>(); }
  SECTION("f64") { check_instruction<double, InstructionFor<double>>(); }
}

TEST_CASE("maps of gfx950 cover operands and result once, and 64 lanes multiply right",
          "[arch][host]") {
  using namespace arch::gfx950;
  SECTION("bf16, fp16") { check_instruction<bf16, InstructionFor<bf16>>(); }
  SECTION("fp8, two chunks a lane") { check_instruction<fp8_e5m2, InstructionFor<fp8_e5m2>>(); }
  SECTION("s8") { check_instruction<std::int8_t, InstructionFor<std::int8_t>>(); }
  SECTION("f32") { check_instruction<float, InstructionFor<float>>(); }
  SECTION("f64") { check_instruction<double, InstructionFor<double>>(); }
}

TEST_CASE("feeds write every chunk of a tile exactly once", "[arch][host]") {
  SECTION("8 bits, 256 outer indices, 512 lanes") { check_feed_maps<1, 256, 512>(); }
  SECTION("16 bits, 256 outer indices, 512 lanes") { check_feed_maps<2, 256, 512>(); }
  SECTION("16 bits, 256 outer indices, 256 lanes") { check_feed_maps<2, 256, 256>(); }
  SECTION("16 bits, 128 outer indices, 256 lanes") { check_feed_maps<2, 128, 256>(); }
  SECTION("16 bits, 32 rows, 256 lanes") { check_depth_major_map<2, 32, 256>(); }
  SECTION("32 bits, 128 outer indices, 256 lanes") { check_feed_maps<4, 128, 256>(); }
  SECTION("64 bits, 128 outer indices, 256 lanes") { check_feed_maps<8, 128, 256>(); }
}

TEST_CASE("a shared image holds each chunk at a place of its own", "[arch][host]") {
  using Image = arch::cdna::SharedImage<2, 256>;
  CHECK(is_bijection(Image::outer * Image::chunks, [](index_t i) {
    return Image::offset_bytes(i / Image::chunks, i % Image::chunks) / Image::chunk_bytes;
  }));
  for (index_t row = 0; row + Image::period_rows < Image::outer; ++row)
    CHECK(Image::twist(row) == Image::twist(row + Image::period_rows));
  // Fragments of another matrix tile are read with bits of the first one's address flipped.
  for (const index_t tile_rows : {16, 32})
    for (index_t row = 0; row < tile_rows; ++row)
      for (index_t first = 0; first < Image::outer; first += tile_rows)
        for (index_t chunk = 0; chunk < Image::chunks; ++chunk)
          CHECK(Image::offset_bytes(first + row, chunk) ==
                (Image::offset_bytes(row, chunk) ^ Image::twist(first) * Image::chunk_bytes) +
                    first * Image::row_bytes);
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
  using FourWaves = engine::WaveGrid<256, 256, 256>;
  CHECK(FourWaves::row_tiles == 4);
  CHECK(FourWaves::col_tiles == 4);
  using FewRows = engine::WaveGrid<32, 128, 256>;
  CHECK(FewRows::wave_rows == 1);
  CHECK(FewRows::wave_cols * FewRows::cols == 128);
  CHECK(FewRows::row_tiles == 1);
  CHECK(FewRows::col_tiles == 1);
  using Double = engine::WaveGrid<128, 128, 256, 16>;
  CHECK(Double::row_tiles == 4);
  CHECK(Double::col_tiles == 4);
}
