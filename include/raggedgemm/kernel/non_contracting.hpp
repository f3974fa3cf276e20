// SPDX-License-Identifier: Apache-2.0
// non_contracting: out[m, n] = Σ_k lhs[m, k] · rhs[g(m), k, n]; rows are ragged.
// Tiles start at group starts; rows past the last group are a tail of zero products.
#pragma once

#include "raggedgemm/schedule/group_cursor.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace kernel {

struct NonContracting {
  static constexpr Variant variant = Variant::non_contracting;

  /// Decodes tile ids, in increasing order, to work. All lanes of a wave call together.
  /// Tiles have at most BlockM rows; with a RowStep below BlockM they are about equal in a group.
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
          cursor_(arguments.groups,
                  arguments.rows,
                  arguments.instances,
                  arguments.group_offset,
                  arguments.slabs),
          tile_cols_(static_cast<index_t>(ceil_div(arguments.cols, offset_t{BlockN}))) {}

    /// False when `tile` is past the last one.
    RG_EXEC_CHECK_DISABLE
    RG_HOST_DEVICE bool decode(offset_t tile, Work& work) {
      GroupPosition at;
      if (!cursor_.seek(tile, tiles_of(), at)) return false;
      place(at, work);
      return true;
    }

    /// The same for a tile of each lane's own; tiles do not decrease with the lane.
    RG_EXEC_CHECK_DISABLE
    RG_HOST_DEVICE bool decode_each(offset_t tile, Work& work) {
      GroupPosition at;
      if (!cursor_.seek_each(tile, tiles_of(), at)) return false;
      place(at, work);
      return true;
    }

    /// How many tiles there are: of a call without instances, after a decode past the last one.
    RG_EXEC_CHECK_DISABLE
    [[nodiscard]] RG_HOST_DEVICE TileCounts counts() const { return cursor_.counts(tiles_of()); }
    /// Tiles may be asked for from the first one again.
    RG_HOST_DEVICE void restart() { cursor_.restart(); }

   private:
    RG_HOST_DEVICE void place(const GroupPosition& at, Work& work) const {
      const RowCut cut = RowCut::of(at.extent, BlockM, RowStep);
      const index_t tile = static_cast<index_t>(at.tile);
      const TileCoordinate where = Walk::turns_rows
                                       ? arguments_.order.map_turned(tile, cut.tiles, tile_cols_)
                                       : arguments_.order.map(tile, cut.tiles, tile_cols_);
      const offset_t row = offset_t{where.row} * cut.rows;
      work.slab = at.is_tail ? 0 : at.group - arguments_.group_offset;
      work.row_begin = at.begin + row;
      work.col_begin = offset_t{where.col} * BlockN;
      work.k_begin = 0;
      work.k_extent = at.is_tail ? 0 : arguments_.depth;
      work.rows = static_cast<index_t>(min_of(offset_t{cut.rows}, at.extent - row));
      work.cols = static_cast<index_t>(min_of(offset_t{BlockN}, arguments_.cols - work.col_begin));
      if (!Walk::one_instance && arguments_.instances.rank > 0)
        work.outer = arguments_.instances.offsets(at.instance);
      work.is_tail = at.is_tail;
    }

    struct TilesOf {
      index_t tile_cols;
      bool keep_tail;
      template <class Count>
      RG_HOST_DEVICE Count operator()(Count extent, bool is_tail) const {
        if (is_tail && keep_tail) return 0;
        return ceil_div(extent, Count{BlockM}) * static_cast<Count>(tile_cols);
      }
    };
    [[nodiscard]] RG_HOST_DEVICE TilesOf tiles_of() const {
      return {tile_cols_, arguments_.tail == Tail::keep};
    }

    const Arguments& arguments_;
    GroupCursor<Wave, Walk> cursor_;
    index_t tile_cols_;
  };

  /// No more tiles than this exist, whatever the sizes: what the host sizes the grid by.
  template <index_t BlockM, index_t BlockN>
  static offset_t tiles_at_most(const Arguments& p) noexcept {
    if (p.rows == 0) return 0;  // the sizes may be null then
    return (ceil_div(p.rows, offset_t{BlockM}) + p.groups.count + 1) *
           ceil_div(p.cols, offset_t{BlockN}) * p.instances.count();
  }
};

}  // namespace kernel
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
