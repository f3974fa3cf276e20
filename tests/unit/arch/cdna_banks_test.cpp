// SPDX-License-Identifier: Apache-2.0
// Bank conflicts of every shared memory instruction of the CDNA engine, by enumeration: which lanes
// an instruction serves together is published, so conflicts are arithmetic.
//
// Source of the phases: gfx942, 16-byte reads: AMD's ROCm blog on avoiding LDS bank conflicts;
// gfx950 (64 banks for reads): measured by HipKittens; 16-byte writes: eight consecutive lanes on
// 32 banks. "sequential" is the plain order that other documents give: the image must be free of
// conflicts in either.

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "raggedgemm/arch/cdna/feed.hpp"
#include "raggedgemm/arch/cdna/matrix_map.hpp"
#include "raggedgemm/arch/cdna/outer_image.hpp"
#include "raggedgemm/arch/cdna/shared_image.hpp"
#include "raggedgemm/arch/gfx942/matrix.hpp"
#include "raggedgemm/arch/gfx950/matrix.hpp"
#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

using Phases = std::vector<std::vector<index_t>>;

struct Access {
  const char* name;
  Phases phases;
  index_t banks;  // of four bytes
};

Phases sequential(index_t lanes_together) {
  Phases phases;
  for (index_t first = 0; first < 64; first += lanes_together) {
    phases.emplace_back();
    for (index_t lane = first; lane < first + lanes_together; ++lane) phases.back().push_back(lane);
  }
  return phases;
}

/// Runs of four lanes, as pairs of their first lanes, in each half of the wave.
Phases pairs_of_runs(const std::vector<std::vector<index_t>>& runs) {
  Phases phases;
  for (const index_t half : {0, 32})
    for (const auto& group : runs) {
      phases.emplace_back();
      for (const index_t first : group)
        for (index_t lane = 0; lane < 4; ++lane) phases.back().push_back(half + first + lane);
    }
  return phases;
}

std::vector<Access> reads() {
  return {{"gfx942 read", pairs_of_runs({{0, 20}, {4, 16}, {8, 28}, {12, 24}}), 32},
          {"gfx942 read, sequential", sequential(8), 32},
          {"gfx950 read", pairs_of_runs({{0, 12, 20, 24}, {4, 8, 16, 28}}), 64},
          {"gfx950 read, sequential", sequential(16), 64}};
}

/// Reads of 8 bytes on gfx950: as many lanes at once as the banks serve, or half of them.
std::vector<Access> transposing_reads() {
  return {{"gfx950 transposing read", sequential(32), 64},
          {"gfx950 transposing read, 16 lanes", sequential(16), 64}};
}

Access write() { return {"write", sequential(8), 32}; }

/// Clocks that 64 lanes take for `lane_bytes` each, over those without conflicts.
template <class AddressOfLane>
double slowdown(const Access& access, const AddressOfLane& address_bytes, index_t lane_bytes = 16) {
  index_t clocks = 0;
  index_t ideal = 0;
  for (const auto& phase : access.phases) {
    std::map<index_t, std::set<index_t>> dwords_of_bank;
    for (const index_t lane : phase)
      for (index_t d = 0; d < lane_bytes / 4; ++d) {
        const index_t dword = address_bytes(lane) / 4 + d;
        dwords_of_bank[dword % access.banks].insert(dword);
      }
    std::size_t worst = 0;
    for (const auto& bank : dwords_of_bank) worst = std::max(worst, bank.second.size());
    clocks += static_cast<index_t>(worst);
    ideal += ceil_div(static_cast<index_t>(phase.size()) * lane_bytes / 4, access.banks);
  }
  return static_cast<double>(clocks) / static_cast<double>(ideal);
}

/// Writes of an operand whose depth is contiguous.
template <index_t ElemBytes, index_t Outer, index_t Lanes>
void check_depth_major_writes() {
  using Image = arch::cdna::SharedImage<ElemBytes, Outer>;
  using DepthMajor = arch::cdna::DepthMajorMap<ElemBytes, Outer, Lanes>;
  for (index_t wave = 0; wave < Lanes / 64; ++wave)
    for (index_t load = 0; load < DepthMajor::loads; ++load)
      CHECK(slowdown(write(), [&](index_t lane) {
              const index_t l = wave * 64 + lane;
              return Image::offset_bytes(DepthMajor::row(l, load), DepthMajor::chunk(l));
            }) == 1.0);
}

/// Writes of operands of either order.
template <index_t ElemBytes, index_t Outer, index_t Lanes>
void check_writes() {
  using Image = arch::cdna::SharedImage<ElemBytes, Outer>;
  using OuterMajor = arch::cdna::OuterMajorMap<ElemBytes, Outer, Lanes>;
  check_depth_major_writes<ElemBytes, Outer, Lanes>();
  for (index_t wave = 0; wave < Lanes / 64; ++wave) {
    for (index_t unit = 0; unit < OuterMajor::units; ++unit)
      for (index_t column = 0; column < OuterMajor::unit_outer; ++column)
        CHECK(slowdown(write(), [&](index_t lane) {
                const index_t l = wave * 64 + lane;
                return Image::offset_bytes(OuterMajor::outer(l, unit) + column,
                                           OuterMajor::chunk(l, unit));
              }) == 1.0);
  }
}

/// Reads of fragments of both operands; addresses are the same for all elements.
template <class Instruction>
void check_reads() {
  using Image = arch::cdna::SharedImage<1, 256>;
  using Map = typename Instruction::Map;
  using Slice = arch::cdna::SliceMap<Instruction>;
  for (const Access& access : reads()) {
    INFO(access.name);
    for (index_t slice = 0; slice < Image::chunks / Slice::depth_chunks; ++slice)
      for (index_t part = 0; part < Slice::chunks; ++part)
        for (index_t first = 0; first < Image::outer; first += Map::outer)
          for (const bool swapped : {false, true})
            CHECK(slowdown(access, [&](index_t lane) {
                    const index_t outer = Map::operand_outer(lane);
                    return Image::offset_bytes(first + (swapped ? Map::index_of_row(outer) : outer),
                                               Slice::chunk(lane) ^ Slice::chunk_bits(slice, part));
                  }) == 1.0);
  }
}

}  // namespace

TEST_CASE("no write of the CDNA feeds has bank conflicts", "[arch][host]") {
  SECTION("8 bits, 256 outer indices, 512 lanes") { check_writes<1, 256, 512>(); }
  SECTION("16 bits, 256 outer indices, 512 lanes") { check_writes<2, 256, 512>(); }
  SECTION("16 bits, 256 outer indices, 256 lanes") { check_writes<2, 256, 256>(); }
  SECTION("16 bits, 128 outer indices, 256 lanes") { check_writes<2, 128, 256>(); }
  SECTION("16 bits, 32 rows, 256 lanes") { check_depth_major_writes<2, 32, 256>(); }
  SECTION("32 bits, 256 outer indices, 512 lanes") { check_writes<4, 256, 512>(); }
  SECTION("32 bits, 128 outer indices, 256 lanes") { check_writes<4, 128, 256>(); }
  SECTION("64 bits, 128 outer indices, 256 lanes") { check_writes<8, 128, 256>(); }
}

TEST_CASE("no read of the CDNA engine has bank conflicts", "[arch][host]") {
  SECTION("32 rows") { check_reads<arch::gfx942::InstructionFor<bf16>>(); }
  SECTION("32 rows, two chunks a lane") { check_reads<arch::gfx950::InstructionFor<fp8_e5m2>>(); }
  SECTION("16 rows, f64") { check_reads<arch::gfx942::InstructionFor<double>>(); }
}

TEST_CASE("no transposing read has bank conflicts", "[arch][host]") {
  using Image = arch::cdna::OuterImage<2, 256>;
  using Read = arch::cdna::TransposingRead;
  for (const Access& access : transposing_reads()) {
    INFO(access.name);
    for (index_t slice = 0; slice < Image::depth / 16; ++slice)
      for (index_t read = 0; read < Read::reads; ++read)
        for (index_t first = 0; first < Image::outer; first += 32)
          CHECK(slowdown(
                    access,
                    [&](index_t lane) {
                      const index_t outer = first + Read::named_outer(lane);
                      return Image::offset_bytes(slice * 16 + Read::named_depth(lane, read),
                                                 outer / Image::chunk_elems) +
                             outer % Image::chunk_elems * Image::elem_bytes;
                    },
                    8) == 1.0);
  }
}

TEST_CASE("loads to shared memory write it without bank conflicts", "[arch][host]") {
  CHECK(slowdown(write(), [](index_t lane) { return lane * 16; }) == 1.0);
}

TEST_CASE("the bank model sees the conflicts of an image without a twist", "[arch][host]") {
  for (const Access& access : reads())
    CHECK(slowdown(access, [](index_t lane) { return lane % 32 * 128 + lane / 32 * 16; }) > 2.0);
  using Read = arch::cdna::TransposingRead;
  for (const Access& access : transposing_reads())
    CHECK(slowdown(
              access,
              [](index_t lane) {
                return Read::named_depth(lane, 0) * 512 + Read::named_outer(lane) * 2;
              },
              8) > 2.0);
}
