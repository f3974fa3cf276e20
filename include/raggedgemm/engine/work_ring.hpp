// SPDX-License-Identifier: Apache-2.0
// The Hopper engine's ring of decoded tiles: one warp decodes them ahead of the roles that load and
// multiply, so that none of those waits for it.
#pragma once

#include <cstdint>

#include "raggedgemm/arch/simt/wave.hpp"
#include "raggedgemm/arch/sm90/barrier.hpp"
#include "raggedgemm/schedule/cut_order.hpp"
#include "raggedgemm/schedule/work.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

#if RG_PLATFORM_CUDA

/// A place in a ring of `Slots` slots, and the parity of the current lap.
template <index_t Slots>
struct RingPosition {
  index_t slot = 0;
  index_t parity = 0;
  RG_DEVICE RG_FORCE_INLINE void advance() {
    if (++slot == Slots) {
      slot = 0;
      parity ^= 1;
    }
  }
  RG_DEVICE RG_FORCE_INLINE void skip(index_t slots) {
    parity ^= (slot + slots) / Slots & 1;
    slot = (slot + slots) % Slots;
  }
};

/// Lies in shared memory; every reading warp reads every tile, in order. Selection keeps
/// coordinates below 2^31, and calls with outer dimensions away.
class WorkRing {
  using Wave = arch::simt::Wave<32>;
  using Barrier = arch::sm90::Barrier;
  static constexpr index_t slots = 4;  // tiles decoded ahead

 public:
  using Position = RingPosition<slots>;

  /// One lane calls it; a barrier of the block must follow. `readers`: warps.
  RG_DEVICE RG_FORCE_INLINE void initialize(index_t readers) {
    for (index_t s = 0; s < slots; ++s) {
      full_[s].initialize(1);
      empty_[s].initialize(readers);
    }
  }

  /// The decoding warp: this block's tiles, each in a lane of its own, because a tile of a small
  /// group is multiplied faster than one lane decodes. `MayCut`: where `cut` has memory, tiles of
  /// the last round are cut in `parts` at most, at multiples of `BlockK`.
  template <bool MayCut, index_t BlockK, class Decoder>
  RG_DEVICE RG_FORCE_INLINE void fill(Decoder decoder, const CutSums& cut, index_t parts) {
    const bool cuts = MayCut && cut.tiles_and_parts != nullptr;
    Position at;
    offset_t first = blockIdx.x;
    // What the tiles are is known when they have been counted, and the first one does not wait.
    bool counts = false;
    if (MayCut && Wave::lane() == 0) {
      order_ = CutOrder{};
      order_.all = 0x7FFFFFFF;
    }
    __syncwarp();
    // Small batches first: the groups up to a batch's last tile are read before its first tile is
    // known, and the other roles wait for that one.
    for (index_t width = cuts ? 1 : 2;; width = min_of(2 * width, Wave::lanes)) {
      Work work;
      const index_t turn_of_lane = min_of(Wave::lane(), width - 1);
      offset_t tile = first + turn_of_lane * offset_t{gridDim.x};
      Turn turn;
      if constexpr (MayCut) {
        turn = order_.at(tile);
        tile = counts ? order_.all : turn.tile;
      }
      const bool more = decoder.decode_each(tile, work);
      if constexpr (MayCut)
        if (counts) {  // nothing was decoded but the number of tiles
          if (Wave::lane() == 0)
            order_ = CutOrder::of(decoder.counts(), static_cast<index_t>(gridDim.x), parts);
          __syncwarp();
          decoder.restart();
          counts = false;
          continue;
        }
      const std::uint64_t tiles_left = Wave::ballot(more);
      Slot slot = slot_of(work, more);
      // (Sizes may have changed since they were counted: a piece of no tile is the end, too.)
      if (MayCut && more && turn.piece >= 0) cut_slot(slot, turn, order_.parts, BlockK, cut);
      RG_NO_UNROLL
      for (index_t lane = 0; lane < width; ++lane) {
        empty_[at.slot].wait(at.parity ^ 1);
        if (Wave::lane() == lane) {
          slots_[at.slot] = slot;
          full_[at.slot].arrive();
        }
        __syncwarp();
        at.advance();
        if ((tiles_left >> lane & 1) == 0) {
          if (cuts && blockIdx.x == 0 && Wave::lane() == 0) {
            cut.tiles_and_parts[0] = order_.cut_tiles;
            cut.tiles_and_parts[1] = order_.parts;
          }
          return;
        }
      }
      counts = cuts && first == blockIdx.x;
      first += width * offset_t{gridDim.x};
    }
  }

  /// The next tile, or false when none is left. All lanes of a reading warp call together.
  RG_DEVICE RG_FORCE_INLINE bool next(Position& at, Work& work) {
    const Slot slot = take(at, work);
    return (slot.more & 1) != 0;
  }

  /// The same for a warp that stores: of part of a tile, whose sums only are left, `cols` is 0 and
  /// `slab` the number of the piece.
  RG_DEVICE RG_FORCE_INLINE bool next_to_store(Position& at, Work& work) {
    const Slot slot = take(at, work);
    if (slot.more > 1) {
      work.slab = (slot.more >> 1) - 1;
      work.cols = 0;
    }
    return (slot.more & 1) != 0;
  }

 private:
  /// Work in two 16-byte words.
  struct alignas(16) Slot {
    std::int32_t slab, row_begin, col_begin, k_begin;
    std::int32_t k_extent, rows;
    std::int16_t cols, part_and_tail;
    std::int32_t more;  ///< bit 0: this is a tile; above: the number of the piece + 1, or 0
  };

  RG_DEVICE RG_FORCE_INLINE Slot take(Position& at, Work& work) {
    full_[at.slot].wait(at.parity);
    const Slot slot = slots_[at.slot];
    // All lanes have read the slot; it may be overwritten. (compute-sanitizer's racecheck does not
    // follow this order once the ring has gone round; when each lane arrives itself it is silent.)
    __syncwarp();
    if (Wave::lane() == 0) empty_[at.slot].arrive();
    at.advance();
    work.slab = slot.slab;
    work.row_begin = slot.row_begin;
    work.col_begin = slot.col_begin;
    work.k_begin = slot.k_begin;
    work.k_extent = slot.k_extent;
    work.rows = slot.rows;
    work.cols = slot.cols;
    work.is_tail = (slot.part_and_tail & 1) != 0;
    work.part = slot.part_and_tail >> 1;
    return slot;
  }

  /// As kernel::cut_depth(), in 32 bits; and says where the tile lies.
  static RG_DEVICE RG_FORCE_INLINE void cut_slot(
      Slot& slot, const Turn& turn, index_t parts, index_t block_k, const CutSums& cut) {
    if (turn.part == 0)
      cut.tiles[turn.piece / parts] = {slot.slab,
                                       slot.row_begin,
                                       slot.col_begin,
                                       slot.rows,
                                       slot.cols,
                                       slot.k_extent > 0,
                                       slot.part_and_tail & 1};
    const index_t extent = slot.k_extent;
    const index_t steps = ceil_div(extent, block_k);
    const index_t begin = min_of(steps * turn.part / parts * block_k, extent);
    const index_t end = min_of(steps * (turn.part + 1) / parts * block_k, extent);
    slot.k_begin += begin;
    slot.k_extent = end - begin;
    slot.more = 1 | (turn.piece + 1) << 1;
  }

  static RG_DEVICE RG_FORCE_INLINE Slot slot_of(const Work& work, bool more) {
    Slot slot;
    slot.slab = static_cast<std::int32_t>(work.slab);
    slot.row_begin = static_cast<std::int32_t>(work.row_begin);
    slot.col_begin = static_cast<std::int32_t>(work.col_begin);
    slot.k_begin = static_cast<std::int32_t>(work.k_begin);
    slot.k_extent = static_cast<std::int32_t>(work.k_extent);
    slot.rows = work.rows;
    slot.cols = static_cast<std::int16_t>(work.cols);
    slot.part_and_tail = static_cast<std::int16_t>(2 * work.part + (work.is_tail ? 1 : 0));
    slot.more = static_cast<std::int32_t>(more);
    return slot;
  }

  Slot slots_[slots];
  Barrier full_[slots];
  Barrier empty_[slots];
  CutOrder order_;  // the decoding warp's: in registers it would spill
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
