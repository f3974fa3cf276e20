// SPDX-License-Identifier: Apache-2.0
// 64 x 64 outputs in Hopper's shared memory, as the copy engine stores them, and the lanes' own way
// between them and memory: for what the copy engine cannot reach.
#pragma once

#include <cstdint>
#include <type_traits>

#include "raggedgemm/arch/sm90/store.hpp"
#include "raggedgemm/base/bit_cast.hpp"
#include "raggedgemm/base/chunk.hpp"
#include "raggedgemm/schedule/work.hpp"
#include "raggedgemm/tile/arguments.hpp"
#include "raggedgemm/tile/swizzle.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

#if RG_PLATFORM_CUDA

/// An unsigned integer of so many bytes.
template <index_t Bytes>
using SharedBits = std::conditional_t<
    Bytes == 1,
    std::uint8_t,
    std::conditional_t<Bytes == 2,
                       std::uint16_t,
                       std::conditional_t<Bytes == 4, std::uint32_t, std::uint64_t>>>;

/// A piece of outputs of type `Out`, and the `Lanes` lanes of a warpgroup that share it. A piece is
/// a box of the copy engine, or several side by side; addresses are of shared memory.
template <class Out, index_t Lanes>
struct StagedPiece {
  static constexpr index_t side = 64;  ///< rows, and columns
  static constexpr index_t elem_bytes = static_cast<index_t>(sizeof(Out));
  // Elements of one 128-byte row of a box; 8-bit outputs leave half of it unused.
  static constexpr index_t box_cols = min_of(side, BoxMap::row_bytes / elem_bytes);
  static constexpr index_t boxes = side / box_cols;
  static constexpr index_t box_bytes = side * BoxMap::row_bytes;

  [[nodiscard]] static RG_DEVICE RG_FORCE_INLINE std::uint32_t address(std::uint32_t buffer,
                                                                       index_t row,
                                                                       index_t col) {
    const index_t at =
        col / box_cols * box_bytes + BoxMap::offset(row, col % box_cols * elem_bytes);
    return buffer + static_cast<std::uint32_t>(at);
  }

  /// Brings C for the rows from `row` and columns from `col` of the work's tile.
  template <class Store>
  static RG_DEVICE RG_FORCE_INLINE void load_c(
      const Work& work, const Store& store, index_t row, index_t col, std::uint32_t buffer) {
    for_each_unit(work, store, row, col, buffer, [&](offset_t from, index_t first_col, Unit& unit) {
      unit.chunk = store.template get_wide<unit_elems>(from, first_col);
    });
  }

  /// Stores the piece, finished: any alignment, stride and scatter. Rows that begin anywhere
  /// (`in_units` is false) go element by element, so that a warp's stores lie together.
  template <class Store>
  static RG_DEVICE RG_FORCE_INLINE void store(const Work& work,
                                              const Store& store,
                                              index_t row,
                                              index_t col,
                                              std::uint32_t buffer,
                                              bool in_units) {
    const index_t per_row = in_units ? units_per_row : side;
    const index_t c = lane() % per_row * (in_units ? unit_elems : 1);
    if (col + c >= work.cols) return;
#pragma unroll 1
    for (index_t r = lane() / per_row; r < side && row + r < work.rows; r += Lanes / per_row) {
      const offset_t to = store.out_row(row + r);
      if (to < 0) continue;
      if (in_units)
        store.put(to, col + c, unit(buffer, r, c)->chunk);
      else
        store.put(to, col + c, Chunk<Out, 1>{{element(buffer, r, c)}});
    }
  }

  /// The same by pointers that step, where out is not scattered and its columns lie together: what
  /// store() computes for each row takes longer than the store, but fewer registers.
  static RG_DEVICE RG_FORCE_INLINE void store_stepping(const Work& work,
                                                       const Arguments& arguments,
                                                       index_t row,
                                                       index_t col,
                                                       std::uint32_t buffer,
                                                       bool in_units) {
    const index_t rows = min_of(side, work.rows - row);
    const index_t cols = min_of(side, work.cols - col);
    Out* const to =
        arguments.d.template at<Out>(work.slab, work.row_begin + row, work.col_begin + col);
    if (in_units && cols == side)
      store_units(to, arguments.d.stride.row, rows, buffer);
    else
      store_elements(to, arguments.d.stride.row, rows, cols, buffer);
  }

 private:
  static constexpr index_t unit_elems = BoxMap::unit_bytes / elem_bytes;
  struct alignas(BoxMap::unit_bytes) Unit {
    Chunk<Out, unit_elems> chunk;
  };

  static constexpr index_t units_per_row = side / unit_elems;
  static constexpr index_t rows_per_step = Lanes / units_per_row;
  static_assert(rows_per_step % 8 == 0, "a step must keep the swizzle");

  static RG_DEVICE RG_FORCE_INLINE index_t lane() {
    return static_cast<index_t>(threadIdx.x) % Lanes;
  }

  static RG_DEVICE RG_FORCE_INLINE Unit* unit(std::uint32_t buffer, index_t row, index_t col) {
    return static_cast<Unit*>(__cvta_shared_to_generic(address(buffer, row, col)));
  }
  static RG_DEVICE RG_FORCE_INLINE Out element(std::uint32_t buffer, index_t row, index_t col) {
    return bit_as<Out>(static_cast<SharedBits<elem_bytes>>(
        arch::sm90::load_shared<elem_bytes>(address(buffer, row, col))));
  }

  /// Whole rows, 16 bytes a lane.
  static RG_DEVICE RG_FORCE_INLINE void store_units(Out* to,
                                                    offset_t pitch,
                                                    index_t rows,
                                                    std::uint32_t buffer) {
    const index_t first = lane() / units_per_row;
    const index_t c = lane() % units_per_row * unit_elems;
    const Unit* from = unit(buffer, first, c);
    to += first * pitch + c;
#pragma unroll 1
    for (index_t r = first; r < rows; r += rows_per_step) {
      *reinterpret_cast<Unit*>(to) = *from;
      from += rows_per_step * BoxMap::row_bytes / BoxMap::unit_bytes;
      to += rows_per_step * pitch;
    }
  }

  /// `cols` columns of each row, an element a lane.
  static RG_DEVICE RG_FORCE_INLINE void store_elements(
      Out* to, offset_t pitch, index_t rows, index_t cols, std::uint32_t buffer) {
    const index_t first = lane() / side;
    const index_t c = lane() % side;
    if (c >= cols) return;
    to += first * pitch + c;
#pragma unroll 1
    for (index_t r = first; r < rows; r += Lanes / side) {
      *to = element(buffer, r, c);
      to += Lanes / side * pitch;
    }
  }

  /// f(row of C and D, column of the tile, unit in shared memory) for the rows that go somewhere,
  /// in units of 16 bytes, one a lane.
  template <class Store, class F>
  static RG_DEVICE RG_FORCE_INLINE void for_each_unit(const Work& work,
                                                      const Store& store,
                                                      index_t row,
                                                      index_t col,
                                                      std::uint32_t buffer,
                                                      const F& f) {
    const index_t c = lane() % units_per_row * unit_elems;
    if (col + c >= work.cols) return;
#pragma unroll 1
    for (index_t r = lane() / units_per_row; r < side && row + r < work.rows; r += rows_per_step) {
      const offset_t to = store.out_row(row + r);
      if (to >= 0) f(to, col + c, *unit(buffer, r, c));
    }
  }
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
