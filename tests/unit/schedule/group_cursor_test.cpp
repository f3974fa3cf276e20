// SPDX-License-Identifier: Apache-2.0
// The group cursor agrees with a plain scan for every size vector, with waves of 1, 32 and 64
// lanes.

#include "raggedgemm/schedule/group_cursor.hpp"

#include <algorithm>
#include <string>

#include "raggedgemm/arch/host/wave.hpp"
#include "support/catch.hpp"
#include "support/emulated_wave.hpp"
#include "support/sizes.hpp"

namespace {

using namespace raggedgemm;
using namespace support;

/// Tiles of 16 indices, times three columns.
struct TilesOf {
  bool with_tail;
  template <class Count>
  Count operator()(Count extent, bool is_tail) const {
    return is_tail && !with_tail ? 0 : ceil_div(extent, Count{16}) * 3;
  }
};

/// A plain scan; false past the last tile.
bool scan(const std::vector<Range>& ranges,
          offset_t extent,
          bool with_tail,
          offset_t tile,
          GroupPosition& at) {
  const TilesOf tiles_of{with_tail};
  for (std::size_t g = 0; g <= ranges.size(); ++g) {
    const bool is_tail = g == ranges.size();
    const offset_t begin = is_tail ? covered(ranges) : ranges[g].begin;
    const offset_t size = (is_tail ? extent : ranges[g].end) - begin;
    const offset_t tiles = tiles_of(size, is_tail);
    if (tile < tiles) {
      at.group = static_cast<offset_t>(g);
      at.begin = begin;
      at.extent = size;
      at.tile = tile;
      at.is_tail = is_tail;
      return true;
    }
    tile -= tiles;
  }
  return false;
}

bool same(const GroupPosition& a, const GroupPosition& b) {
  return a.group == b.group && a.begin == b.begin && a.extent == b.extent && a.tile == b.tile &&
         a.is_tail == b.is_tail;
}

/// Walks tiles `first`, `first` + step, …; what differs from the plain scan, or nothing.
template <class Wave, class Walk = AnyWalk>
std::string walk(const Groups& groups,
                 const std::vector<Range>& ranges,
                 offset_t extent,
                 bool with_tail,
                 offset_t first,
                 offset_t step,
                 int at_most) {
  GroupCursor<Wave, Walk> cursor(groups, extent);
  for (offset_t tile = first; at_most-- > 0; tile += step) {
    GroupPosition got;
    GroupPosition needed;
    const bool found = cursor.seek(tile, TilesOf{with_tail}, got);
    const bool exists = scan(ranges, extent, with_tail, tile, needed);
    if (found != exists) return "tile " + std::to_string(tile) + ": end of the tiles";
    if (!found) return {};
    if (!same(got, needed))
      return "tile " + std::to_string(tile) + ": group " + std::to_string(got.group) + ", needed " +
             std::to_string(needed.group);
  }
  return {};
}

template <index_t Lanes>
std::string walk_emulated(const Groups& groups,
                          const std::vector<Range>& ranges,
                          offset_t extent,
                          bool with_tail,
                          offset_t first,
                          offset_t step,
                          int at_most) {
  std::string text;
  EmulatedWave<Lanes>::run([&](index_t lane) {
    const std::string mine =
        walk<EmulatedWave<Lanes>>(groups, ranges, extent, with_tail, first, step, at_most);
    if (!mine.empty()) text = "lane " + std::to_string(lane) + ", " + mine;
  });
  return text;
}

/// The same for seek_each(): a lane takes every `Lanes`-th tile.
template <class Wave, class Walk = AnyWalk>
std::string walk_each(const Groups& groups,
                      const std::vector<Range>& ranges,
                      offset_t extent,
                      bool with_tail,
                      offset_t first,
                      offset_t step,
                      int at_most) {
  GroupCursor<Wave, Walk> cursor(groups, extent);
  std::string text;
  bool more = true;  // in any lane
  for (offset_t tile = first + Wave::lane() * step; more && at_most-- > 0;
       tile += Wave::lanes * step) {
    GroupPosition got;
    GroupPosition needed;
    const bool found = cursor.seek_each(tile, TilesOf{with_tail}, got);
    const bool exists = scan(ranges, extent, with_tail, tile, needed);
    more = Wave::ballot(found) != 0;
    if (found != exists)
      text = "tile " + std::to_string(tile) + ": end of the tiles";
    else if (found && !same(got, needed))
      text = "tile " + std::to_string(tile) + ": group " + std::to_string(got.group) + ", needed " +
             std::to_string(needed.group);
  }
  return text;
}

TEST_CASE("GroupCursor finds a tile of each lane's own", "[schedule][host]") {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    const offset_t extent = random.one_in(10) ? offset_t{1} << 40 : random.between(0, 400);
    const offset_t near[] = {0, 1, 31, 32, 33, 63, 64, 65, 96, 128, 129, 200};
    const Sizes sizes = random_sizes(random, near[random.between(0, 11)], extent);
    const GroupSizes groups(sizes.data(), static_cast<offset_t>(sizes.size()));
    const std::vector<Range> ranges = ranges_of(sizes, GroupKind::sizes, extent);
    const offset_t step =
        extent > 1000 ? random.between(1, offset_t{1} << 33) : random.between(1, 9);
    const offset_t first = random.between(0, 3);
    std::string text = walk_each<arch::host::Wave>(groups, ranges, extent, true, first, step, 200);
    EmulatedWave<32>::run([&](index_t lane) {
      const std::string mine =
          walk_each<EmulatedWave<32>>(groups, ranges, extent, seed % 2 == 0, first, step, 8);
      if (!mine.empty()) text = "lane " + std::to_string(lane) + ", " + mine;
    });
    if (!text.empty()) FAIL("seed " << seed << ": " << text << ", sizes " << text_of(sizes));
  }
  SUCCEED();
}

TEST_CASE("GroupCursor agrees with a plain scan for thousands of size vectors",
          "[schedule][host]") {
  for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
    Random random(seed);
    const offset_t extent = random.one_in(10) ? offset_t{1} << 40 : random.between(0, 500);
    const Sizes sizes = random_sizes(random, random.between(0, 90), extent);
    const GroupSizes groups(sizes.data(), static_cast<offset_t>(sizes.size()));
    const std::vector<Range> ranges = ranges_of(sizes, GroupKind::sizes, extent);
    const offset_t step =
        extent > 1000 ? random.between(1, offset_t{1} << 36) : random.between(1, 9);
    const std::string text = walk<arch::host::Wave>(
        groups, ranges, extent, seed % 2 == 0, random.between(0, 3), step, 200);
    if (!text.empty()) FAIL("seed " << seed << ": " << text << ", sizes " << text_of(sizes));
  }
  SUCCEED();
}

TEST_CASE("GroupCursor agrees with a plain scan in waves of 32 and 64 lanes", "[schedule][host]") {
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    Random random(seed);
    const offset_t extent = random.one_in(10) ? offset_t{1} << 40 : random.between(0, 300);
    // Group counts around one, two and three windows.
    const offset_t near[] = {0, 1, 31, 32, 33, 63, 64, 65, 96, 128, 129, 200};
    const Sizes sizes = random_sizes(random, near[random.between(0, 11)], extent);
    const GroupSizes groups(sizes.data(), static_cast<offset_t>(sizes.size()));
    const std::vector<Range> ranges = ranges_of(sizes, GroupKind::sizes, extent);
    const offset_t step =
        extent > 1000 ? random.between(1, offset_t{1} << 36) : random.between(1, 9);
    const offset_t first = random.between(0, 3);
    const std::string text32 = walk_emulated<32>(groups, ranges, extent, true, first, step, 40);
    const std::string text64 = walk_emulated<64>(groups, ranges, extent, false, first, step, 40);
    if (!(text32 + text64).empty())
      FAIL("seed " << seed << ": " << text32 << text64 << ", sizes " << text_of(sizes));
  }
  SUCCEED();
}

TEST_CASE("GroupCursor counts in 32 bits, with several groups a lane", "[schedule][host]") {
  using Wave = EmulatedWave<32>;
  using Walk = DecodingWalk;
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    Random random(seed);
    const offset_t extent = random.one_in(5) ? offset_t{0x7FFFFF00} : random.between(0, 900);
    // Group counts around one and two windows, and inside a lane's groups.
    const offset_t near[] = {
        0, 1, 7, 8, 9, 31, 64, 128, 160, 255, 256, 257, 300, 511, 512, 513, 700};
    Sizes sizes = random_sizes(random, near[random.between(0, 16)], extent);
    std::vector<std::int32_t> narrow;
    for (offset_t& size : sizes) {
      narrow.push_back(static_cast<std::int32_t>(
          std::clamp(size, offset_t{-0x80000000LL}, offset_t{0x7FFFFFFF})));
      size = narrow.back();
    }
    const auto count = static_cast<offset_t>(sizes.size());
    const std::vector<Range> ranges = ranges_of(sizes, GroupKind::sizes, extent);
    const offset_t step =
        extent > 1000 ? random.between(1, offset_t{1} << 26) : random.between(1, 9);
    const offset_t first = random.between(0, 3);
    const bool with_tail = seed % 2 == 0;
    std::string text;
    for (const Groups& groups : {Groups(GroupSizes(narrow.data(), count)),    // independent loads
                                 Groups(GroupSizes(sizes.data(), count))}) {  // the short loop
      Wave::run([&](index_t lane) {
        std::string mine = walk<Wave, Walk>(groups, ranges, extent, with_tail, first, step, 40);
        mine += walk_each<Wave, Walk>(groups, ranges, extent, with_tail, first, step, 8);
        if (GroupCursor<Wave, Walk>(groups, extent).total() != covered(ranges)) mine += " total";
        if (!mine.empty()) text = "lane " + std::to_string(lane) + ", " + mine;
      });
    }
    if (!text.empty()) FAIL("seed " << seed << ": " << text << ", sizes " << text_of(sizes));
  }
  SUCCEED();
}

TEST_CASE("GroupCursor::total is the clamped sum", "[schedule][host]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const offset_t extent = random.between(0, 300);
    const Sizes sizes = random_sizes(random, random.between(0, 200), extent);
    const GroupSizes groups(sizes.data(), static_cast<offset_t>(sizes.size()));
    const offset_t needed = covered(ranges_of(sizes, GroupKind::sizes, extent));
    REQUIRE(GroupCursor<arch::host::Wave>(groups, extent).total() == needed);
    if (seed % 10 != 0) continue;
    EmulatedWave<64>::run([&](index_t) {
      if (GroupCursor<EmulatedWave<64>>(groups, extent).total() != needed)
        throw std::runtime_error("total of a 64-lane wave, seed " + std::to_string(seed));
    });
  }
}

TEST_CASE("The emulated wave finds lanes that diverge", "[schedule][host]") {
  using Wave = EmulatedWave<32>;
  CHECK_THROWS(Wave::run([](index_t lane) {
    if (lane != 5) (void)Wave::ballot(true);
  }));
  CHECK_THROWS(Wave::run([](index_t lane) {
    if (lane == 7)
      (void)Wave::inclusive_sum(1);
    else
      (void)Wave::ballot(true);
  }));
  Wave::run([](index_t lane) {
    if (Wave::inclusive_sum(lane) != lane * (lane + 1) / 2) throw std::runtime_error("sum");
    if (Wave::ballot(lane % 2 != 0) != 0xAAAAAAAAU) throw std::runtime_error("ballot");
    if (Wave::broadcast(lane * 3, 9) != 27) throw std::runtime_error("broadcast");
  });
}

}  // namespace
