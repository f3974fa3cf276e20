// SPDX-License-Identifier: Apache-2.0
// GroupCursor: where a wave stands in the group sizes. Finds the group of a tile id by prefix sum,
// moving forward only, a window of sizes at a time: any number of groups, no shared memory.
#pragma once

#include <cstdint>

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/problem/group_sizes.hpp"
#include "raggedgemm/problem/outer_dims.hpp"
#include "raggedgemm/schedule/cut_order.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {

/// Where a tile id lies among the groups.
struct GroupPosition {
  offset_t group = 0;     ///< group index; the group count for the tail
  offset_t begin = 0;     ///< first index of the group in the ragged dimension
  offset_t extent = 0;    ///< indices of the group, after clamping
  offset_t tile = 0;      ///< tile index inside the group
  offset_t instance = 0;  ///< which of the products with groups of their own
  bool is_tail = false;   ///< past the last group, or outside the shard
};

/// Tile counts that make a tile id a group index: finds where a group lies.
struct OneTilePerGroup {
  template <class Count>
  RG_HOST_DEVICE Count operator()(Count, bool is_tail) const {
    return is_tail ? 0 : 1;
  }
};

/// What a cursor may take for granted of its call: nothing.
struct AnyWalk {
  using Count = offset_t;  ///< holds every extent, group and tile number
  /// Neighbouring groups of a window that a lane holds.
  static constexpr index_t groups_per_lane = 1;
  static constexpr bool one_instance = false;  ///< no outer dimensions
  static constexpr bool turns_rows = false;    ///< TileOrder::map_turned()
};

/// For a warp that decodes while others wait: 32-bit numbers halve the instructions, and one warp
/// alone runs an instruction in four or five cycles.
struct DecodingWalk {
  using Count = std::uint32_t;
  static constexpr index_t groups_per_lane = 8;
  static constexpr bool one_instance = true;
  static constexpr bool turns_rows = true;
};

/// Walks groups forward, one instance after the other, each with its groups and its tail. All lanes
/// of the wave call every member together and get the same answer.
///
/// Guarantees: sizes are clamped to [0, extent - sum before], so ranges never leave [0, extent)
/// whatever the sizes say, and whether or not they change while the cursor walks. Cost: one trip to
/// memory and two wave scans a window; the first tile of a block waits for all windows up to its
/// group.
template <class Wave, class Walk = AnyWalk>
class GroupCursor {
  using Count = typename Walk::Count;
  static constexpr index_t per_lane = Walk::groups_per_lane;
  static constexpr offset_t largest_count =
      sizeof(Count) == 4 ? offset_t{0x7FFFFFFF} : offset_t{1} << 62;

 public:
  RG_EXEC_CHECK_DISABLE
  RG_HOST_DEVICE GroupCursor(const Groups& groups, offset_t ragged_extent)
      : groups_(groups),
        group_count_(static_cast<Count>(groups.count)),
        ragged_extent_(static_cast<Count>(ragged_extent)),
        shard_end_(group_count_) {}

  /// With instances, each of which reads its own row of the group description, and a shard: groups
  /// outside [shard_begin, shard_begin + shard_groups) count as tail.
  RG_EXEC_CHECK_DISABLE
  RG_HOST_DEVICE GroupCursor(const Groups& groups,
                             offset_t ragged_extent,
                             const OuterDims& instances,
                             offset_t shard_begin,
                             offset_t shard_groups)
      : groups_(groups),
        group_count_(static_cast<Count>(groups.count)),
        ragged_extent_(static_cast<Count>(ragged_extent)),
        shard_begin_(static_cast<Count>(shard_begin)),
        shard_end_(static_cast<Count>(min_of(shard_begin + shard_groups, groups.count))),
        instances_(&instances),
        instance_count_(Walk::one_instance ? 1 : instances.count()),
        first_entry_(groups.first_entry) {}

  /// Finds the group of `tile`; tiles must not decrease from call to call.
  /// `tiles_of(extent, is_tail)` is the number of tiles of a group of that extent.
  /// Returns false when `tile` is past the last one, tail included.
  RG_EXEC_CHECK_DISABLE
  template <class TilesOf>
  RG_HOST_DEVICE bool seek(offset_t tile, const TilesOf& tiles_of, GroupPosition& position) {
    const Count wanted = counted(tile);
    for (;;) {
      while (wanted >= window_tiles_end_ && next_window(tiles_of)) {
      }
      if (wanted < window_tiles_end_) {
        find_in_window(wanted, tiles_of, position);
        return true;
      }
      const Count tail_tiles = tiles_of(static_cast<Count>(ragged_extent_ - sum_), true);
      if (wanted - window_tiles_end_ < tail_tiles) {
        tail_position(wanted, position);
        return true;
      }
      if (!next_instance(tail_tiles)) return false;
    }
  }

  /// As seek(), but every lane asks for a tile of its own and gets an answer of its own. Tiles must
  /// not decrease from lane to lane, nor from the last lane to the first one of the next call.
  RG_EXEC_CHECK_DISABLE
  template <class TilesOf>
  RG_HOST_DEVICE bool seek_each(offset_t tile, const TilesOf& tiles_of, GroupPosition& position) {
    const Count wanted = counted(tile);
    bool open = true;  // this lane has no answer yet
    for (;;) {
      const bool here = open && wanted < window_tiles_end_;
      if (Wave::ballot(here) != 0) {
        GroupPosition found;
        find_each_in_window(wanted, tiles_of, found);
        if (here) {
          position = found;
          open = false;
        }
      }
      if (Wave::ballot(open) == 0) return true;
      if (next_window(tiles_of)) continue;
      const Count tail_tiles = tiles_of(static_cast<Count>(ragged_extent_ - sum_), true);
      if (open && wanted - window_tiles_end_ < tail_tiles) {
        tail_position(wanted, position);
        open = false;
      }
      if (Wave::ballot(open) == 0) return true;
      if (!next_instance(tail_tiles)) return !open;
    }
  }

  /// Of a cursor without instances that a seek has taken past the last tile.
  RG_EXEC_CHECK_DISABLE
  template <class TilesOf>
  [[nodiscard]] RG_HOST_DEVICE TileCounts counts(const TilesOf& tiles_of) const {
    const Count tail_tiles = tiles_of(static_cast<Count>(ragged_extent_ - sum_), true);
    return {static_cast<index_t>(window_tiles_end_),
            static_cast<index_t>(window_tiles_end_ + tail_tiles)};
  }

  /// Goes back to the first group of the first instance.
  RG_HOST_DEVICE void restart() {
    groups_.first_entry = first_entry_;
    instance_ = 0;
    next_group_ = 0;
    sum_ = 0;
    window_tiles_end_ = 0;
  }

  /// The clamped sum of all sizes of the first instance. Uses up the cursor.
  RG_EXEC_CHECK_DISABLE
  RG_HOST_DEVICE offset_t total() {
    const NoTiles none;
    while (next_window(none)) {
    }
    return static_cast<offset_t>(sum_);
  }

 private:
  /// A tile number past the largest count is past every tile.
  static RG_HOST_DEVICE Count counted(offset_t tile) {
    return static_cast<Count>(min_of(tile, largest_count));
  }

  [[nodiscard]] RG_HOST_DEVICE bool outside_shard(Count group) const {
    return group < shard_begin_ || group >= shard_end_;
  }

  RG_HOST_DEVICE void tail_position(Count tile, GroupPosition& position) const {
    position.group = groups_.count;
    position.begin = static_cast<offset_t>(sum_);
    position.extent = static_cast<offset_t>(ragged_extent_ - sum_);
    position.tile = static_cast<offset_t>(tile - window_tiles_end_);
    position.instance = instance_;
    position.is_tail = true;
  }

  /// Goes past the tail of this instance; false when it is the last one.
  RG_HOST_DEVICE bool next_instance(Count tail_tiles) {
    if (Walk::one_instance || instance_ + 1 >= instance_count_) return false;
    ++instance_;
    groups_.first_entry = first_entry_ + instances_->offsets(instance_).groups;
    next_group_ = 0;
    sum_ = 0;
    window_tiles_end_ += tail_tiles;
    return true;
  }

  struct NoTiles {
    RG_HOST_DEVICE Count operator()(Count, bool) const { return 0; }
  };

  /// The sizes of a lane's groups, clamped to the ragged extent; 0 past the last group.
  struct Sizes {
    Count of[per_lane];
  };

  RG_EXEC_CHECK_DISABLE
  [[nodiscard]] RG_HOST_DEVICE Sizes load_sizes(Count first) const {
    Sizes sizes{};
    if (per_lane > 1 && groups_.kind == GroupKind::sizes && groups_.type == IndexType::s32) {
      // The common description by independent loads; the others take turns in a short loop.
      const std::int32_t* const from =
          static_cast<const std::int32_t*>(groups_.data) + groups_.first_entry + first;
      RG_UNROLL
      for (index_t i = 0; i < per_lane; ++i) {
        const std::int32_t size = first + static_cast<Count>(i) < group_count_ ? from[i] : 0;
        sizes.of[i] = min_of(static_cast<Count>(max_of(size, 0)), ragged_extent_);
      }
      return sizes;
    }
    RG_NO_UNROLL
    for (index_t turn = 0; turn < per_lane; ++turn) {
      const Count group = first + static_cast<Count>(turn);
      Count size = 0;
      if (group < group_count_)
        size = static_cast<Count>(
            groups_.size(static_cast<offset_t>(group), static_cast<offset_t>(ragged_extent_)));
      RG_UNROLL
      for (index_t i = 0; i < per_lane; ++i)
        if (i == turn) sizes.of[i] = size;
    }
    return sizes;
  }

  /// The window's first group of a lane.
  [[nodiscard]] RG_HOST_DEVICE Count first_group(index_t lane) const {
    return window_begin_ + static_cast<Count>(lane * per_lane);
  }

  /// Takes the next window of sizes; false when none are left.
  RG_EXEC_CHECK_DISABLE
  template <class TilesOf>
  RG_HOST_DEVICE bool next_window(const TilesOf& tiles_of) {
    if (next_group_ >= group_count_) return false;
    window_begin_ = next_group_;
    next_group_ += static_cast<Count>(Wave::lanes * per_lane);
    const Count first = first_group(Wave::lane());
    const Sizes sizes = load_sizes(first);
    const Count in_next = next_group_ + first - window_begin_;
    if (in_next < group_count_ && groups_.kind != GroupKind::none)
      Wave::prefetch(groups_.address(static_cast<offset_t>(in_next)));
    Count size = 0;
    RG_UNROLL
    for (index_t i = 0; i < per_lane; ++i) size = min_of(size + sizes.of[i], ragged_extent_);
    const Count before = Wave::exclusive_sum(size, ragged_extent_);
    lane_begin_ = min_of(sum_ + before, ragged_extent_);
    sum_ = min_of(sum_ + Wave::broadcast(min_of(before + size, ragged_extent_), Wave::lanes - 1),
                  ragged_extent_);
    Count begin = lane_begin_;
    Count tiles = 0;
    RG_UNROLL
    for (index_t i = 0; i < per_lane; ++i) {
      const Count extent = min_of(sizes.of[i], ragged_extent_ - begin);
      tiles += tiles_of(extent, outside_shard(first + static_cast<Count>(i)));
      begin += extent;
    }
    const Count tiles_before = Wave::exclusive_sum(tiles, static_cast<Count>(largest_count));
    lane_first_tile_ = window_tiles_end_ + tiles_before;
    window_tiles_end_ += Wave::broadcast(tiles_before + tiles, Wave::lanes - 1);
    return true;
  }

  RG_EXEC_CHECK_DISABLE
  template <class TilesOf>
  RG_HOST_DEVICE void find_in_window(Count tile,
                                     const TilesOf& tiles_of,
                                     GroupPosition& position) const {
    // Lanes are in order, so the lanes that start at or before the tile are a prefix, and the last
    // of them holds it (a later one without tiles would start past it).
    const std::uint64_t started = Wave::ballot(lane_first_tile_ <= tile);
    take_from(Wave::last_set(started), tile, tiles_of, position);
  }

  /// The same for a tile of each lane's own, by bisection. Lanes whose tile is not in the window
  /// get an answer without meaning.
  RG_EXEC_CHECK_DISABLE
  template <class TilesOf>
  RG_HOST_DEVICE void find_each_in_window(Count tile,
                                          const TilesOf& tiles_of,
                                          GroupPosition& position) const {
    index_t owner = 0;
    RG_UNROLL
    for (index_t step = Wave::lanes / 2; step > 0; step /= 2)
      if (Wave::broadcast(lane_first_tile_, owner + step) <= tile) owner += step;
    take_from(owner, tile, tiles_of, position);
  }

  /// Walks the groups of lane `owner`, whose sizes are in the cache, to the one with the tile.
  RG_EXEC_CHECK_DISABLE
  template <class TilesOf>
  RG_HOST_DEVICE void take_from(index_t owner,
                                Count tile,
                                const TilesOf& tiles_of,
                                GroupPosition& position) const {
    Count begin = Wave::broadcast(lane_begin_, owner);
    tile -= Wave::broadcast(lane_first_tile_, owner);
    const Count first = first_group(owner);
    const Sizes sizes = load_sizes(first);
    bool found = false;
    RG_UNROLL
    for (index_t i = 0; i < per_lane; ++i) {
      const Count extent = min_of(sizes.of[i], ragged_extent_ - begin);
      const bool is_tail = outside_shard(first + static_cast<Count>(i));
      const Count tiles = tiles_of(extent, is_tail);
      if (!found && (tile < tiles || i == per_lane - 1)) {
        found = true;
        position.group = static_cast<offset_t>(first + static_cast<Count>(i));
        position.begin = static_cast<offset_t>(begin);
        position.extent = static_cast<offset_t>(extent);
        position.tile = static_cast<offset_t>(tile);
        position.instance = instance_;
        position.is_tail = is_tail;
      }
      tile -= tiles;
      begin += extent;
    }
  }

  Groups groups_;
  Count group_count_;
  Count ragged_extent_;
  Count shard_begin_ = 0;
  Count shard_end_;  // not past the last group: what a lane holds past it counts as tail
  const OuterDims* instances_ = nullptr;
  offset_t instance_count_ = 1;
  offset_t first_entry_ = 0;
  offset_t instance_ = 0;
  Count next_group_ = 0;    // first group not yet taken
  Count window_begin_ = 0;  // group of lane 0
  Count sum_ = 0;           // clamped sum of all loaded groups
  Count window_tiles_end_ = 0;
  // Of this lane's first group in the window:
  Count lane_begin_ = 0;
  Count lane_first_tile_ = 0;
};

}  // namespace RG_PLATFORM
}  // namespace raggedgemm
