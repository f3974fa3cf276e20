// SPDX-License-Identifier: Apache-2.0
// The second kernel of a call that splits the depth: adds up the parts of each tile, in their
// order, and finishes the output as every engine does.
#pragma once

#include "raggedgemm/arch/simt/dependent_launch.hpp"
#include "raggedgemm/epilogue/partial.hpp"
#include "raggedgemm/epilogue/store.hpp"
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
    Work work;
    bool more = decoder.decode(tiles.next(), work);
    arch::simt::wait_for_kernel_before();
    for (; more; more = decoder.decode(tiles.next(), work)) {
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

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
