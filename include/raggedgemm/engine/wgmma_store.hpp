// SPDX-License-Identifier: Apache-2.0
// How the Hopper engine's accumulators reach global memory: a warpgroup finishes 64 x 64 outputs in
// registers, lays them out in shared memory, and the copy engine (or, where it cannot, the lanes)
// stores them while the warpgroup goes on.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "raggedgemm/arch/simt/round_pair.hpp"
#include "raggedgemm/arch/simt/unrolled.hpp"
#include "raggedgemm/arch/sm90/lane_map.hpp"
#include "raggedgemm/arch/sm90/store.hpp"
#include "raggedgemm/arch/sm90/tensor_map.hpp"
#include "raggedgemm/arch/sm90/tma.hpp"
#include "raggedgemm/base/bit_cast.hpp"
#include "raggedgemm/engine/staged_piece.hpp"
#include "raggedgemm/epilogue/partial.hpp"
#include "raggedgemm/epilogue/store.hpp"
#include "raggedgemm/numeric/types_of.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

#if RG_PLATFORM_CUDA

/// The store of one consumer warpgroup, piece by piece: 64 rows x 64 columns of a tile.
///
/// `Sum` is the accumulators' type. `StagingBytes` of shared memory hold one piece or several,
/// which the copy engine may still read while the next is laid out. `Cols`: columns of an atom,
/// WGMMA's N side. `Swapped`: that side holds the tile's rows, and WGMMA's 64 rows are columns of
/// the tile. `ClipsRows`: rows past the work's last one lie outside the output, so the copy engine
/// drops them; otherwise they belong to another group or tile, and the lanes store the piece.
/// `Streams`: nobody reads the output soon.
/// Requires: one object for a warpgroup over the whole kernel, all of its lanes together, and
/// finish() at the end.
template <class Out,
          class Sum,
          class EpilogueType,
          index_t Cols,
          bool Swapped,
          bool ClipsRows,
          bool Streams,
          index_t StagingBytes>
class WgmmaStore {
  using Map = arch::sm90::AccumulatorMap;

  static constexpr index_t lanes = Map::lanes;
  using Piece = StagedPiece<Out, lanes>;
  using Store = TileStore<Out, EpilogueType>;
  static constexpr index_t side = Piece::side;
  static constexpr bool half_float = std::is_same_v<Out, bf16> || std::is_same_v<Out, fp16>;
  static constexpr bool has_boxes =
      half_float || std::is_same_v<Out, float> || std::is_same_v<Out, std::int32_t>;
  static constexpr index_t elem_bytes = static_cast<index_t>(sizeof(Out));
  static constexpr index_t box_cols = Piece::box_cols;
  static constexpr index_t boxes = Piece::boxes;
  static constexpr index_t box_bytes = Piece::box_bytes;
  static constexpr index_t piece_bytes = boxes * box_bytes;
  template <index_t Bytes>
  using Bits = SharedBits<Bytes>;
  // Stored from registers: larger elements, which would not fit, and partial sums, which are few.
  static constexpr bool partial = std::is_same_v<EpilogueType, PartialSum>;
  static constexpr bool staged =
      !partial && elem_bytes <= 4 && BoxMap::unit_bytes % elem_bytes == 0;
  static constexpr index_t buffers = staged ? StagingBytes / piece_bytes : 1;
  static_assert(buffers >= 1, "the staging memory must hold a piece");
  static constexpr index_t pieces = ceil_div(Cols, side);  // of an atom
  // An element's epilogue may read memory of its own row and column; without one it is pure.
  static constexpr bool pure = std::is_same_v<EpilogueType, Identity>;

 public:
  /// Of one lane: [64, Cols] of the warpgroup.
  using Atom = Sum[Cols / 2];

  /// A warpgroup's shared memory.
  struct alignas(1024) Staging {
    unsigned char bytes[StagingBytes];
  };

  /// The output's tensor map, or one that is not usable where the copy engine cannot store it.
  static Status prepare(const Arguments& p, arch::sm90::OutputMap& map) noexcept {
    map.usable = false;
    map.in_units =
        p.d.stride.col == 1 && (reinterpret_cast<std::uintptr_t>(p.d.data) |
                                static_cast<std::uintptr_t>(p.d.stride.row) * elem_bytes |
                                static_cast<std::uintptr_t>(p.d.stride.slab) * elem_bytes) %
                                       BoxMap::unit_bytes ==
                                   0;
    map.has_c = p.beta != 0;
    map.whole_units = p.cols * elem_bytes % BoxMap::unit_bytes == 0;
    if constexpr (has_boxes && !partial) {
      const bool aligned = reinterpret_cast<std::uintptr_t>(p.d.data) % 16 == 0;
      if (p.out_index != nullptr ||
          arch::sm90::why_not_tma_store(
              p.d.stride, elem_bytes, aligned ? 16 : elem_bytes, p.rows, p.cols, p.slabs) !=
              nullptr)
        return {};
      return arch::sm90::make_output_map(
          map, dtype_of<Out>, p.d.data, p.d.stride, p.rows, p.cols, p.slabs);
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
    if constexpr (staged)
      store_rounds(acc, work, arguments, epilogue, at);
    else
      store_from_registers(acc, work, Store(arguments, work, epilogue), at);
  }

  /// Leaves the sums of one atom, which starts at `at` of the tile, in memory of the tile's own.
  /// Swapped, sums of work without depth are left as they are (CutTile::has_depth): asking would
  /// cost registers.
  static RG_DEVICE RG_FORCE_INLINE void leave_sums(
      const Atom& acc, const Work& work, Sum* sums, index_t pitch, index_t at) {
    for_each_chunk<Swapped>(
        acc, work, at, [&](index_t elem, index_t row, index_t col, const auto& chunk) {
          using Packet = detail::SumPacket<Sum, Swapped ? 1 : 2>;
          // Slices of few tokens are empty; a finer test would cost registers.
          if (!Swapped || elem / Map::elems_per_slice * Map::slice_cols < work.rows)
            *reinterpret_cast<Packet*>(sums + row * pitch + col) = Packet{chunk};
        });
  }

  /// Whether a finished atom may wait in registers.
  static constexpr bool defers = half_float && Cols % side == 0;

  /// An atom that is finished but not stored: 16-bit elements, and where they go.
  struct Pending {
    std::uint32_t pairs[Cols / 4];
    index_t slab, row_begin, col_begin, rows, cols;
    index_t next = 0;  ///< piece to be stored
    index_t end = 0;   ///< no piece from here on holds anything
    [[nodiscard]] RG_DEVICE RG_FORCE_INLINE bool any() const { return next < end; }
  };

  /// Finishes an atom: the accumulator is free then. All pieces of the one before are stored.
  RG_DEVICE RG_FORCE_INLINE void finish_atom(Pending& pending,
                                             const Atom& acc,
                                             const Work& work,
                                             const Arguments& arguments,
                                             const EpilogueType& epilogue,
                                             index_t at) {
    if (output_.has_c) {
      arch::simt::unrolled<pieces>([&](auto piece) {
        if (issues()) arch::sm90::wait_stores_read<0>();
        arch::sm90::named_barrier<lanes>(barrier_);  // the buffer is free
        const Store store(arguments, work, epilogue);
        if (!is_outside(work, piece, at)) load_c(work, store, at, piece, buffer_of(0));
        arch::sm90::named_barrier<lanes>(barrier_);  // C is there
        pack<true, piece.value>(pending, acc, work, store, at, buffer_of(0));
      });
    } else {
      const Store store(arguments, work, epilogue);
      arch::simt::unrolled<pieces>([&](auto piece) {
        pack<false, piece.value>(pending, acc, work, store, at, buffer_of(0));
      });
    }
    pending.slab = static_cast<index_t>(work.slab);
    pending.row_begin = static_cast<index_t>(work.row_begin);
    pending.col_begin = static_cast<index_t>(work.col_begin);
    pending.rows = work.rows;
    pending.cols = work.cols;
    pending.next = 0;
    pending.end = min_of(ceil_div(Swapped ? work.rows : work.cols, side), pieces);
  }

  /// Stores one piece of what finish_atom() has finished, while multiplies run.
  RG_DEVICE RG_FORCE_INLINE void store_piece(Pending& pending,
                                             const Arguments& arguments,
                                             const EpilogueType& epilogue,
                                             index_t at) {
    Work work;
    work.slab = pending.slab;
    work.row_begin = pending.row_begin;
    work.col_begin = pending.col_begin;
    work.rows = pending.rows;
    work.cols = pending.cols;
    if (issues()) arch::sm90::wait_stores_read<buffers - 1>();
    arch::sm90::named_barrier<lanes>(barrier_);  // the buffer is free
    const std::uint32_t to = buffer_of(round_);
    if (++round_ == buffers) round_ = 0;
    arch::simt::unrolled<pieces>([&](auto piece) {
      if (pending.next == piece)
        stage_matrices<piece_elems>(
            [&](index_t elem) { return pending.pairs[(piece * piece_elems + elem) / 2]; }, to);
    });
    arch::sm90::fence_shared_for_async_proxy();
    arch::sm90::named_barrier<lanes>(barrier_);  // the piece is whole
    hand_over(work, arguments, epilogue, at, pending.next, to);
    if (issues()) arch::sm90::commit_stores();
    ++pending.next;
  }

  /// Returns when all stores have been made.
  RG_DEVICE RG_FORCE_INLINE void finish() {
    if (has_boxes && staged && issues()) arch::sm90::wait_stores();
  }

 private:
  /// The lane that speaks to the copy engine: always the same, which has to wait for its stores.
  static RG_DEVICE RG_FORCE_INLINE bool issues() { return threadIdx.x % lanes == 0; }
  static RG_DEVICE RG_FORCE_INLINE index_t lane() {
    return static_cast<index_t>(threadIdx.x) % lanes;
  }

  // Pieces are laid out and handed over in rounds, so that two barriers serve several.
  static constexpr index_t round_pieces = buffers >= 4 && pieces % 2 == 0 ? 2 : 1;
  static constexpr index_t round_buffers = buffers / round_pieces;

  static constexpr index_t rounds = ceil_div(pieces, round_pieces);

  static RG_DEVICE RG_FORCE_INLINE index_t piece_begin_row(index_t piece, index_t at) {
    return Swapped ? piece * side : at;
  }
  static RG_DEVICE RG_FORCE_INLINE index_t piece_begin_col(index_t piece, index_t at) {
    return Swapped ? at : piece * side;
  }
  static RG_DEVICE RG_FORCE_INLINE bool is_outside(const Work& work, index_t piece, index_t at) {
    return piece_begin_row(piece, at) >= work.rows || piece_begin_col(piece, at) >= work.cols;
  }

  /// A rolled loop around everything that takes nothing of the accumulator: a call between other
  /// kernels waits for each new line of instructions.
  RG_DEVICE RG_FORCE_INLINE void store_rounds(const Atom& acc,
                                              const Work& work,
                                              const Arguments& arguments,
                                              const EpilogueType& epilogue,
                                              index_t at) {
    constexpr auto every_round = std::make_integer_sequence<index_t, rounds>{};
#pragma unroll 1
    for (index_t round = 0; round < rounds; ++round) {
      const index_t first = round * round_pieces;
      const index_t end = min_of(first + round_pieces, pieces);
      if (is_outside(work, first, at)) return;
      if (has_boxes && issues()) arch::sm90::wait_stores_read<round_buffers - 1>();
      arch::sm90::named_barrier<lanes>(barrier_);  // the buffers are free
      if (output_.has_c) {
#pragma unroll 1
        for (index_t piece = first; piece < end; ++piece)
          load_c(work, Store(arguments, work, epilogue), at, piece, buffer(piece - first));
        arch::sm90::named_barrier<lanes>(barrier_);  // C is there
        stage_round<true>(acc, work, Store(arguments, work, epilogue), at, round, every_round);
      } else {
        stage_round<false>(acc, work, Store(arguments, work, epilogue), at, round, every_round);
      }
      arch::sm90::fence_shared_for_async_proxy();
      arch::sm90::named_barrier<lanes>(barrier_);  // the pieces are whole
#pragma unroll 1
      for (index_t piece = first; piece < end; ++piece)
        hand_over(work, arguments, epilogue, at, piece, buffer(piece - first));
      // A batch for every round, empty or not: batches are counted to know when a buffer is free.
      if (has_boxes && issues()) arch::sm90::commit_stores();
      if (++round_ == round_buffers) round_ = 0;
    }
  }

  /// Registers have no run-time index: one branch for each round.
  template <bool HasC, index_t... Rounds>
  RG_DEVICE RG_FORCE_INLINE void stage_round(const Atom& acc,
                                             const Work& work,
                                             const Store& store,
                                             index_t at,
                                             index_t round,
                                             std::integer_sequence<index_t, Rounds...>) {
    ((round == Rounds
          ? stage_pieces<HasC, Rounds * round_pieces>(
                acc, work, store, at, std::make_integer_sequence<index_t, round_pieces>{})
          : void()),
     ...);
  }

  template <bool HasC, index_t First, index_t... I>
  RG_DEVICE RG_FORCE_INLINE void stage_pieces(const Atom& acc,
                                              const Work& work,
                                              const Store& store,
                                              index_t at,
                                              std::integer_sequence<index_t, I...>) {
    (stage<HasC, First + I>(acc, work, store, at, buffer(I)), ...);
  }

  /// Sends a piece to memory: by the copy engine, or row by row.
  RG_DEVICE RG_FORCE_INLINE void hand_over(const Work& work,
                                           const Arguments& arguments,
                                           const EpilogueType& epilogue,
                                           index_t at,
                                           index_t piece,
                                           std::uint32_t buffer) {
    if (is_outside(work, piece, at)) return;
    const index_t row = piece_begin_row(piece, at);
    const index_t col = piece_begin_col(piece, at);
    // A box that holds a row's end inside 16 bytes goes by lanes, too (OutputMap::whole_units).
    if (has_boxes && output_.usable && (ClipsRows || row + side <= work.rows) &&
        (output_.whole_units || col + side <= work.cols)) {
      if (!issues()) return;
      RG_UNROLL
      for (index_t b = 0; b < boxes; ++b)
        if (col + b * box_cols < work.cols)
          arch::sm90::store_box<Streams>(
              output_,
              buffer + static_cast<std::uint32_t>(b * box_bytes),
              static_cast<index_t>(work.col_begin) + col + b * box_cols,
              static_cast<index_t>(work.row_begin) + row,
              arguments.d.stride.slab == 0 ? 0 : static_cast<index_t>(work.slab));
    } else {
      // Tiles of 256 columns are stored beside the main loop, which leaves few registers.
      if (Cols < 256 && arguments.out_index == nullptr && arguments.d.stride.col == 1)
        Piece::store_stepping(work, arguments, row, col, buffer, output_.in_units);
      else
        Piece::store(work, Store(arguments, work, epilogue), row, col, buffer, output_.in_units);
    }
  }

  template <bool HasC, index_t Piece>
  static RG_DEVICE RG_FORCE_INLINE void pack(Pending& pending,
                                             const Atom& acc,
                                             const Work& work,
                                             const Store& store,
                                             index_t at,
                                             std::uint32_t buffer) {
    const std::uint32_t base = Piece::address(buffer, piece_row(0), piece_col(0));
    arch::simt::unrolled<piece_elems / 2>([&](auto pair) {
      pending.pairs[Piece * piece_elems / 2 + pair] =
          rounded(finished_pair<HasC, Piece>(acc, work, store, at, base, 2 * pair));
    });
  }

  /// Shared address of the i-th buffer.
  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE std::uint32_t buffer_of(index_t i) const {
    return staging_ + static_cast<std::uint32_t>(i * piece_bytes);
  }

  /// Shared address of the i-th buffer of this round.
  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE std::uint32_t buffer(index_t i) const {
    return buffer_of(round_ * round_pieces + i);
  }

  /// Where nothing was multiplied, the accumulator was never written. (Clearing it would make ptxas
  /// serialise every multiply.)
  static RG_DEVICE RG_FORCE_INLINE Sum product(const Work& work, Sum acc) {
    return work.k_extent == 0 ? Sum{} : acc;
  }

  /// Two elements of the accumulator after the epilogue: neighbours of a row, or of a column if
  /// swapped. Elements outside the work are whatever: they are not stored.
  template <bool HasC>
  static RG_DEVICE RG_FORCE_INLINE Chunk<Sum, 2> finished(const Work& work,
                                                          const Store& store,
                                                          index_t row,
                                                          index_t col,
                                                          const Chunk<Sum, 2>& acc,
                                                          const Chunk<Out, 2>& c) {
    if constexpr (pure) {
      return store.template finish<HasC>(row, col, acc, c);
    } else if constexpr (Swapped) {
      return {{finished_one<HasC, 1>(work, store, row, col, {{acc[0]}}, {{c[0]}})[0],
               finished_one<HasC, 1>(work, store, row + 1, col, {{acc[1]}}, {{c[1]}})[0]}};
    } else {
      return finished_one<HasC, 2>(work, store, row, col, acc, c);
    }
  }

  /// A user's epilogue may read memory by row and column: it sees those of the work only.
  template <bool HasC, int Width>
  static RG_DEVICE RG_FORCE_INLINE Chunk<Sum, Width> finished_one(const Work& work,
                                                                  const Store& store,
                                                                  index_t row,
                                                                  index_t col,
                                                                  const Chunk<Sum, Width>& acc,
                                                                  const Chunk<Out, Width>& c) {
    if (row >= work.rows || col >= work.cols) return {};
    return store.template finish<HasC>(row, col, acc, c);
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

  /// A piece's pair of a lane at `elem`, finished; C, where the call has one, is in shared memory.
  template <bool HasC, index_t Piece>
  static RG_DEVICE RG_FORCE_INLINE Chunk<Sum, 2> finished_pair(const Atom& acc,
                                                               const Work& work,
                                                               const Store& store,
                                                               index_t at,
                                                               std::uint32_t base,
                                                               index_t elem) {
    const index_t e = Piece * piece_elems + elem;
    Chunk<Out, 2> c{};
    if constexpr (HasC) c = staged_pair(base, elem);
    return finished<HasC>(work,
                          store,
                          piece_begin_row(Piece, at) + piece_row(elem),
                          piece_begin_col(Piece, at) + piece_col(elem),
                          {{product(work, acc[e]), product(work, acc[e + 1])}},
                          c);
  }

  /// Lays out one piece, finished, in shared memory; C is there before, where the call has one: a
  /// lane reads its own elements, and a warp writes where it has read.
  template <bool HasC, index_t Piece>
  static RG_DEVICE RG_FORCE_INLINE void stage(
      const Atom& acc, const Work& work, const Store& store, index_t at, std::uint32_t buffer) {
    if (is_outside(work, Piece, at)) return;
    const std::uint32_t base = Piece::address(buffer, piece_row(0), piece_col(0));
    const auto pair = [&](index_t elem) {
      return finished_pair<HasC, Piece>(acc, work, store, at, base, elem);
    };
    if constexpr (half_float)
      stage_matrices<elems_of<Piece>>([&](index_t elem) { return rounded(pair(elem)); }, buffer);
    else
      stage_elements<elems_of<Piece>>(pair, base);
  }

  /// 16-bit outputs: four 8 x 8 matrices at a time, two slices of the accumulator.
  /// `word(elem)`: the lane's pair at `elem`, rounded.
  template <index_t Elems, class Word>
  static RG_DEVICE RG_FORCE_INLINE void stage_matrices(const Word& word, std::uint32_t buffer) {
    // Matrices 0 and 1 are the upper and lower 8 rows of one slice, 2 and 3 of the next. This lane
    // gives the address of one row of one of them; slices lie 8 columns (a unit) apart, or 8 rows.
    const index_t matrix = lane() % 32 / 8;
    const index_t warp = lane() / 32;
    const index_t line = lane() % 8;
    const index_t box_row = Swapped ? matrix / 2 * 8 + line : warp * 16 + matrix % 2 * 8 + line;
    const index_t unit = Swapped ? warp * 2 + matrix % 2 : matrix / 2;
    const std::uint32_t address =
        buffer + static_cast<std::uint32_t>(BoxMap::unit(box_row, unit) * BoxMap::unit_bytes);
    RG_UNROLL
    for (index_t slice = 0; slice < Elems / slice_elems; slice += 2) {
      std::uint32_t matrices[4];
      RG_UNROLL
      for (index_t m = 0; m < 4; ++m) {
        matrices[m] = word(slice * slice_elems + m * 2);
      }
      const std::uint32_t step = static_cast<std::uint32_t>(slice);
      arch::sm90::store_matrices<Swapped>(Swapped ? address + step * (8 * BoxMap::row_bytes)
                                                  : address ^ (step * BoxMap::unit_bytes),
                                          matrices);
    }
  }

  static RG_DEVICE RG_FORCE_INLINE std::uint32_t rounded(const Chunk<Sum, 2>& value) {
    if constexpr (!std::is_same_v<Sum, float>)
      return bit_as<std::uint32_t>(
          Chunk<Out, 2>{{round_to<Out>(value[0]), round_to<Out>(value[1])}});
    else if constexpr (std::is_same_v<Out, bf16>)
      return arch::simt::round_pair_to_bf16(value[0], value[1]);
    else
      return arch::simt::round_pair_to_fp16(value[0], value[1]);
  }

  /// Other outputs: pair by pair, or element by element.
  template <index_t Elems, class Pair>
  static RG_DEVICE RG_FORCE_INLINE void stage_elements(const Pair& pair, std::uint32_t base) {
    RG_UNROLL
    for (index_t elem = 0; elem < Elems; elem += 2) {
      const Chunk<Sum, 2> value = pair(elem);
      const Chunk<Out, 2> out = {{round_to<Out>(value[0]), round_to<Out>(value[1])}};
      const std::uint32_t address = pair_address(base, elem);
      if constexpr (Swapped) {
        arch::sm90::store_shared<elem_bytes>(address, bit_as<Bits<elem_bytes>>(out[0]));
        arch::sm90::store_shared<elem_bytes>(next_row(address), bit_as<Bits<elem_bytes>>(out[1]));
      } else {
        arch::sm90::store_shared<2 * elem_bytes>(address, bit_as<Bits<2 * elem_bytes>>(out));
      }
    }
  }

  /// The pair that is in shared memory where stage() will write the lane's pair at `elem`.
  static RG_DEVICE RG_FORCE_INLINE Chunk<Out, 2> staged_pair(std::uint32_t base, index_t elem) {
    const std::uint32_t address = pair_address(base, elem);
    if constexpr (Swapped) {
      const auto load = [](std::uint32_t from) {
        return bit_as<Out>(
            static_cast<Bits<elem_bytes>>(arch::sm90::load_shared<elem_bytes>(from)));
      };
      return {{load(address), load(next_row(address))}};
    } else {
      return bit_as<Chunk<Out, 2>>(
          static_cast<Bits<2 * elem_bytes>>(arch::sm90::load_shared<2 * elem_bytes>(address)));
    }
  }

  /// Shared address of the lane's pair at `elem`, from that of its first one: elements of one lane
  /// differ in bits that the lane does not set, so the swizzle is an exclusive or away.
  static RG_DEVICE RG_FORCE_INLINE std::uint32_t pair_address(std::uint32_t base, index_t elem) {
    const index_t slice = elem / slice_elems;
    const bool lower = elem % slice_elems >= 2;  // the half of the atom's rows
    constexpr index_t slice_bytes = Map::slice_cols * elem_bytes;
    constexpr index_t slice_rows_bytes = Map::slice_cols * BoxMap::row_bytes;
    if constexpr (Swapped)
      return (base ^ static_cast<std::uint32_t>(lower ? slice_bytes : 0)) +
             static_cast<std::uint32_t>(slice * slice_rows_bytes);
    return (base ^ static_cast<std::uint32_t>(slice * slice_bytes % BoxMap::row_bytes)) +
           static_cast<std::uint32_t>(slice * slice_bytes / BoxMap::row_bytes * box_bytes +
                                      (lower ? slice_rows_bytes : 0));
  }

  /// The same column one row on, from an even row.
  static RG_DEVICE RG_FORCE_INLINE std::uint32_t next_row(std::uint32_t address) {
    return (address ^ std::uint32_t{BoxMap::unit_bytes}) + std::uint32_t{BoxMap::row_bytes};
  }

  static RG_DEVICE RG_FORCE_INLINE void load_c(
      const Work& work, const Store& store, index_t at, index_t piece, std::uint32_t buffer) {
    Piece::load_c(work, store, piece_begin_row(piece, at), piece_begin_col(piece, at), buffer);
  }

  static RG_DEVICE RG_FORCE_INLINE void store_from_registers(const Atom& acc,
                                                             const Work& work,
                                                             const Store& store,
                                                             index_t at) {
    for_each_chunk<false>(acc, work, at, [&](index_t, index_t row, index_t col, const auto& sums) {
      if (row < work.rows && col < work.cols) store(row, col, sums);
    });
  }

  /// Neighbours in a row of the output go together.
  template <bool HasDepth, class Each>
  static RG_DEVICE RG_FORCE_INLINE void for_each_chunk(const Atom& acc,
                                                       const Work& work,
                                                       index_t at,
                                                       const Each& each) {
    const index_t first_row = piece_begin_row(0, at);
    const index_t first_col = piece_begin_col(0, at);
    constexpr index_t width = Swapped ? 1 : 2;  // elements of a lane that lie in one row
    RG_UNROLL
    for (index_t elem = 0; elem < Cols / 2; elem += width) {
      Chunk<Sum, width> sums;
      RG_UNROLL
      for (index_t v = 0; v < width; ++v)
        sums[v] = HasDepth ? acc[elem + v] : product(work, acc[elem + v]);
      each(elem, first_row + piece_row(elem), first_col + piece_col(elem), sums);
    }
  }

  std::uint32_t staging_;
  const arch::sm90::OutputMap& output_;
  index_t barrier_;
  index_t round_ = 0;  // whose buffers are next; where stores are deferred, the buffer
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
