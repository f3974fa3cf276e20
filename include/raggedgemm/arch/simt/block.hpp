// SPDX-License-Identifier: Apache-2.0
// The SIMT block of any GPU: operand tiles in shared memory, accumulators in registers, fused
// multiply-adds. Same members as arch/host/block.hpp.
#pragma once

#include <utility>

#include "raggedgemm/arch/simt/lane_map.hpp"
#include "raggedgemm/arch/simt/wave.hpp"
#include "raggedgemm/base/chunk.hpp"
#include "raggedgemm/base/wrapping.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::simt {

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP

/// Where element (outer, k) of an operand tile lies: k-major rows of all outer indices, padded by
/// one chunk so that a copy along k does not hit one bank.
template <index_t Outer, index_t Depth>
struct RowMap {
  static constexpr index_t outer = Outer;
  static constexpr index_t depth = Depth;
  static constexpr index_t chunk = 1;  ///< a lane moves single elements; neighbours coalesce
  static constexpr index_t pitch = Outer + 4;
  static constexpr index_t elems = pitch * Depth;
  static RG_HOST_DEVICE constexpr index_t offset(index_t o, index_t k) { return k * pitch + o; }
};

/// One output tile in the making; all lanes of the block call every member together.
template <class T, index_t BlockM, index_t BlockN, index_t BlockK, index_t Lanes>
class Block {
 public:
  using Compute = T;
#if RG_PLATFORM_HIP
  using Wave = simt::Wave<64>;  // CDNA
#else
  using Wave = simt::Wave<32>;
#endif
  using AMap = RowMap<BlockM, BlockK>;
  using BMap = RowMap<BlockN, BlockK>;
  using Map = LaneMap<BlockM, BlockN, Lanes>;
  static constexpr index_t lanes = Lanes;
  static constexpr std::size_t shared_bytes = sizeof(T) * (AMap::elems + BMap::elems);

  RG_DEVICE explicit Block(void* shared) : a_(static_cast<T*>(shared)), b_(a_ + AMap::elems) {}

  RG_DEVICE T* a_tile() { return a_; }
  RG_DEVICE T* b_tile() { return b_; }
  static RG_DEVICE index_t lane() { return static_cast<index_t>(threadIdx.x); }
  static RG_DEVICE void sync() { __syncthreads(); }

  RG_DEVICE void clear(index_t, index_t) {
    RG_UNROLL
    for (index_t i = 0; i < Map::rows_per_lane; ++i) {
      RG_UNROLL
      for (index_t j = 0; j < Map::chunks_per_lane; ++j) acc_[i][j] = {};
    }
  }

  /// acc += A·B over the first `depth` indices of the tiles. Rows and columns outside the valid
  /// ones are computed from whatever shared memory holds and never stored.
  RG_DEVICE void multiply(index_t, index_t, index_t depth) {
    for (index_t k = 0; k < depth; ++k) {
      T a[Map::rows_per_lane];
      Chunk<T, Map::chunk> b[Map::chunks_per_lane];
      RG_UNROLL
      for (index_t i = 0; i < Map::rows_per_lane; ++i) {
        a[i] = a_[AMap::offset(Map::row(lane(), i), k)];
      }
      RG_UNROLL
      for (index_t j = 0; j < Map::chunks_per_lane; ++j) {
        RG_UNROLL
        for (index_t v = 0; v < Map::chunk; ++v) {
          b[j][v] = b_[BMap::offset(Map::col(lane(), j) + v, k)];
        }
      }
      RG_UNROLL
      for (index_t i = 0; i < Map::rows_per_lane; ++i) {
        RG_UNROLL
        for (index_t j = 0; j < Map::chunks_per_lane; ++j) {
          RG_UNROLL
          for (index_t v = 0; v < Map::chunk; ++v)
            acc_[i][j][v] = detail::multiply_add(a[i], b[j][v], acc_[i][j][v]);
        }
      }
    }
  }

  /// f(row, col, chunk) for every chunk of this lane that begins inside rows x cols.
  template <class F>
  RG_DEVICE void for_each_chunk(index_t rows, index_t cols, const F& f) {
    constexpr auto all = std::make_integer_sequence<index_t, chunks>{};
#if RG_PLATFORM_HIP
    for_chunks(rows, cols, f, all);
#else
    // One copy of f's code in a loop that stays rolled, the chunk of each turn selected out of the
    // registers: f is large, and unrolled it was most of the kernel's code. (clang 22 would keep
    // the accumulator in scratch memory.)
    RG_NO_UNROLL
    for (index_t turn = 0; turn < chunks; ++turn) {
      const index_t row = Map::row(lane(), turn / Map::chunks_per_lane);
      const index_t col = Map::col(lane(), turn % Map::chunks_per_lane);
      if (row < rows && col < cols) f(row, col, select(turn, all));
    }
#endif
  }

 private:
  static constexpr index_t chunks = Map::rows_per_lane * Map::chunks_per_lane;

  template <index_t... I>
  RG_DEVICE Chunk<T, Map::chunk> select(index_t turn, std::integer_sequence<index_t, I...>) const {
    Chunk<T, Map::chunk> chosen = acc_[0][0];
    ((I == turn ? void(chosen = acc_[I / Map::chunks_per_lane][I % Map::chunks_per_lane]) : void()),
     ...);
    return chosen;
  }

  template <class F, index_t... I>
  RG_DEVICE void for_chunks(index_t rows,
                            index_t cols,
                            const F& f,
                            std::integer_sequence<index_t, I...>) {
    (for_chunk<I / Map::chunks_per_lane, I % Map::chunks_per_lane>(rows, cols, f), ...);
  }
  template <index_t I, index_t J, class F>
  RG_DEVICE void for_chunk(index_t rows, index_t cols, const F& f) {
    const index_t row = Map::row(lane(), I);
    const index_t col = Map::col(lane(), J);
    if (row < rows && col < cols) f(row, col, acc_[I][J]);
  }

  T* a_;  // [block_k][block_m + pad] shared
  T* b_;  // [block_k][block_n + pad] shared
  Chunk<T, Map::chunk> acc_[Map::rows_per_lane][Map::chunks_per_lane];
};

#endif

}  // namespace arch::simt
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
