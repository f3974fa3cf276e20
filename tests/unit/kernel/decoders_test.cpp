// SPDX-License-Identifier: Apache-2.0
// The decoders of the three variants cover the output exactly once, tails included, with the right
// group and depth range, for thousands of random and hostile size vectors, grids and tile orders.

#include <algorithm>
#include <string>
#include <vector>

#include "raggedgemm/arch/host/wave.hpp"
#include "raggedgemm/kernel/batch.hpp"
#include "raggedgemm/kernel/contracting.hpp"
#include "raggedgemm/kernel/non_contracting.hpp"
#include "raggedgemm/kernel/split.hpp"
#include "raggedgemm/schedule/tile_source.hpp"
#include "support/catch.hpp"
#include "support/emulated_wave.hpp"
#include "support/oracle.hpp"

namespace {

using namespace raggedgemm;
using namespace support;

constexpr index_t block_m = 16;
constexpr index_t row_step = 4;
constexpr index_t block_n = 32;

bool same(const Work& a, const Work& b) {
  return a.slab == b.slab && a.row_begin == b.row_begin && a.col_begin == b.col_begin &&
         a.k_begin == b.k_begin && a.k_extent == b.k_extent && a.rows == b.rows &&
         a.cols == b.cols && a.is_tail == b.is_tail;
}

/// All work of all blocks of a grid, in the one lane of the host.
template <class VariantType>
std::vector<Work> decode_all(const Arguments& arguments, offset_t blocks) {
  std::vector<Work> all;
  for (offset_t block = 0; block < blocks; ++block) {
    typename VariantType::template Decoder<block_m, block_n, arch::host::Wave> decoder(arguments);
    RoundRobin tiles(block, blocks);
    for (Work work; decoder.decode(tiles.next(), work);) all.push_back(work);
  }
  return all;
}

/// The same in a wave of several lanes, which must agree with each other.
template <class VariantType, index_t Lanes>
std::vector<Work> decode_in_wave(const Arguments& arguments, offset_t blocks) {
  using Wave = EmulatedWave<Lanes>;
  std::vector<Work> all;
  for (offset_t block = 0; block < blocks; ++block) {
    std::vector<Work> of_lane[Lanes];
    Wave::run([&](index_t lane) {
      typename VariantType::template Decoder<block_m, block_n, Wave> decoder(arguments);
      RoundRobin tiles(block, blocks);
      for (Work work; decoder.decode(tiles.next(), work);) of_lane[lane].push_back(work);
    });
    bool lanes_agree = true;
    for (const std::vector<Work>& mine : of_lane)
      lanes_agree &=
          std::equal(mine.begin(), mine.end(), of_lane[0].begin(), of_lane[0].end(), same);
    REQUIRE(lanes_agree);
    all.insert(all.end(), of_lane[0].begin(), of_lane[0].end());
  }
  return all;
}

struct TwoGroupsALane : DecodingWalk {
  static constexpr index_t groups_per_lane = 2;
};

/// The same with a tile of each lane's own, two groups a lane, and rows cut about equally.
template <class VariantType, index_t Lanes>
std::vector<Work> decode_each_in_wave(const Arguments& arguments, offset_t blocks) {
  using Wave = EmulatedWave<Lanes>;
  using Decoder =
      typename VariantType::template Decoder<block_m, block_n, Wave, row_step, TwoGroupsALane>;
  std::vector<Work> all;
  for (offset_t block = 0; block < blocks; ++block) {
    Wave::run([&](index_t lane) {
      Decoder decoder(arguments);
      RoundRobin tiles(block + lane * blocks, Lanes * blocks);
      for (bool more = true; more;) {
        Work work;
        const bool mine = decoder.decode_each(tiles.next(), work);
        if (mine) all.push_back(work);
        more = Wave::ballot(mine) != 0;
      }
    });
  }
  return all;
}

/// A random call: extents in tile terms, groups, tile order.
struct Draw {
  Arguments arguments;
  Sizes sizes;
  std::vector<Range> ranges;
  offset_t live = 0;
  offset_t blocks = 1;

  Draw(Random& random, Variant variant) {
    Arguments& a = arguments;
    a.rows = random.between(0, 90);
    a.cols = random.between(0, 120);
    a.depth = random.between(0, 200);
    const offset_t groups = random.between(0, 80);
    a.slabs = variant == Variant::batch ? random.between(0, 20) : groups;
    const offset_t extent = variant == Variant::batch         ? a.slabs
                            : variant == Variant::contracting ? a.depth
                                                              : a.rows;
    sizes = random_sizes(random, groups, extent);
    a.groups = GroupSizes(sizes.data(), groups);
    ranges = ranges_of(sizes, GroupKind::sizes, extent);
    live = covered(ranges);
    a.tail = random.one_in(3) ? Tail::keep : Tail::zero;
    if (variant == Variant::batch && random.one_in(3)) a.tail = Tail::compute;
    if (variant == Variant::batch && random.one_in(8)) a.groups.kind = GroupKind::none;
    if (a.tail == Tail::compute || a.groups.kind == GroupKind::none) live = extent;
    a.order = {static_cast<index_t>(random.between(0, 1)),
               static_cast<index_t>(random.between(1, 9)),
               static_cast<index_t>(random.one_in(2) ? 1 : random.between(1, 8))};
    blocks = random.one_in(2) ? 1 : random.between(1, 12);
  }
};

/// Counts how often each output element is covered and checks each work; empty when all is right.
template <class IsRight>
std::string cover(const std::vector<Work>& all,
                  const Arguments& a,
                  offset_t slabs,
                  const IsRight& is_right,
                  std::vector<int>& count) {
  count.assign(static_cast<std::size_t>(slabs * a.rows * a.cols), 0);
  for (const Work& work : all) {
    const bool inside = work.row_begin >= 0 && work.col_begin >= 0 && work.rows >= 1 &&
                        work.cols >= 1 && work.rows <= block_m && work.cols <= block_n &&
                        work.row_begin + work.rows <= a.rows &&
                        work.col_begin + work.cols <= a.cols;
    if (!inside) return "a tile outside the output";
    if (!is_right(work)) return "a tile of the wrong group or depth";
    const offset_t slab = slabs == 1 ? 0 : work.slab;
    if (slab < 0 || slab >= slabs) return "a tile of no slab";
    for (offset_t row = 0; row < work.rows; ++row)
      for (offset_t col = 0; col < work.cols; ++col)
        ++count[static_cast<std::size_t>((slab * a.rows + work.row_begin + row) * a.cols +
                                         work.col_begin + col)];
  }
  return {};
}

std::string check_non_contracting(const Draw& d, const std::vector<Work>& all) {
  const Arguments& a = d.arguments;
  std::vector<int> count;
  const std::string text = cover(
      all,
      a,
      1,
      [&](const Work& w) {
        if (w.is_tail) return w.row_begin >= d.live && w.k_extent == 0;
        const Range& range = d.ranges[static_cast<std::size_t>(w.slab)];
        return w.row_begin >= range.begin && w.row_begin + w.rows <= range.end && w.k_begin == 0 &&
               w.k_extent == a.depth;
      },
      count);
  if (!text.empty()) return text;
  for (std::size_t i = 0; i < count.size(); ++i) {
    const bool is_tail = static_cast<offset_t>(i) / a.cols >= d.live;
    if (count[i] != (is_tail && a.tail == Tail::keep ? 0 : 1))
      return "element " + std::to_string(i) + " is covered " + std::to_string(count[i]) + " times";
  }
  if (static_cast<offset_t>(all.size()) >
      kernel::NonContracting::tiles_at_most<block_m, block_n>(a))
    return "more tiles than tiles_at_most";
  return {};
}

std::string check_contracting(const Draw& d, const std::vector<Work>& all) {
  const Arguments& a = d.arguments;
  std::vector<int> count;
  // One slab would hide a wrong slab index from cover().
  const std::string text = cover(
      all,
      a,
      a.groups.count,
      [&](const Work& w) {
        if (w.slab < 0 || w.slab >= a.groups.count || w.is_tail) return false;
        const Range& range = d.ranges[static_cast<std::size_t>(w.slab)];
        return w.k_extent == range.end - range.begin &&
               (w.k_extent == 0 || w.k_begin == range.begin);
      },
      count);
  if (!text.empty()) return text;
  for (std::size_t i = 0; i < count.size(); ++i)
    if (count[i] != 1)
      return "element " + std::to_string(i) + " is covered " + std::to_string(count[i]) + " times";
  if (static_cast<offset_t>(all.size()) > kernel::Contracting::tiles_at_most<block_m, block_n>(a))
    return "more tiles than tiles_at_most";
  return {};
}

std::string check_batch(const Draw& d, const std::vector<Work>& all) {
  const Arguments& a = d.arguments;
  std::vector<int> count;
  const std::string text = cover(
      all,
      a,
      a.slabs,
      [&](const Work& w) {
        const bool is_tail = w.slab >= d.live;
        return w.slab >= 0 && w.slab < a.slabs && w.is_tail == is_tail && w.k_begin == 0 &&
               w.k_extent == (is_tail ? 0 : a.depth);
      },
      count);
  if (!text.empty()) return text;
  const offset_t slab_elems = a.rows * a.cols;
  for (std::size_t i = 0; i < count.size(); ++i) {
    const bool is_tail = static_cast<offset_t>(i) / slab_elems >= d.live;
    if (count[i] != (is_tail && a.tail == Tail::keep ? 0 : 1))
      return "element " + std::to_string(i) + " is covered " + std::to_string(count[i]) + " times";
  }
  if (static_cast<offset_t>(all.size()) > kernel::Batch::tiles_at_most<block_m, block_n>(a))
    return "more tiles than tiles_at_most";
  return {};
}

template <class VariantType, class Check>
void check_many(const Check& check) {
  for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
    Random random(seed);
    const Draw draw(random, VariantType::variant);
    const std::vector<Work> all = decode_all<VariantType>(draw.arguments, draw.blocks);
    const std::string text = check(draw, all);
    if (!text.empty())
      FAIL("one lane, seed " << seed << ": " << text << ", sizes " << text_of(draw.sizes));
    if (seed % 20 != 0 || all.size() > 250) continue;  // a wave is slow to emulate
    const std::string text32 =
        check(draw, decode_in_wave<VariantType, 32>(draw.arguments, draw.blocks));
    if (!text32.empty()) FAIL("32 lanes, seed " << seed << ": " << text32);
    const std::string text64 =
        check(draw, decode_in_wave<VariantType, 64>(draw.arguments, draw.blocks));
    if (!text64.empty()) FAIL("64 lanes, seed " << seed << ": " << text64);
    const std::string each =
        check(draw, decode_each_in_wave<VariantType, 32>(draw.arguments, draw.blocks));
    if (!each.empty()) FAIL("a tile a lane, seed " << seed << ": " << each);
  }
  SUCCEED();
}

TEST_CASE("non_contracting tiles cover the output exactly once for every size vector",
          "[kernel][host]") {
  check_many<kernel::NonContracting>(check_non_contracting);
}

TEST_CASE("contracting tiles cover every slab exactly once for every size vector",
          "[kernel][host]") {
  check_many<kernel::Contracting>(check_contracting);
}

TEST_CASE("batch tiles cover every batch exactly once for every size vector", "[kernel][host]") {
  check_many<kernel::Batch>(check_batch);
}

TEST_CASE("A decoder past the last tile knows their number, and starts again", "[kernel][host]") {
  using Wave = EmulatedWave<32>;
  using Decoder = kernel::NonContracting::Decoder<block_m, block_n, Wave, row_step, TwoGroupsALane>;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Random random(seed);
    const Draw draw(random, Variant::non_contracting);
    const std::vector<Work> all =
        decode_each_in_wave<kernel::NonContracting, 32>(draw.arguments, 1);
    const auto tails =
        std::count_if(all.begin(), all.end(), [](const Work& w) { return w.is_tail; });
    bool right = true;
    Wave::run([&](index_t) {
      Decoder decoder(draw.arguments);
      Work work;
      const bool more = decoder.decode_each(0x7FFFFFFF, work);
      const TileCounts counts = decoder.counts();
      decoder.restart();
      const bool again = decoder.decode_each(0, work);
      const bool mine = !more && counts.all == static_cast<index_t>(all.size()) &&
                        counts.with_depth == static_cast<index_t>(all.size()) - tails &&
                        again == !all.empty() && (all.empty() || same(work, all.front()));
      if (!mine) right = false;
    });
    INFO("seed " << seed << ", " << all.size() << " tiles, sizes " << text_of(draw.sizes));
    REQUIRE(right);
  }
}

/// Parts of a tile follow each other, are the tile's in all but the depth, and cover that once.
template <class VariantType>
void check_split() {
  constexpr index_t block_k = 16;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    Random random(seed);
    Draw draw(random, VariantType::variant);
    const std::vector<Work> whole = decode_all<VariantType>(draw.arguments, 1);
    const index_t parts = static_cast<index_t>(random.between(2, 9));
    draw.arguments.partials.parts = parts;
    const auto all = decode_all<kernel::Split<VariantType, block_k>>(draw.arguments, 1);
    INFO("seed " << seed << ", parts " << parts);
    REQUIRE(all.size() == whole.size() * static_cast<std::size_t>(parts));
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Work& tile = whole[i / static_cast<std::size_t>(parts)];
      const index_t part = static_cast<index_t>(i % static_cast<std::size_t>(parts));
      const offset_t covered = part == 0 ? 0 : all[i - 1].k_begin + all[i - 1].k_extent;
      Work like_tile = all[i];
      like_tile.k_begin = tile.k_begin;
      like_tile.k_extent = tile.k_extent;
      bool right = same(like_tile, tile) && all[i].part == part;
      right = right && all[i].k_begin == (part == 0 ? tile.k_begin : covered);
      right = right && (all[i].k_begin - tile.k_begin) % block_k == 0;
      if (part == parts - 1)
        right = right && all[i].k_begin + all[i].k_extent == tile.k_begin + tile.k_extent;
      const offset_t steps = ceil_div(tile.k_extent, offset_t{block_k});
      const offset_t mine = ceil_div(all[i].k_extent, offset_t{block_k});
      right = right && mine >= steps / parts && mine <= ceil_div(steps, offset_t{parts});
      REQUIRE(right);
    }
  }
}

TEST_CASE("Parts of the depth cover each tile's depth once, in order and evenly",
          "[kernel][host]") {
  check_split<kernel::NonContracting>();
  check_split<kernel::Contracting>();
  check_split<kernel::Batch>();
}

}  // namespace
