// SPDX-License-Identifier: Apache-2.0
// The second kernel of a call that splits the depth: adds up the parts of each tile, in their
// order, and finishes the output as every engine does.
#pragma once

#include "raggedgemm/arch/simt/dependent_launch.hpp"
#include "raggedgemm/epilogue/partial.hpp"
#include "raggedgemm/epilogue/store.hpp"
#include "raggedgemm/schedule/cut_order.hpp"
#include "raggedgemm/schedule/tile_source.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP

/// Tiles of 8 x 128 outputs, 4 neighbouring columns a lane; where all rows of a slab are written,
/// and not only those of small groups, of 32 x 128. Bound by the bytes of the partial sums. No
/// shared memory.
template <class Wave, class VariantType, class TypesType, class EpilogueType>
struct SumParts {
  using Sum = typename TypesType::compute;
  static constexpr index_t lanes = 256;
  static constexpr index_t block_n = 128;
  static constexpr index_t width = 4;
  static constexpr index_t lanes_of_row = block_n / width;
  static constexpr index_t rows_at_once = lanes / lanes_of_row;
  static constexpr index_t rows_of_lane = VariantType::variant == Variant::non_contracting ? 1 : 4;
  static constexpr index_t block_m = rows_of_lane * rows_at_once;

  static RG_DEVICE void run(const Arguments& arguments, const EpilogueType& epilogue) {
    const index_t lane = static_cast<index_t>(threadIdx.x);
    const index_t col = lane % lanes_of_row * width;
    const index_t first_row = lane / lanes_of_row;
    typename VariantType::template Decoder<block_m, block_n, Wave> decoder(arguments);
    RoundRobin tiles(blockIdx.x, gridDim.x);
    // The kernel before this one lets it begin before the sizes are known to be written.
    arch::simt::wait_for_kernel_before();
    for (Work work; decoder.decode(tiles.next(), work);) {
      if (col >= work.cols) continue;
      const PartialSums<Sum> parts(arguments, work);
      Chunk<Sum, width> sums[rows_of_lane];
      RG_UNROLL
      for (index_t i = 0; i < rows_of_lane; ++i)
        if (const index_t row = first_row + i * rows_at_once; row < work.rows)
          sums[i] = parts.template at<width>(row, col);
      const TileStore<typename TypesType::out, EpilogueType> store(arguments, work, epilogue);
      RG_UNROLL
      for (index_t i = 0; i < rows_of_lane; ++i)
        if (const index_t row = first_row + i * rows_at_once; row < work.rows)
          store(row, col, sums[i]);
    }
  }
};

/// The same for the tiles that another kernel cut (CutOrder). A block takes 8 rows of up to 128
/// columns of a tile.
template <class TypesType, class EpilogueType>
struct SumCutTiles {
  using Sum = typename TypesType::compute;
  static constexpr index_t lanes = 256;
  static constexpr index_t width = 4;
  static constexpr index_t block_n = 128;
  static constexpr index_t lanes_of_row = block_n / width;
  static constexpr index_t block_m = lanes / lanes_of_row;

  /// For the cut tiles of a grid of so many blocks: often there are none.
  static constexpr index_t blocks_for(index_t blocks) { return 2 * blocks; }

  static RG_DEVICE void run(const Arguments& arguments,
                            const EpilogueType& epilogue,
                            index_t tile_m,
                            index_t tile_n) {
    const CutSums cut = CutSums::of(arguments.partials.data, arguments.partials.cutting_blocks);
    const index_t col_blocks = ceil_div(tile_n, block_n);
    const index_t blocks_of_tile = ceil_div(tile_m, block_m) * col_blocks;
    arch::simt::wait_for_kernel_before();
    const index_t items = cut.tiles_and_parts[0] * blocks_of_tile;
    const index_t parts = cut.tiles_and_parts[1];
    for (index_t item = static_cast<index_t>(blockIdx.x); item < items;
         item += static_cast<index_t>(gridDim.x))
      add_up(arguments,
             epilogue,
             cut,
             item / blocks_of_tile,
             parts,
             item / col_blocks % (blocks_of_tile / col_blocks) * block_m,
             item % col_blocks * block_n,
             tile_m,
             tile_n);
  }

 private:
  /// Sizes that change while blocks count the tiles may leave a tile that no block has described.
  static RG_DEVICE bool is_inside(const Arguments& arguments,
                                  const CutTile& tile,
                                  index_t tile_m,
                                  index_t tile_n) {
    return tile.row_begin >= 0 && tile.col_begin >= 0 && tile.slab >= 0 &&
           tile.slab < max_of(arguments.slabs, offset_t{1}) && tile.rows <= tile_m &&
           tile.cols <= tile_n && tile.rows <= arguments.rows - tile.row_begin &&
           tile.cols <= arguments.cols - tile.col_begin;
  }

  static RG_DEVICE RG_FORCE_INLINE void add_up(const Arguments& arguments,
                                               const EpilogueType& epilogue,
                                               const CutSums& cut,
                                               index_t number,
                                               index_t parts,
                                               index_t first_row,
                                               index_t first_col,
                                               index_t tile_m,
                                               index_t tile_n) {
    const index_t lane = static_cast<index_t>(threadIdx.x);
    const index_t row = first_row + lane / lanes_of_row;
    const index_t col = first_col + lane % lanes_of_row * width;
    const CutTile tile = cut.tiles[number];
    if (row >= tile.rows || col >= tile.cols || !is_inside(arguments, tile, tile_m, tile_n)) return;
    const offset_t tile_elems = offset_t{tile_m} * tile_n;
    const Sum* const sums = static_cast<const Sum*>(cut.sums) + number * parts * tile_elems +
                            offset_t{row} * tile_n + col;
    Chunk<Sum, width> total{};
    const index_t added = tile.has_depth != 0 ? parts : 0;
    RG_UNROLL_BY_4
    for (index_t part = 0; part < added; ++part) {
      const auto one =
          *reinterpret_cast<const detail::SumPacket<Sum, width>*>(sums + part * tile_elems);
      RG_UNROLL
      for (int v = 0; v < width; ++v) total[v] = detail::add(total[v], one.chunk[v]);
    }
    Work work;
    work.slab = tile.slab;
    work.row_begin = tile.row_begin;
    work.col_begin = tile.col_begin;
    work.k_extent = tile.has_depth;
    work.is_tail = tile.is_tail != 0;
    work.rows = tile.rows;
    work.cols = tile.cols;
    TileStore<typename TypesType::out, EpilogueType>(arguments, work, epilogue)(row, col, total);
  }
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
