// SPDX-License-Identifier: Apache-2.0
// How the Hopper engine's accumulators reach global memory: a warpgroup finishes 64 x 64 outputs in
// registers, lays them out in shared memory, and the copy engine (or, where it cannot, the lanes)
// stores them while the warpgroup goes on.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "raggedgemm/arch/simt/wave.hpp"
#include "raggedgemm/arch/sm90/lane_map.hpp"
#include "raggedgemm/arch/sm90/store.hpp"
#include "raggedgemm/arch/sm90/tensor_map.hpp"
#include "raggedgemm/arch/sm90/tma.hpp"
#include "raggedgemm/base/bit_cast.hpp"
#include "raggedgemm/epilogue/store.hpp"
#include "raggedgemm/tile/arguments.hpp"
#include "raggedgemm/tile/swizzle.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

#if RG_PLATFORM_CUDA

/// The store of one consumer warpgroup, piece by piece: 64 rows x 64 columns of a tile.
///
/// `Cols`: columns of an atom, WGMMA's N side. `Swapped`: that side holds the tile's rows, and
/// WGMMA's 64 rows are columns of the tile. `ClipsRows`: rows past the work's last one lie outside
/// the output, so the copy engine drops them; otherwise they belong to another group and the lanes
/// store the piece.
/// Requires: one object for a warpgroup over the whole kernel, all of its lanes together, and
/// finish() at the end.
template <class Out, class EpilogueType, index_t Cols, bool Swapped, bool ClipsRows>
class WgmmaStore {
  using Map = arch::sm90::AccumulatorMap;

  static constexpr index_t lanes = Map::lanes;
  static constexpr index_t side = 64;  // rows and columns of a piece
  static constexpr bool half_float = std::is_same_v<Out, bf16> || std::is_same_v<Out, fp16>;
  static constexpr bool has_boxes = half_float || std::is_same_v<Out, float>;
  static constexpr index_t elem_bytes = static_cast<index_t>(sizeof(Out));
  // Elements of one 128-byte row of a box; 8-bit outputs leave half of it unused.
  static constexpr index_t box_cols = min_of(side, BoxMap::row_bytes / elem_bytes);
  static constexpr index_t boxes = side / box_cols;
  static constexpr index_t box_bytes = side * BoxMap::row_bytes;
  static constexpr index_t piece_bytes = boxes * box_bytes;
  // Larger elements are stored from registers: they would not fit.
  static constexpr bool staged = elem_bytes <= 4 && BoxMap::unit_bytes % elem_bytes == 0;
  static constexpr index_t staging_bytes = 2 * side * BoxMap::row_bytes;
  static constexpr index_t buffers = staged ? staging_bytes / piece_bytes : 1;
  // An element's epilogue may read memory of its own row and column; without one it is pure.
  static constexpr bool pure = std::is_same_v<EpilogueType, Identity>;

 public:
  /// Of one lane: [64, Cols] of the warpgroup.
  using Atom = float[Cols / 2];

  /// A warpgroup's shared memory.
  struct alignas(1024) Staging {
    unsigned char bytes[staging_bytes];
  };

  /// The output's tensor map, or one that is not usable where the copy engine cannot store it.
  static Status prepare(const Arguments& p, arch::sm90::OutputMap& map) noexcept {
    map.usable = false;
    if constexpr (has_boxes) {
      const bool aligned = reinterpret_cast<std::uintptr_t>(p.d.data) % 16 == 0;
      if (p.out_index != nullptr ||
          arch::sm90::why_not_tma_store(
              p.d.stride, elem_bytes, aligned ? 16 : elem_bytes, p.rows, p.cols, p.slabs) !=
              nullptr)
        return {};
      constexpr DType dtype = std::is_same_v<Out, bf16>   ? DType::bf16
                              : std::is_same_v<Out, fp16> ? DType::f16
                                                          : DType::f32;
      return arch::sm90::make_output_map(
          map, dtype, p.d.data, p.d.stride, p.rows, p.cols, p.slabs);
    } else {
      return {};
    }
  }

  RG_DEVICE RG_FORCE_INLINE WgmmaStore(Staging& staging,
                                       const arch::sm90::OutputMap& output,
                                       index_t barrier)
      : staging_(arch::sm90::shared_address(&staging)), output_(output), barrier_(barrier) {}

  /// Stores one atom, which starts at `at` of the tile (a row; a column if swapped).
  RG_DEVICE RG_FORCE_INLINE void operator()(const Atom& acc,
                                            const Work& work,
                                            const Arguments& arguments,
                                            const EpilogueType& epilogue,
                                            index_t at) {
    const TileStore<Out, EpilogueType> store(arguments, work, epilogue);
    constexpr auto pieces = std::make_integer_sequence<index_t, ceil_div(Cols, side)>{};
    if (arguments.beta == 0)
      store_pieces<false>(acc, work, arguments, store, at, pieces);
    else
      store_pieces<true>(acc, work, arguments, store, at, pieces);
  }

  /// Returns when all stores have been made.
  RG_DEVICE RG_FORCE_INLINE void finish() {
    if (has_boxes && issues()) arch::sm90::wait_stores();
  }

 private:
  using Store = TileStore<Out, EpilogueType>;

  /// The lane that speaks to the copy engine: always the same, which has to wait for its stores.
  static RG_DEVICE RG_FORCE_INLINE bool issues() { return threadIdx.x % lanes == 0; }
  static RG_DEVICE RG_FORCE_INLINE index_t lane() {
    return static_cast<index_t>(threadIdx.x) % lanes;
  }

  /// A fold, not a loop: nvcc 13.0 left the loop rolled, and the accumulator in local memory.
  template <bool HasC, index_t... Pieces>
  RG_DEVICE RG_FORCE_INLINE void store_pieces(const Atom& acc,
                                              const Work& work,
                                              const Arguments& arguments,
                                              const Store& store,
                                              index_t at,
                                              std::integer_sequence<index_t, Pieces...>) {
    (store_piece<HasC, Pieces>(acc, work, arguments, store, at), ...);
  }

  template <bool HasC, index_t Piece>
  RG_DEVICE RG_FORCE_INLINE void store_piece(const Atom& acc,
                                             const Work& work,
                                             const Arguments& arguments,
                                             const Store& store,
                                             index_t at) {
    const index_t row = Swapped ? Piece * side : at;
    const index_t col = Swapped ? at : Piece * side;
    if (row >= work.rows || col >= work.cols) return;
    if constexpr (!staged) {
      store_from_registers<HasC, Piece>(acc, work, store, row, col);
    } else {
      if (has_boxes && issues()) arch::sm90::wait_stores_read<buffers - 1>();
      arch::sm90::named_barrier<lanes>(barrier_);  // the buffer is free
      if constexpr (half_float)
        stage_matrices<HasC, Piece>(acc, work, store, row, col);
      else
        stage_elements<HasC, Piece>(acc, work, store, row, col);
      arch::sm90::fence_shared_for_async_proxy();
      arch::sm90::named_barrier<lanes>(barrier_);  // the piece is whole
      if (has_boxes && output_.usable && (ClipsRows || row + side <= work.rows)) {
        if (issues()) {
          RG_UNROLL
          for (index_t b = 0; b < boxes; ++b)
            if (col + b * box_cols < work.cols)
              arch::sm90::store_box(output_,
                                    buffer() + static_cast<std::uint32_t>(b * box_bytes),
                                    static_cast<index_t>(work.col_begin) + col + b * box_cols,
                                    static_cast<index_t>(work.row_begin) + row,
                                    arguments.d.stride.slab == 0 ? 0
                                                                 : static_cast<index_t>(work.slab));
        }
      } else {
        store_by_lanes(work, store, row, col);
      }
      // A batch for every piece, empty or not: batches are counted to know when a buffer is free.
      if (has_boxes && issues()) arch::sm90::commit_stores();
      if (++buffer_ == buffers) buffer_ = 0;
    }
  }

  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE std::uint32_t buffer() const {
    return staging_ + static_cast<std::uint32_t>(buffer_ * piece_bytes);
  }

  /// Two elements of the accumulator after the epilogue: neighbours of a row, or of a column if
  /// swapped. Elements outside the work are whatever: they are not stored, nor is memory read for
  /// them.
  template <bool HasC>
  static RG_DEVICE RG_FORCE_INLINE Chunk<Out, 2> finished(
      const Work& work, const Store& store, index_t row, index_t col, float first, float second) {
    if (work.k_extent == 0) first = second = 0;  // nothing was multiplied: never written
    if constexpr (pure && !HasC) {
      return store.finish(row, col, Chunk<float, 2>{{first, second}}, nullptr, 0);
    } else if constexpr (Swapped) {
      const Chunk<Out, 1> a = finished_one<HasC, 1>(work, store, row, col, {{first}});
      const Chunk<Out, 1> b = finished_one<HasC, 1>(work, store, row + 1, col, {{second}});
      return {{a[0], b[0]}};
    } else {
      return finished_one<HasC, 2>(work, store, row, col, {{first, second}});
    }
  }

  template <bool HasC, int Width>
  static RG_DEVICE RG_FORCE_INLINE Chunk<Out, Width> finished_one(
      const Work& work, const Store& store, index_t row, index_t col, Chunk<float, Width> acc) {
    if (row >= work.rows || col >= work.cols) return {};
    if constexpr (HasC) {
      const offset_t to = store.out_row(row);
      if (to < 0) return {};
      return store.finish(
          row, col, acc, store.c_address(to, col), min_of(index_t{Width}, work.cols - col));
    } else {
      return store.finish(row, col, acc, nullptr, 0);
    }
  }

  /// Row and column, inside the piece, of the pair that starts at element `elem` of a lane.
  static RG_DEVICE RG_FORCE_INLINE index_t piece_row(index_t elem) {
    return Swapped ? Map::col(lane(), elem) : Map::row(lane(), elem);
  }
  static RG_DEVICE RG_FORCE_INLINE index_t piece_col(index_t elem) {
    return Swapped ? Map::row(lane(), elem) : Map::col(lane(), elem);
  }

  static constexpr index_t slice_elems = Map::elems_per_slice;
  static constexpr index_t piece_elems = side / Map::slice_cols * slice_elems;  // of one lane
  /// The last piece of an atom may be a half one.
  template <index_t Piece>
  static constexpr index_t elems_of = min_of(piece_elems, Cols / 2 - Piece * piece_elems);

  /// 16-bit outputs: four 8 x 8 matrices at a time, two slices of the accumulator.
  template <bool HasC, index_t Piece>
  RG_DEVICE RG_FORCE_INLINE void stage_matrices(
      const Atom& acc, const Work& work, const Store& store, index_t row, index_t col) {
    // Matrices 0 and 1 are the upper and lower 8 rows of one slice, 2 and 3 of the next. This lane
    // gives the address of one row of one of them; slices lie 8 columns (a unit) apart, or 8 rows.
    const index_t matrix = lane() % 32 / 8;
    const index_t warp = lane() / 32;
    const index_t line = lane() % 8;
    const index_t box_row = Swapped ? matrix / 2 * 8 + line : warp * 16 + matrix % 2 * 8 + line;
    const index_t unit = Swapped ? warp * 2 + matrix % 2 : matrix / 2;
    const std::uint32_t address =
        buffer() + static_cast<std::uint32_t>(BoxMap::unit(box_row, unit) * BoxMap::unit_bytes);
    RG_UNROLL
    for (index_t slice = 0; slice < elems_of<Piece> / slice_elems; slice += 2) {
      std::uint32_t matrices[4];
      RG_UNROLL
      for (index_t m = 0; m < 4; ++m) {
        const index_t elem = slice * slice_elems + m * 2;
        const Chunk<Out, 2> pair = finished<HasC>(work,
                                                  store,
                                                  row + piece_row(elem),
                                                  col + piece_col(elem),
                                                  acc[Piece * piece_elems + elem],
                                                  acc[Piece * piece_elems + elem + 1]);
        matrices[m] = bit_as<std::uint32_t>(pair);
      }
      const std::uint32_t step = static_cast<std::uint32_t>(slice);
      arch::sm90::store_matrices<Swapped>(
          Swapped ? address + step * (8 * BoxMap::row_bytes) : address ^ (step * BoxMap::unit_bytes),
          matrices);
    }
  }

  /// Other outputs: element by element.
  template <bool HasC, index_t Piece>
  RG_DEVICE RG_FORCE_INLINE void stage_elements(
      const Atom& acc, const Work& work, const Store& store, index_t row, index_t col) {
    RG_UNROLL
    for (index_t elem = 0; elem < elems_of<Piece>; elem += 2) {
      const index_t r = piece_row(elem);
      const index_t c = piece_col(elem);
      const Chunk<Out, 2> pair = finished<HasC>(work,
                                                store,
                                                row + r,
                                                col + c,
                                                acc[Piece * piece_elems + elem],
                                                acc[Piece * piece_elems + elem + 1]);
      if constexpr (Swapped) {
        *staged_element(r, c) = pair[0];
        *staged_element(r + 1, c) = pair[1];
      } else {
        struct alignas(2 * elem_bytes) Pair {
          Chunk<Out, 2> chunk;
        };
        *reinterpret_cast<Pair*>(staged_element(r, c)) = Pair{pair};
      }
    }
  }

  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE Out* staged_element(index_t row, index_t col) const {
    const index_t at = col / box_cols * box_bytes + BoxMap::offset(row, col % box_cols * elem_bytes);
    return static_cast<Out*>(
        __cvta_shared_to_generic(buffer() + static_cast<std::uint32_t>(at)));
  }

  /// Any alignment, stride and scatter: rows in units of 16 bytes, one a lane.
  RG_DEVICE RG_FORCE_INLINE void store_by_lanes(const Work& work,
                                                const Store& store,
                                                index_t row,
                                                index_t col) const {
    constexpr index_t unit_elems = BoxMap::unit_bytes / elem_bytes;
    constexpr index_t units_per_row = side / unit_elems;
    constexpr index_t rows_per_step = lanes / units_per_row;
    struct alignas(BoxMap::unit_bytes) Unit {
      Chunk<Out, unit_elems> chunk;
    };
    const index_t c = lane() % units_per_row * unit_elems;
    if (col + c >= work.cols) return;
#pragma unroll 1
    for (index_t r = lane() / units_per_row; r < side && row + r < work.rows; r += rows_per_step) {
      const offset_t to = store.out_row(row + r);
      if (to >= 0) store.put(to, col + c, reinterpret_cast<const Unit*>(staged_element(r, c))->chunk);
    }
  }

  template <bool HasC, index_t Piece>
  static RG_DEVICE RG_FORCE_INLINE void store_from_registers(
      const Atom& acc, const Work& work, const Store& store, index_t row, index_t col) {
    RG_UNROLL
    for (index_t elem = 0; elem < elems_of<Piece>; ++elem) {
      const index_t r = row + piece_row(elem);
      const index_t c = col + piece_col(elem);
      if (r >= work.rows || c >= work.cols) continue;
      const float value = work.k_extent > 0 ? acc[Piece * piece_elems + elem] : 0.0F;
      store(r, c, Chunk<float, 1>{{value}});
    }
  }

  std::uint32_t staging_;
  const arch::sm90::OutputMap& output_;
  index_t barrier_;
  index_t buffer_ = 0;
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
