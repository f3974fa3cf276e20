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

  /// Decodes tile ids to work. All lanes of a wave call together.
  template <index_t BlockM, index_t BlockN, class Wave>
  class Decoder {
   public:
    RG_EXEC_CHECK_DISABLE
    RG_HOST_DEVICE explicit Decoder(const Arguments& arguments)
        : arguments_(arguments),
          live_(live_batches(arguments)),
          tile_rows_(static_cast<index_t>(ceil_div(arguments.rows, offset_t{BlockM}))),
          tile_cols_(static_cast<index_t>(ceil_div(arguments.cols, offset_t{BlockN}))) {}

    /// False when `tile` is past the last one.
    RG_HOST_DEVICE bool decode(offset_t tile, Work& work) const {
      const offset_t tiles = offset_t{tile_rows_} * tile_cols_;
      const offset_t batches = arguments_.tail == Tail::keep ? live_ : arguments_.slabs;
      if (tile >= tiles * batches) return false;
      const offset_t batch = tile / tiles;
      const TileCoordinate where =
          arguments_.order.map(static_cast<index_t>(tile - batch * tiles), tile_rows_, tile_cols_);
      work.slab = batch;
      work.row_begin = offset_t{where.row} * BlockM;
      work.col_begin = offset_t{where.col} * BlockN;
      work.k_begin = 0;
      work.is_tail = batch >= live_;
      work.k_extent = work.is_tail ? 0 : arguments_.depth;
      work.rows = static_cast<index_t>(min_of(offset_t{BlockM}, arguments_.rows - work.row_begin));
      work.cols = static_cast<index_t>(min_of(offset_t{BlockN}, arguments_.cols - work.col_begin));
      return true;
    }

   private:
    RG_EXEC_CHECK_DISABLE
    static RG_HOST_DEVICE offset_t live_batches(const Arguments& arguments) {
      if (arguments.groups.kind == GroupKind::none || arguments.tail == Tail::compute)
        return arguments.slabs;
      return GroupCursor<Wave>(arguments.groups, arguments.slabs).total();
    }

    const Arguments& arguments_;
    offset_t live_;
    index_t tile_rows_;
    index_t tile_cols_;
  };

  /// No more tiles than this exist, whatever the sizes: what the host sizes the grid by.
  template <index_t BlockM, index_t BlockN>
  static offset_t tiles_at_most(const Arguments& p) noexcept {
    return ceil_div(p.rows, offset_t{BlockM}) * ceil_div(p.cols, offset_t{BlockN}) * p.slabs;
  }
};

}  // namespace kernel
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
