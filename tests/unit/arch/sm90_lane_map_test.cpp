// SPDX-License-Identifier: Apache-2.0
// Hopper's accumulator map covers its tile exactly once; descriptors hold the probed fields.

#include "raggedgemm/arch/sm90/lane_map.hpp"

#include <vector>

#include "raggedgemm/arch/sm90/wgmma.hpp"
#include "support/catch.hpp"

namespace {

using namespace raggedgemm;
using Map = arch::sm90::AccumulatorMap;

TEST_CASE("a WGMMA accumulator covers 64 x N exactly once for every N", "[arch][host]") {
  for (index_t cols = 8; cols <= 256; cols += 8) {
    CAPTURE(cols);
    std::vector<int> met(static_cast<std::size_t>(Map::rows * cols), 0);
    int outside = 0;
    for (index_t lane = 0; lane < Map::lanes; ++lane)
      for (index_t elem = 0; elem < Map::elems_per_lane(cols); ++elem) {
        const index_t row = Map::row(lane, elem);
        const index_t col = Map::col(lane, elem);
        if (row < 0 || row >= Map::rows || col < 0 || col >= cols) {
          ++outside;
          continue;
        }
        ++met[static_cast<std::size_t>(row * cols + col)];
      }
    CHECK(outside == 0);
    int not_once = 0;
    for (const int count : met) not_once += count == 1 ? 0 : 1;
    CHECK(not_once == 0);
  }
}

TEST_CASE("pairs of accumulator elements are neighbours in one row", "[arch][host]") {
  int failures = 0;
  for (index_t lane = 0; lane < Map::lanes; ++lane)
    for (index_t elem = 0; elem < Map::elems_per_lane(256); elem += Map::pair) {
      if (Map::row(lane, elem) != Map::row(lane, elem + 1)) ++failures;
      if (Map::col(lane, elem) + 1 != Map::col(lane, elem + 1)) ++failures;
    }
  CHECK(failures == 0);
}

TEST_CASE("operand descriptors hold address, strides and swizzle", "[arch][host]") {
  using Layout16 = arch::sm90::OperandLayout;
  using Major = arch::sm90::Major;
  const std::uint64_t k = Layout16::descriptor(Major::k, 0x12400);
  const std::uint64_t mn = Layout16::descriptor(Major::mn, 0x12400);
  for (const std::uint64_t d : {k, mn}) {
    CHECK((d & 0x3FFF) == 0x1240);
    CHECK((d >> 32 & 0x3FFF) == 64);  // 1024 bytes from one group of 8 to the next
    CHECK(d >> 62 == 1);              // 128-byte swizzle
  }
  CHECK((mn >> 16 & 0x3FFF) == 512);  // 8 KiB from chunk to chunk
  CHECK(Layout16::depth_step(Major::k) == 2);
  CHECK(Layout16::depth_step(Major::mn) == 128);
}

}  // namespace
