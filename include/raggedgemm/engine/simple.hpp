// SPDX-License-Identifier: Apache-2.0
// The simple engine: copy, multiply, store, in block-collective verbs. With 256 lanes it is a GPU
// block of any architecture, with one lane it is the CPU backend; the text is the same.
#pragma once

#include "raggedgemm/epilogue/store.hpp"
#include "raggedgemm/numeric/convert.hpp"
#include "raggedgemm/schedule/group_cursor.hpp"
#include "raggedgemm/tile/arguments.hpp"
#include "raggedgemm/tile/copy.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

/// Computes output tiles one after the other, each in steps of block_k along the depth.
///
/// `Block` (arch/host or arch/simt) owns tile memory, accumulators and the multiplication;
/// `VariantType` decodes tiles. Any strides, alignment and extents; sums run in depth order, so the
/// result is bitwise repeatable.
template <class Block, class Config, class VariantType, class TypesType>
struct Simple {
  using Lhs = typename TypesType::lhs;
  using Rhs = typename TypesType::rhs;
  using Out = typename TypesType::out;

  RG_EXEC_CHECK_DISABLE
  template <class TileSource, class EpilogueType>
  static RG_HOST_DEVICE void run(const Arguments& arguments,
                                 const EpilogueType& epilogue,
                                 TileSource& tiles,
                                 void* shared) {
    if (arguments.cols == 0) return;  // there are no tiles
    typename VariantType::
        template Decoder<Config::value.block_m, Config::value.block_n, typename Block::Wave>
            decoder(arguments);
    Block block(shared);
    Work work;
    while (decoder.decode(tiles.next(), work)) {
      block.clear(work.rows, work.cols);
      const offset_t segments = arguments.segments.count();
      offset_t depth = 0;  // 0 where no segment has any: nothing is summed
      for (offset_t segment = 0; segment < segments; ++segment) {
        const OuterOffsets offsets = arguments.segments.offsets(segment);
        if (arguments.segments.has_groups()) locate_depth(arguments, offsets, work);
        depth = max_of(depth, work.k_extent);
        if (!is_gathered_away(arguments, work)) accumulate(arguments, work, offsets, block);
      }
      work.k_extent = depth;
      block.for_each_chunk(
          work.rows, work.cols, TileStore<Out, EpilogueType>(arguments, work, epilogue));
    }
  }

 private:
  /// A batch whose gather index points nowhere has a zero product, and so has all of an lhs without
  /// elements, whose address may be null.
  static RG_HOST_DEVICE bool is_gathered_away(const Arguments& arguments, const Work& work) {
    if (arguments.lhs_index == nullptr) return false;
    if (arguments.lhs_extent == 0) return true;
    if (VariantType::variant != Variant::batch) return false;
    const std::int32_t slab = arguments.lhs_index[work.slab];
    return slab < 0 || slab >= arguments.lhs_extent;
  }

  /// Depth segments with groups of their own: the work's group is elsewhere in each of them.
  RG_EXEC_CHECK_DISABLE
  static RG_HOST_DEVICE void locate_depth(const Arguments& arguments,
                                          const OuterOffsets& segment,
                                          Work& work) {
    Groups groups = arguments.groups;
    groups.first_entry += work.outer.groups + segment.groups;
    GroupCursor<typename Block::Wave> cursor(groups, arguments.depth);
    GroupPosition at;
    cursor.seek(work.slab + arguments.group_offset, OneTilePerGroup{}, at);
    work.k_begin = at.begin;
    work.k_extent = at.extent;
  }

  /// acc += A·B over the work's depth range of one segment.
  RG_EXEC_CHECK_DISABLE
  static RG_HOST_DEVICE void accumulate(const Arguments& arguments,
                                        const Work& work,
                                        const OuterOffsets& segment,
                                        Block& block) {
    if (work.k_extent == 0) return;  // the operands may have no elements, and null for an address
    constexpr index_t block_k = Config::value.block_k;
    const Rhs* b = arguments.b.template at<const Rhs>(work.slab, work.k_begin, work.col_begin) +
                   work.outer.b + segment.b;
    const offset_t outer = work.outer.a + segment.a;
    for (offset_t k = 0; k < work.k_extent; k += block_k) {
      const index_t depth = static_cast<index_t>(min_of(offset_t{block_k}, work.k_extent - k));
      copy_lhs(arguments, work, work.k_begin + k, outer, depth, block);
      copy<Block, typename Block::BMap>(block.b_tile(),
                                        b + k * arguments.b.stride.row,
                                        arguments.b.stride.col,
                                        arguments.b.stride.row,
                                        work.cols,
                                        depth);
      block.sync();  // both tiles are whole before any lane reads them
      block.multiply(work.rows, work.cols, depth);
      block.sync();  // all lanes have read the tiles; the next step may overwrite them
    }
  }

  /// The lhs tile at depth index k, through the gather index where there is one: it replaces the
  /// ragged dimension, which is the rows, the depth or the slabs.
  RG_EXEC_CHECK_DISABLE
  static RG_HOST_DEVICE void copy_lhs(const Arguments& arguments,
                                      const Work& work,
                                      offset_t k,
                                      offset_t outer,
                                      index_t depth,
                                      Block& block) {
    const Strides& stride = arguments.a.stride;
    const std::int32_t* const index = arguments.lhs_index;
    if (index == nullptr) {
      copy<Block, typename Block::AMap>(
          block.a_tile(),
          arguments.a.template at<const Lhs>(work.slab, work.row_begin, k) + outer,
          stride.row,
          stride.col,
          work.rows,
          depth);
      return;
    }
    constexpr Variant variant = VariantType::variant;
    GatheredDim rows{nullptr, stride.row, 0};
    GatheredDim depths{nullptr, stride.col, 0};
    offset_t slab = work.slab;
    offset_t row_begin = work.row_begin;
    if constexpr (variant == Variant::non_contracting) {
      rows = {index + work.row_begin, stride.row, arguments.lhs_extent};
      row_begin = 0;
    } else if constexpr (variant == Variant::contracting) {
      depths = {index + k, stride.col, arguments.lhs_extent};
      k = 0;
    } else {
      slab = index[work.slab];  // in range: run() has looked
    }
    copy_gathered<Block, typename Block::AMap>(
        block.a_tile(),
        arguments.a.template at<const Lhs>(slab, row_begin, k) + outer,
        rows,
        depths,
        work.rows,
        depth);
  }
};

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
