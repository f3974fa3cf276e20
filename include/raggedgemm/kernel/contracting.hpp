// SPDX-License-Identifier: Apache-2.0
// contracting: out[g, k, n] = Σ_{m in group g} lhs[m, k] · rhs[m, n]; the reduction is ragged.
// Every slab of the output is written, an empty group's with a zero product.
#pragma once

#include "raggedgemm/schedule/group_cursor.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace kernel {

struct Contracting {
  static constexpr Variant variant = Variant::contracting;

  /// Decodes tile ids, in increasing order, to work. All lanes of a wave call together.
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
                  arguments.depth,
                  arguments.instances,
                  arguments.group_offset,
                  arguments.slabs),
          tile_rows_(static_cast<index_t>(ceil_div(arguments.rows, offset_t{BlockM}))),
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

   private:
    RG_HOST_DEVICE void place(const GroupPosition& at, Work& work) const {
      const TileCoordinate where =
          arguments_.order.map(static_cast<index_t>(at.tile), tile_rows_, tile_cols_);
      work.slab = at.group - arguments_.group_offset;
      work.row_begin = offset_t{where.row} * BlockM;
      work.col_begin = offset_t{where.col} * BlockN;
      work.k_begin = at.begin;
      work.k_extent = at.extent;
      work.rows = static_cast<index_t>(min_of(offset_t{BlockM}, arguments_.rows - work.row_begin));
      work.cols = static_cast<index_t>(min_of(offset_t{BlockN}, arguments_.cols - work.col_begin));
      if (!Walk::one_instance && arguments_.instances.rank > 0)
        work.outer = arguments_.instances.offsets(at.instance);
      work.is_tail = false;
    }

    struct TilesOf {
      offset_t tiles_per_group;
      template <class Count>
      RG_HOST_DEVICE Count operator()(Count, bool is_tail) const {
        return is_tail ? 0 : static_cast<Count>(tiles_per_group);  // rows of no group: in nothing
      }
    };
    [[nodiscard]] RG_HOST_DEVICE TilesOf tiles_of() const {
      return {offset_t{tile_rows_} * tile_cols_};
    }

    const Arguments& arguments_;
    GroupCursor<Wave, Walk> cursor_;
    index_t tile_rows_;
    index_t tile_cols_;
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
