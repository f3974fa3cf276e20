// SPDX-License-Identifier: Apache-2.0
// The Hopper engine's ring of decoded tiles: one warp decodes them ahead of the roles that load and
// multiply, so that none of those waits for it.
#pragma once

#include <cstdint>

#include "raggedgemm/arch/simt/wave.hpp"
#include "raggedgemm/arch/sm90/barrier.hpp"
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
  /// group is multiplied faster than one lane decodes.
  template <class Decoder>
  RG_DEVICE RG_FORCE_INLINE void fill(Decoder decoder) {
    Position at;
    offset_t first = blockIdx.x;
    // Small batches first: the groups up to a batch's last tile are read before its first tile is
    // known, and the other roles wait for that one.
    for (index_t width = 2;; width = min_of(2 * width, Wave::lanes)) {
      Work work;
      const index_t turn_of_lane = min_of(Wave::lane(), width - 1);
      const bool more = decoder.decode_each(first + turn_of_lane * offset_t{gridDim.x}, work);
      const std::uint64_t tiles_left = Wave::ballot(more);
      RG_NO_UNROLL
      for (index_t turn = 0; turn < width; ++turn) {
        empty_[at.slot].wait(at.parity ^ 1);
        if (Wave::lane() == turn) {
          slots_[at.slot] = slot_of(work, more);
          full_[at.slot].arrive();
        }
        __syncwarp();
        at.advance();
        if ((tiles_left >> turn & 1) == 0) return;
      }
      first += width * offset_t{gridDim.x};
    }
  }

  /// The next tile, or false when none is left. All lanes of a reading warp call together.
  RG_DEVICE RG_FORCE_INLINE bool next(Position& at, Work& work) {
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
    return slot.more != 0;
  }

 private:
  /// Work in two 16-byte words.
  struct alignas(16) Slot {
    std::int32_t slab, row_begin, col_begin, k_begin;
    std::int32_t k_extent, rows;
    std::int16_t cols, part_and_tail;
    std::int32_t more;  ///< 0: no tiles are left, and nothing else is set
  };

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
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
