// SPDX-License-Identifier: Apache-2.0
// The CDNA engine: operand tiles prefetched into registers, images of them in shared memory, matrix
// instructions. One text for gfx942 and gfx950 and for all their operand dtypes.
#pragma once

#include "raggedgemm/arch/cdna/direct_feed.hpp"
#include "raggedgemm/arch/cdna/feed.hpp"
#include "raggedgemm/arch/cdna/native.hpp"
#include "raggedgemm/arch/cdna/wave.hpp"
#include "raggedgemm/engine/mfma_block.hpp"
#include "raggedgemm/epilogue/store.hpp"
#include "raggedgemm/schedule/tile_source.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

#if RG_PLATFORM_HIP

/// Computes output tiles with matrix instructions: blocks stay resident and take every gridDim-th
/// tile.
///
/// Requires: lhs and rhs of one dtype that the chip multiplies (arch/gfx…/matrix.hpp), or of two
/// fp8, in the layout of the config; base pointers and pitches multiples of 16 bytes (so is the
/// begin of each tile: the dimension that is contiguous is not the ragged one); rows apart and
/// near. Selection checks all of it (arch/cdna/window_limits.hpp). The kernel's first parameter is
/// the Arguments. Guarantees: what lies outside the work's rows, columns and depth takes part in
/// nothing that is stored, NaN in it included; no 16-byte unit behind the last valid element is
/// read. Sums run in the same order whatever the tile, so results are bitwise repeatable. Cost:
/// shared_bytes of shared memory; one launch.
template <class Config, class VariantType, class TypesType, class EpilogueType>
struct Mfma {
  using Element = typename TypesType::lhs;
  using Out = typename TypesType::out;
  static_assert(sizeof(Element) == sizeof(typename TypesType::rhs),
                "the matrix instructions need lhs and rhs of one dtype, or two of fp8");
  static constexpr auto tile = Config::value;
  static constexpr bool a_depth_contiguous = tile.layout == Layout::nn || tile.layout == Layout::nt;
  static constexpr bool b_depth_contiguous = tile.layout == Layout::nt || tile.layout == Layout::tt;
  static_assert(tile.layout != Layout::strided,
                "TileConfig.layout must name one operand layout for the mfma engine");
  static constexpr index_t lanes = tile.lanes;
  static constexpr index_t elem_bytes = index_t{sizeof(Element)};
  using Native = arch::cdna::Native<tile.arch>;
  // The operands are swapped (MfmaBlock): the first is rhs.
  using Slice = typename Native::template Slice<typename TypesType::rhs, Element, tile.tf32>;

  template <bool Direct, bool DepthContiguous, index_t Outer, bool Once>
  struct FeedFor {
    using type = arch::cdna::DepthMajorFeed<elem_bytes, Outer, lanes, Once>;
  };
  template <index_t Outer, bool Once>
  struct FeedFor<false, false, Outer, Once> {
    using type = arch::cdna::OuterMajorFeed<elem_bytes, Outer, lanes, Once>;
  };
  template <index_t Outer, bool Once>
  struct FeedFor<true, true, Outer, Once> {
    using type = arch::cdna::DirectFeed<arch::cdna::SharedImage<elem_bytes, Outer>, lanes>;
  };
  template <index_t Outer, bool Once>
  struct FeedFor<true, false, Outer, Once> {
    using type = arch::cdna::DirectFeed<arch::cdna::OuterImage<elem_bytes, Outer>, lanes>;
  };
  template <bool DepthContiguous, index_t Outer, bool Once>
  using Feed = typename FeedFor<tile.direct, DepthContiguous, Outer, Once>::type;
  using AFeed = Feed<a_depth_contiguous, tile.block_m, false>;
  /// Tiles of few rows are for groups that have no more: they read each weight once.
  using BFeed = Feed<b_depth_contiguous, tile.block_n, tile.block_m <= Slice::Map::outer>;
  using Block = MfmaBlock<Slice,
                          typename TypesType::compute,
                          AFeed,
                          BFeed,
                          WaveGrid<tile.block_m, tile.block_n, lanes, Slice::Map::outer>,
                          Config>;
  static_assert(tile.block_k == AFeed::Image::depth,
                "TileConfig.block_k must be the depth of the shared image: 128 bytes");

  struct Prepared {};
  static constexpr std::size_t shared_bytes = Block::shared_bytes;
  static_assert(shared_bytes <= static_cast<std::size_t>(Native::shared_capacity_bytes),
                "TileConfig.block_m, block_n and stages must fit into the chip's shared memory");
  static constexpr bool compiled_here = arch::cdna::compiled_here(tile.arch);
  static constexpr bool begins_early = false;

  static Status prepare(const Arguments&, Prepared&) noexcept { return {}; }

  static RG_DEVICE RG_FORCE_INLINE void run(const Arguments&,
                                            const Prepared&,
                                            const EpilogueType& epilogue,
                                            unsigned char* shared) {
    const Arguments& arguments = arch::cdna::first_kernel_parameter<Arguments>();
    typename VariantType::template Decoder<tile.block_m, tile.block_n, arch::cdna::Wave> decoder(
        arguments);
    RoundRobin tiles(blockIdx.x, gridDim.x);
    Block block(shared);
    Work work;
    while (decoder.decode(tiles.next(), work)) {
      block.clear();
      if (work.k_extent > 0) {
        const Arguments& now = arch::cdna::read_again(arguments);
        block.multiply(a_window(now.a, work), b_window(now.b, work), work.k_extent);
      }
      block.for_each_chunk(
          work.rows,
          work.cols,
          TileStore<Out, EpilogueType>(arch::cdna::read_again(arguments), work, epilogue));
    }
  }

 private:
  static RG_DEVICE arch::cdna::FeedWindow a_window(const Operand<const void*>& a,
                                                   const Work& work) {
    return window(a.at<const Element>(work.slab, work.row_begin, work.k_begin) + work.outer.a,
                  a_depth_contiguous ? a.stride.row : a.stride.col,
                  work.k_extent,
                  work.rows);
  }
  static RG_DEVICE arch::cdna::FeedWindow b_window(const Operand<const void*>& b,
                                                   const Work& work) {
    return window(b.at<const Element>(work.slab, work.k_begin, work.col_begin) + work.outer.b,
                  b_depth_contiguous ? b.stride.col : b.stride.row,
                  work.k_extent,
                  work.cols);
  }
  /// Every member is the same in all lanes; the compiler (clang 22) is told so, or it may keep the
  /// windows in vector registers and loop over their values at every load. Of 8-bit operands whose
  /// depth is not contiguous it knows, and told so it spills two registers.
  static RG_DEVICE arch::cdna::FeedWindow window(const Element* begin,
                                                 offset_t pitch_elems,
                                                 offset_t depth,
                                                 index_t outer) {
    const auto uniform = [](auto value) {
      if constexpr (elem_bytes == 1 && !a_depth_contiguous)
        return value;
      else
        return arch::cdna::uniform(value);
    };
    return {uniform(reinterpret_cast<const unsigned char*>(begin)),
            uniform(pitch_elems * static_cast<offset_t>(sizeof(Element))),
            uniform(depth),
            uniform(outer)};
  }
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
