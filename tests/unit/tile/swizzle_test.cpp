// SPDX-License-Identifier: Apache-2.0
// The staging tile's swizzle is a bijection, and no phase of a store or load meets a bank twice.

#include "raggedgemm/tile/swizzle.hpp"

#include <set>
#include <vector>

#include "raggedgemm/arch/sm90/lane_map.hpp"
#include "support/catch.hpp"

namespace {

using namespace raggedgemm;
using Staging = StagingMap<16>;
constexpr index_t banks = 32;  // of 4 bytes

TEST_CASE("StagingMap is a bijection that keeps 16-byte units together", "[tile][host]") {
  std::vector<int> met(static_cast<std::size_t>(Staging::elems), 0);
  int failures = 0;
  for (index_t row = 0; row < Staging::rows; ++row)
    for (index_t col = 0; col < Staging::cols; ++col) {
      const index_t at = Staging::offset(row, col);
      if (at < 0 || at >= Staging::elems) {
        ++failures;
        continue;
      }
      ++met[static_cast<std::size_t>(at)];
      if (at % Staging::unit_elems != col % Staging::unit_elems) ++failures;
    }
  for (const int count : met) failures += count == 1 ? 0 : 1;
  CHECK(failures == 0);
}

TEST_CASE("a warp stores its fragment without bank conflicts", "[tile][host]") {
  using Map = arch::sm90::AccumulatorMap;
  constexpr index_t phase_lanes = 16;  // 8-byte stores are served for half a warp at a time
  int conflicts = 0;
  for (index_t elem = 0; elem < Map::elems_per_lane(Staging::cols); elem += Map::pair)
    for (index_t phase = 0; phase < 32; phase += phase_lanes) {
      std::set<index_t> met;
      for (index_t lane = phase; lane < phase + phase_lanes; ++lane)
        for (index_t i = 0; i < Map::pair; ++i)
          if (!met.insert(Staging::offset(Map::row(lane, elem), Map::col(lane, elem + i)) % banks)
                   .second)
            ++conflicts;
    }
  CHECK(conflicts == 0);
}

TEST_CASE("lanes load their row chunks without bank conflicts", "[tile][host]") {
  constexpr index_t phase_lanes = 8;  // 16-byte loads are served for a quarter of a warp at a time
  for (const index_t width : {4, 8}) {
    CAPTURE(width);
    int conflicts = 0;
    const index_t chunks_per_row = Staging::cols / width;
    for (index_t unit = 0; unit < width; unit += Staging::unit_elems)
      for (index_t begin = 0; begin < Staging::elems / width; begin += phase_lanes) {
        std::set<index_t> met;
        for (index_t chunk = begin; chunk < begin + phase_lanes; ++chunk)
          for (index_t i = 0; i < Staging::unit_elems; ++i) {
            const index_t col = chunk % chunks_per_row * width + unit + i;
            if (!met.insert(Staging::offset(chunk / chunks_per_row, col) % banks).second)
              ++conflicts;
          }
      }
    CHECK(conflicts == 0);
  }
}

}  // namespace
