// SPDX-License-Identifier: Apache-2.0
// GroupCursor: where a wave stands in the group sizes. Finds the group of a tile id by prefix sum,
// moving forward only, a wave's width of sizes at a time: any number of groups, no shared memory.
#pragma once

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/problem/group_sizes.hpp"
#include "raggedgemm/problem/outer_dims.hpp"

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
  RG_HOST_DEVICE offset_t operator()(offset_t, bool is_tail) const { return is_tail ? 0 : 1; }
};

/// Walks groups forward, one instance after the other, each with its groups and its tail. All lanes
/// of the wave call every member together and get the same answer.
///
/// Guarantees: sizes are clamped to [0, extent - sum before] in int64, so ranges never leave
/// [0, extent) whatever the sizes say. Groups without tiles cost their share of one load.
/// Cost: one coalesced load and two wave scans for each `Wave::lanes` groups passed.
template <class Wave>
class GroupCursor {
 public:
  RG_EXEC_CHECK_DISABLE
  RG_HOST_DEVICE GroupCursor(const Groups& groups, offset_t ragged_extent)
      : groups_(groups), ragged_extent_(ragged_extent) {}

  /// With instances, each of which reads its own row of the group description, and a shard: groups
  /// outside [shard_begin, shard_begin + shard_groups) count as tail.
  RG_EXEC_CHECK_DISABLE
  RG_HOST_DEVICE GroupCursor(const Groups& groups,
                             offset_t ragged_extent,
                             const OuterDims& instances,
                             offset_t shard_begin,
                             offset_t shard_groups)
      : groups_(groups),
        ragged_extent_(ragged_extent),
        shard_begin_(shard_begin),
        shard_end_(shard_begin + shard_groups),
        instances_(&instances),
        instance_count_(instances.count()),
        first_entry_(groups.first_entry) {}

  /// Finds the group of `tile`; tiles must not decrease from call to call.
  /// `tiles_of(extent, is_tail)` is the number of tiles of a group of that extent.
  /// Returns false when `tile` is past the last one, tail included.
  RG_EXEC_CHECK_DISABLE
  template <class TilesOf>
  RG_HOST_DEVICE bool seek(offset_t tile, const TilesOf& tiles_of, GroupPosition& position) {
    for (;;) {
      while (tile >= window_tiles_end_ && next_window(tiles_of)) {
      }
      if (tile < window_tiles_end_) {
        find_in_window(tile, position);
        return true;
      }
      tail_position(tile, position);
      const offset_t tail_tiles = tiles_of(position.extent, true);
      if (position.tile < tail_tiles) return true;
      if (!next_instance(tail_tiles)) return false;
    }
  }

  /// As seek(), but every lane asks for a tile of its own and gets an answer of its own. Tiles must
  /// not decrease from lane to lane, nor from the last lane to the first one of the next call.
  RG_EXEC_CHECK_DISABLE
  template <class TilesOf>
  RG_HOST_DEVICE bool seek_each(offset_t tile, const TilesOf& tiles_of, GroupPosition& position) {
    bool open = true;  // this lane has no answer yet
    for (;;) {
      const bool here = open && tile < window_tiles_end_;
      if (Wave::ballot(here) != 0) {
        GroupPosition found;
        find_each_in_window(tile, found);
        if (here) {
          position = found;
          open = false;
        }
      }
      if (Wave::ballot(open) == 0) return true;
      if (next_window(tiles_of)) continue;
      const offset_t tail_tiles = tiles_of(ragged_extent_ - sum_, true);
      if (open && tile - window_tiles_end_ < tail_tiles) {
        tail_position(tile, position);
        open = false;
      }
      if (Wave::ballot(open) == 0) return true;
      if (!next_instance(tail_tiles)) return !open;
    }
  }

  /// The clamped sum of all sizes of the first instance. Uses up the cursor.
  RG_EXEC_CHECK_DISABLE
  RG_HOST_DEVICE offset_t total() {
    const NoTiles none;
    while (next_window(none)) {
    }
    return sum_;
  }

 private:
  [[nodiscard]] RG_HOST_DEVICE bool outside_shard(offset_t group) const {
    return group < shard_begin_ || group >= shard_end_;
  }

  RG_HOST_DEVICE void tail_position(offset_t tile, GroupPosition& position) const {
    position.group = groups_.count;
    position.begin = sum_;
    position.extent = ragged_extent_ - sum_;
    position.tile = tile - window_tiles_end_;
    position.instance = instance_;
    position.is_tail = true;
  }

  /// Goes past the tail of this instance; false when it is the last one.
  RG_HOST_DEVICE bool next_instance(offset_t tail_tiles) {
    if (instance_ + 1 >= instance_count_) return false;
    ++instance_;
    groups_.first_entry = first_entry_ + instances_->offsets(instance_).groups;
    has_upcoming_ = false;
    next_group_ = 0;
    sum_ = 0;
    window_tiles_end_ += tail_tiles;
    return true;
  }

  struct NoTiles {
    RG_HOST_DEVICE offset_t operator()(offset_t, bool) const { return 0; }
  };

  [[nodiscard]] RG_HOST_DEVICE offset_t load_size(offset_t group) const {
    return group < groups_.count ? groups_.size(group, ragged_extent_) : 0;
  }

  /// Takes the next Wave::lanes sizes; false when none are left.
  RG_EXEC_CHECK_DISABLE
  template <class TilesOf>
  RG_HOST_DEVICE bool next_window(const TilesOf& tiles_of) {
    if (next_group_ >= groups_.count) return false;
    window_begin_ = next_group_;
    const offset_t group = window_begin_ + Wave::lane();
    lane_in_range_ = group < groups_.count;
    const offset_t size = has_upcoming_ ? upcoming_size_ : load_size(group);
    // The window after this one is on its way while this one is summed.
    upcoming_size_ = load_size(group + Wave::lanes);
    has_upcoming_ = true;
    const offset_t size_end = Wave::inclusive_sum(size);
    lane_begin_ = min_of(sum_ + size_end - size, ragged_extent_);
    lane_extent_ = min_of(sum_ + size_end, ragged_extent_) - lane_begin_;
    const offset_t tiles = lane_in_range_ ? tiles_of(lane_extent_, outside_shard(group)) : 0;
    const offset_t tiles_end = Wave::inclusive_sum(tiles);
    lane_tiles_before_ = tiles_end - tiles;
    sum_ = min_of(sum_ + Wave::broadcast(size_end, Wave::lanes - 1), ragged_extent_);
    window_tiles_begin_ = window_tiles_end_;
    window_tiles_end_ += Wave::broadcast(tiles_end, Wave::lanes - 1);
    next_group_ += Wave::lanes;
    return true;
  }

  RG_EXEC_CHECK_DISABLE
  RG_HOST_DEVICE void find_in_window(offset_t tile, GroupPosition& position) const {
    // Lanes are in order, so the lanes that start at or before the tile are a prefix, and the last
    // of them holds it (a later empty group would start past it).
    const std::uint64_t started = Wave::ballot(lane_in_range_ && lane_first_tile() <= tile);
    take_from(Wave::last_set(started), tile, position);
  }

  /// The same for a tile of each lane's own, by bisection. Lanes whose tile is not in the window
  /// get an answer without meaning.
  RG_EXEC_CHECK_DISABLE
  RG_HOST_DEVICE void find_each_in_window(offset_t tile, GroupPosition& position) const {
    const offset_t first = lane_in_range_ ? lane_first_tile() : offset_t{1} << 62;
    index_t owner = 0;
    RG_UNROLL
    for (index_t step = Wave::lanes / 2; step > 0; step /= 2)
      if (Wave::broadcast(first, owner + step) <= tile) owner += step;
    take_from(owner, tile, position);
  }

  [[nodiscard]] RG_HOST_DEVICE offset_t lane_first_tile() const {
    return window_tiles_begin_ + lane_tiles_before_;
  }

  RG_EXEC_CHECK_DISABLE
  RG_HOST_DEVICE void take_from(index_t owner, offset_t tile, GroupPosition& position) const {
    position.group = window_begin_ + owner;
    position.begin = Wave::broadcast(lane_begin_, owner);
    position.extent = Wave::broadcast(lane_extent_, owner);
    position.tile = tile - Wave::broadcast(lane_first_tile(), owner);
    position.instance = instance_;
    position.is_tail = outside_shard(position.group);
  }

  Groups groups_;
  offset_t ragged_extent_;
  offset_t shard_begin_ = 0;
  offset_t shard_end_ = offset_t{1} << 62;
  const OuterDims* instances_ = nullptr;
  offset_t instance_count_ = 1;
  offset_t first_entry_ = 0;
  offset_t instance_ = 0;
  offset_t next_group_ = 0;          // first group not yet taken
  offset_t sum_ = 0;                 // clamped sum of all loaded groups
  offset_t window_begin_ = 0;        // group of lane 0
  offset_t window_tiles_begin_ = 0;  // tiles before the window
  offset_t window_tiles_end_ = 0;
  // One group a lane:
  bool has_upcoming_ = false;
  offset_t upcoming_size_ = 0;  // of the next window
  bool lane_in_range_ = false;
  offset_t lane_begin_ = 0;
  offset_t lane_extent_ = 0;
  offset_t lane_tiles_before_ = 0;  // tiles of the window before this lane's group
};

}  // namespace RG_PLATFORM
}  // namespace raggedgemm
