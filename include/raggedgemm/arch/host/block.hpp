// SPDX-License-Identifier: Apache-2.0
// The host's block: operand tiles as packed panels, the accumulator as a row-major array, all in
// one scratch buffer that fits the L2 cache. Same members as arch/simt/block.hpp.
#pragma once

#include <cstring>

#include "raggedgemm/arch/host/multiply.hpp"
#include "raggedgemm/arch/host/wave.hpp"
#include "raggedgemm/base/chunk.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::host {

/// Where element (outer, k) of an operand tile lies: panels of `Chunk` outer indices. Panels are
/// one chunk longer than they need to be: a power-of-two pitch would put all panels in one cache
/// set.
template <index_t Outer, index_t Depth, index_t Chunk>
struct PanelMap {
  static constexpr index_t outer = Outer;
  static constexpr index_t depth = Depth;
  static constexpr index_t chunk = Chunk;  ///< outer indices that a copy moves at once
  static constexpr index_t panel_elems = (Depth + 1) * Chunk;
  static constexpr index_t elems = Outer / Chunk * panel_elems;
  static RG_HOST_DEVICE constexpr index_t offset(index_t o, index_t k) {
    return o / Chunk * panel_elems + k * Chunk + o % Chunk;
  }
};

/// One output tile in the making. Collective members; with one lane they are plain loops.
template <class T, index_t BlockM, index_t BlockN, index_t BlockK, index_t Lanes>
class Block {
 public:
  static_assert(Lanes == 1, "TileConfig.lanes must be 1 on the host");
  static_assert(BlockM % panel_rows == 0, "TileConfig.block_m must be a multiple of 6 on the host");
  static_assert(BlockN % panel_cols == 0,
                "TileConfig.block_n must be a multiple of 16 on the host");
  using Compute = T;
  using Wave = host::Wave;
  using AMap = PanelMap<BlockM, BlockK, panel_rows>;
  using BMap = PanelMap<BlockN, BlockK, panel_cols>;
  static constexpr index_t lanes = 1;
  static constexpr std::size_t shared_bytes =
      sizeof(T) * (AMap::elems + BMap::elems + std::size_t{BlockM} * BlockN);

  explicit Block(void* shared)
      : a_(static_cast<T*>(shared)), b_(a_ + AMap::elems), acc_(b_ + BMap::elems) {}

  T* a_tile() { return a_; }
  T* b_tile() { return b_; }
  static index_t lane() { return 0; }
  static void sync() {}
  static void prefetch(const void* address) {
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(address);
#endif
  }

  void clear(index_t rows, index_t) {
    std::memset(static_cast<void*>(acc_),
                0,
                sizeof(T) * static_cast<std::size_t>(round_up(rows, panel_rows)) * BlockN);
  }

  /// acc += A·B over the first `depth` indices of the tiles.
  void multiply(index_t rows, index_t cols, index_t depth) {
    multiply_panels(Panels<T>{a_,
                              AMap::panel_elems,
                              b_,
                              BMap::panel_elems,
                              acc_,
                              BlockN,
                              ceil_div(rows, panel_rows),
                              ceil_div(cols, panel_cols),
                              depth});
  }

  /// f(row, col, chunk) for every chunk that begins inside rows x cols.
  template <class F>
  void for_each_chunk(index_t rows, index_t cols, const F& f) {
    for (index_t row = 0; row < rows; ++row) {
      for (index_t col = 0; col < cols; col += panel_cols) {
        Chunk<T, panel_cols> chunk;
        std::memcpy(chunk.value, acc_ + row * BlockN + col, sizeof chunk.value);
        f(row, col, chunk);
      }
    }
  }

 private:
  T* a_;    // [block_m / 6][block_k + 1][6]
  T* b_;    // [block_n / 16][block_k + 1][16]
  T* acc_;  // [block_m][block_n]
};

}  // namespace arch::host
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
