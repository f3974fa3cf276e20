// SPDX-License-Identifier: Apache-2.0
// The second kernel of a call that splits the depth: adds up the parts of each tile, in their
// order, and finishes the output as every engine does.
#pragma once

#include "raggedgemm/epilogue/partial.hpp"
#include "raggedgemm/epilogue/store.hpp"
#include "raggedgemm/schedule/tile_source.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP

/// Tiles of 16 x 128 outputs; a lane takes 4 neighbouring columns of every eighth row. Bound by the
/// bytes of the partial sums. No shared memory.
template <class Wave, class VariantType, class TypesType, class EpilogueType>
struct SumParts {
  using Sum = typename TypesType::compute;
  static constexpr index_t lanes = 256;
  static constexpr index_t block_m = 16;
  static constexpr index_t block_n = 128;

  static RG_DEVICE void run(const Arguments& arguments, const EpilogueType& epilogue) {
    constexpr index_t width = 4;
    constexpr index_t lanes_of_row = block_n / width;
    const index_t lane = static_cast<index_t>(threadIdx.x);
    const index_t col = lane % lanes_of_row * width;
    typename VariantType::template Decoder<block_m, block_n, Wave> decoder(arguments);
    RoundRobin tiles(blockIdx.x, gridDim.x);
    Work work;
    while (decoder.decode(tiles.next(), work)) {
      if (col >= work.cols) continue;
      const PartialSums<Sum> sums(arguments, work);
      const TileStore<typename TypesType::out, EpilogueType> store(arguments, work, epilogue);
      for (index_t row = lane / lanes_of_row; row < work.rows; row += lanes / lanes_of_row)
        store(row, col, sums.template at<width>(row, col));
    }
  }
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
