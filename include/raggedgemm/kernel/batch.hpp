// SPDX-License-Identifier: Apache-2.0
// batch: out[b, m, n] = Σ_k lhs[b, m, k] · rhs[b, k, n] for the live batches, the first Σ sizes.
// Batches past the sum are zero, kept or computed, as the tail policy says.
#pragma once

#include "raggedgemm/schedule/group_cursor.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace kernel {

struct Batch {
  static constexpr Variant variant = Variant::batch;

  /// Decodes tile ids, in increasing order, to work. All lanes of a wave call together.
  /// Tiles have at most BlockM rows; with a RowStep below BlockM they are about equal.
  template <index_t BlockM,
            index_t BlockN,
            class Wave,
            index_t RowStep = BlockM,
            class Walk = AnyWalk>
  class Decoder {
   public:
    RG_EXEC_CHECK_DISABLE
    RG_HOST_DEVICE explicit Decoder(const Arguments& arguments)
        : arguments_(arguments),
          cut_(RowCut::of(arguments.rows, BlockM, RowStep)),
          tile_cols_(static_cast<index_t>(ceil_div(arguments.cols, offset_t{BlockN}))),
          instance_count_(Walk::one_instance ? 1 : arguments.instances.count()) {
      enter_instance();
    }

    /// False when `tile` is past the last one.
    RG_EXEC_CHECK_DISABLE
    RG_HOST_DEVICE bool decode(offset_t tile, Work& work) {
      const offset_t tiles = offset_t{cut_.tiles} * tile_cols_;
      while (tile - tiles_before_ >= tiles * written_) {
        if (instance_ + 1 >= instance_count_) return false;
        tiles_before_ += tiles * written_;
        ++instance_;
        enter_instance();
      }
      place(tile, work);
      return true;
    }

    /// The same for a tile of each lane's own; tiles do not decrease with the lane.
    RG_EXEC_CHECK_DISABLE
    RG_HOST_DEVICE bool decode_each(offset_t tile, Work& work) {
      const offset_t tiles = offset_t{cut_.tiles} * tile_cols_;
      bool open = true;  // this lane has no answer yet
      for (;;) {
        if (open && tile - tiles_before_ < tiles * written_) {
          place(tile, work);
          open = false;
        }
        if (Wave::ballot(open) == 0) return true;
        if (instance_ + 1 >= instance_count_) return !open;
        tiles_before_ += tiles * written_;
        ++instance_;
        enter_instance();
      }
    }

   private:
    RG_HOST_DEVICE void place(offset_t tile, Work& work) const {
      const offset_t tiles = offset_t{cut_.tiles} * tile_cols_;
      const offset_t batch = (tile - tiles_before_) / tiles;
      const TileCoordinate where = arguments_.order.map(
          static_cast<index_t>(tile - tiles_before_ - batch * tiles), cut_.tiles, tile_cols_);
      work.slab = batch;
      work.row_begin = offset_t{where.row} * cut_.rows;
      work.col_begin = offset_t{where.col} * BlockN;
      work.k_begin = 0;
      if (!Walk::one_instance && arguments_.instances.rank > 0)
        work.outer = arguments_.instances.offsets(instance_);
      work.is_tail = batch >= live_;
      work.k_extent = work.is_tail ? 0 : arguments_.depth;
      work.rows =
          static_cast<index_t>(min_of(offset_t{cut_.rows}, arguments_.rows - work.row_begin));
      work.cols = static_cast<index_t>(min_of(offset_t{BlockN}, arguments_.cols - work.col_begin));
    }

    RG_EXEC_CHECK_DISABLE
    RG_HOST_DEVICE void enter_instance() {
      live_ = arguments_.slabs;
      if (arguments_.groups.kind != GroupKind::none && arguments_.tail != Tail::compute) {
        Groups groups = arguments_.groups;
        if (!Walk::one_instance)
          groups.first_entry += arguments_.instances.offsets(instance_).groups;
        live_ = GroupCursor<Wave, Walk>(groups, arguments_.slabs).total();
      }
      written_ = arguments_.tail == Tail::keep ? live_ : arguments_.slabs;
    }

    const Arguments& arguments_;
    RowCut cut_;
    index_t tile_cols_;
    offset_t instance_count_;
    offset_t instance_ = 0;
    offset_t tiles_before_ = 0;  // tiles of the instances before this one
    offset_t live_ = 0;          // batches below the sum of the sizes
    offset_t written_ = 0;       // batches that have tiles
  };

  /// No more tiles than this exist, whatever the sizes: what the host sizes the grid by.
  template <index_t BlockM, index_t BlockN>
  static offset_t tiles_at_most(const Arguments& p) noexcept {
    return ceil_div(p.rows, offset_t{BlockM}) * ceil_div(p.cols, offset_t{BlockN}) * p.slabs *
           p.instances.count();
  }
};

}  // namespace kernel
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
