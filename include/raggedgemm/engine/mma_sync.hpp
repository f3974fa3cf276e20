// SPDX-License-Identifier: Apache-2.0
// The Ampere engine: operand tiles through a ring of stages in shared memory, matrix instructions
// from registers. It takes every alignment and gathers lhs, so Hopper, too, uses it for calls that
// its copy engine cannot feed.
#pragma once

#include <cstdint>
#include <type_traits>

#include "raggedgemm/arch/simt/wave.hpp"
#include "raggedgemm/arch/sm80/feed.hpp"
#include "raggedgemm/arch/sm80/instructions.hpp"
#include "raggedgemm/arch/sm80/matrix_map.hpp"
#include "raggedgemm/arch/sm80/target.hpp"
#include "raggedgemm/base/chunk.hpp"
#include "raggedgemm/base/status.hpp"
#include "raggedgemm/epilogue/store.hpp"
#include "raggedgemm/problem/problem.hpp"
#include "raggedgemm/schedule/tile_source.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

#if RG_PLATFORM_CUDA

/// How the waves of a block share its tile: each has `Rows` x `Cols` of it.
template <index_t BlockN, index_t Rows, index_t Cols>
struct MmaSyncWaves {
  using Wave = arch::simt::Wave<32>;
  using Instruction = arch::sm80::InstructionMap;
  static constexpr index_t waves_across = BlockN / Cols;
  static constexpr index_t row_tiles = Rows / Instruction::rows;
  static constexpr index_t col_tiles = Cols / Instruction::cols;

  /// What one lane holds of the wave's part.
  using Accumulator = float[row_tiles][col_tiles][Instruction::d_elems];

  static RG_DEVICE index_t wave() {
    return Wave::broadcast(static_cast<index_t>(threadIdx.x) / Wave::lanes, 0);
  }
  /// First row and column of this wave in the tile.
  static RG_DEVICE index_t wave_row() { return wave() / waves_across * Rows; }
  static RG_DEVICE index_t wave_col() { return wave() % waves_across * Cols; }
};

/// The pipeline of one tile: a ring of `Stages` steps of both operands in shared memory. All lanes
/// of the block call its members together.
///
/// multiply_aligned() begins in every step the copies of the step Stages - 1 ahead. Fragments are
/// read half a slice (of 16 along the depth) ahead, half of B's columns at a time. A step is one
/// straight line of instructions: at a branch the matrix pipe would run empty. Cost: shared memory
/// for `Stages` steps of both operands; one barrier a step.
template <class T, class Waves, class AFeed, class BFeed, index_t BlockK, index_t Stages>
class MmaSyncPipeline {
 public:
  using AImage = typename AFeed::Image;
  using BImage = typename BFeed::Image;
  using Wave = typename Waves::Wave;
  using Instruction = typename Waves::Instruction;
  using Accumulator = typename Waves::Accumulator;
  static constexpr index_t stage_bytes = AImage::bytes + BImage::bytes;
  static constexpr index_t ring_bytes = Stages * stage_bytes;
  /// Slots of a step, two pieces a chunk, and of two steps.
  static constexpr std::uint32_t a_slots_bytes = 2 * AImage::bytes;
  static constexpr std::uint32_t slots_bytes = 2 * stage_bytes;
  static constexpr index_t shifted_bytes = ring_bytes + 2 * static_cast<index_t>(slots_bytes);
  static_assert(Stages >= 3, "TileConfig.stages must be at least 3 for mma_sync");
  static_assert(AImage::bytes % 128 == 0 && BImage::bytes % 128 == 0,
                "images must begin at multiples of 128 bytes: their addresses are flipped in bits");

  RG_DEVICE RG_FORCE_INLINE MmaSyncPipeline(std::uint32_t shared,
                                            const arch::sm80::FeedWindow& a,
                                            const arch::sm80::FeedWindow& b,
                                            offset_t depth)
      : shared_(shared),
        a_from_(first_fragment<true>()),
        b_from_(first_fragment<false>()),
        depth_(depth),
        a_feed_(shared),
        b_feed_(shared) {
    a_feed_.start(a);
    b_feed_.start(b);
  }

  /// acc += A·B, both aligned for asynchronous copies.
  RG_DEVICE RG_FORCE_INLINE void multiply_aligned(Accumulator& acc, offset_t steps) {
    std::uint32_t filled = 0;  // byte offset of the stage that is filled next
    RG_NO_UNROLL
    for (index_t step = 0; step < Stages - 1; ++step) {
      copy_step(filled);
      filled = following(filled);
    }
    arch::sm80::wait_copies<Stages - 2>();
    begin_reading();
    std::uint32_t stage = 0;  // of the step that is multiplied
    RG_NO_UNROLL
    do {
      copy_step(filled);
      const std::uint32_t next = following(stage);
      // Most of the next step's copies have long arrived when the barrier needs them.
      multiply_step(
          acc, stage, next, [] { arch::sm80::wait_copies<Stages - 2>(); }, [](auto) {});
      filled = following(filled);
      stage = next;
    } while (--steps > 0);
    finish();
  }

  /// The same at any alignment. The aligned pieces that hold a step's chunks are copied into slots
  /// four steps ahead, and the chunks moved to their places two steps ahead, by the lane that
  /// copied them, a chunk at a time beside the matrix instructions.
  RG_DEVICE RG_FORCE_INLINE void multiply_shifted(Accumulator& acc, offset_t steps) {
    static_assert(Stages == 3, "a step is multiplied, the next one waits, the one after is filled");
    std::uint32_t slots = shared_ + ring_bytes + static_cast<std::uint32_t>(threadIdx.x) * 16;
    std::uint32_t filled = 0;  // byte offset of the stage that is filled next
    RG_NO_UNROLL
    for (index_t step = 0; step < 4; ++step) {
      if (step >= 2) {
        arch::sm80::wait_copies<1>();  // this lane's pieces of two steps ago are there
        arch::sm80::unrolled<chunks>([&](auto chunk) { shift_chunk<chunk>(filled, slots); });
        filled = following(filled);
      }
      arch::sm80::unrolled<chunks>([&](auto chunk) { copy_chunk<chunk>(slots); });
      arch::sm80::commit_copies();
      advance();
      slots = other_slots(slots);
    }
    begin_reading();
    std::uint32_t stage = 0;  // of the step that is multiplied
    RG_NO_UNROLL
    do {
      arch::sm80::wait_copies<1>();
      const std::uint32_t next = following(stage);
      multiply_step(
          acc,
          stage,
          next,
          [] {},
          [&](auto turn) {
            constexpr index_t first = turn * chunks / turns;
            constexpr index_t last = (turn + 1) * chunks / turns;
            arch::sm80::unrolled<last - first>([&](auto i) {
              shift_chunk<first + i>(filled, slots);
              copy_chunk<first + i>(slots);
            });
          });
      arch::sm80::commit_copies();
      advance();
      slots = other_slots(slots);
      filled = following(filled);
      stage = next;
    } while (--steps > 0);
    finish();
  }

 private:
  template <bool IsA>
  using Fragment = arch::sm80::FragmentMap<IsA>;
  static constexpr bool a_depth_contiguous = AFeed::depth_contiguous;
  static constexpr bool b_depth_contiguous = BFeed::depth_contiguous;
  static constexpr index_t slices = BlockK / Instruction::depth;
  static constexpr index_t row_tiles = Waves::row_tiles;
  static constexpr index_t turns = 2 * slices * row_tiles;
  static constexpr index_t chunks = AFeed::loads + BFeed::loads;
  static constexpr index_t half_tiles = Waves::col_tiles / 2;
  static constexpr index_t half_fragments = half_tiles * Instruction::cols / Fragment<false>::outer;
  static_assert(half_fragments * Fragment<false>::outer == half_tiles * Instruction::cols,
                "TileConfig.block_n must give each wave a multiple of 32 columns");

  static RG_DEVICE RG_FORCE_INLINE std::uint32_t following(std::uint32_t stage) {
    return stage == (Stages - 1) * stage_bytes ? 0 : stage + stage_bytes;
  }

  /// The step's depth and what follows, or less than that where it is far away.
  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE index_t depth_left() const {
    return static_cast<index_t>(min_of(depth_, arch::sm80::far_elems));
  }

  /// Where the pieces of every second step go.
  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE std::uint32_t other_slots(std::uint32_t slots) const {
    return slots < shared_ + ring_bytes + slots_bytes ? slots + slots_bytes : slots - slots_bytes;
  }

  /// On to the next step's copies.
  RG_DEVICE RG_FORCE_INLINE void advance() {
    depth_ -= BlockK;
    a_feed_.advance(depth_left());
    b_feed_.advance(depth_left());
  }

  /// Begins the asynchronous copies of a step. Past the depth they write zeros.
  RG_DEVICE RG_FORCE_INLINE void copy_step(std::uint32_t stage) {
    const index_t left = depth_left();
    a_feed_.copy_all(stage, left);
    b_feed_.copy_all(stage + AImage::bytes, left);
    arch::sm80::commit_copies();
    advance();
  }

  /// A lane's chunks of a step: those of A, then those of B.
  template <index_t Chunk>
  RG_DEVICE RG_FORCE_INLINE void copy_chunk(std::uint32_t slots) {
    if constexpr (Chunk < AFeed::loads)
      a_feed_.template copy_pieces<Chunk>(slots, depth_left());
    else
      b_feed_.template copy_pieces<Chunk - AFeed::loads>(slots + a_slots_bytes, depth_left());
  }
  template <index_t Chunk>
  RG_DEVICE RG_FORCE_INLINE void shift_chunk(std::uint32_t stage, std::uint32_t slots) const {
    if constexpr (Chunk < AFeed::loads)
      a_feed_.template shift_chunk<Chunk>(stage, slots);
    else
      b_feed_.template shift_chunk<Chunk - AFeed::loads>(stage + AImage::bytes,
                                                         slots + a_slots_bytes);
  }

  /// Reads the first fragments of step 0, which is there or waited for.
  RG_DEVICE RG_FORCE_INLINE void begin_reading() {
    __syncthreads();  // step 0 is whole
    arch::sm80::unrolled<row_tiles>([&](auto i) { read_a<0, i>(0); });
    read_b<0, 0>(0);
  }

  RG_DEVICE RG_FORCE_INLINE void finish() {
    arch::sm80::wait_copies<0>();
    __syncthreads();  // nobody reads or fills the ring any more: it may stage the output
  }

  /// Multiplies a step, and reads the first fragments of the next one: after the last one of
  /// whatever is there. `wait()` makes this lane's part of the next step whole; `beside(turn)` is
  /// called `turns` times between the matrix instructions of a step.
  template <class Wait, class Beside>
  RG_DEVICE RG_FORCE_INLINE void multiply_step(Accumulator& acc,
                                               std::uint32_t stage,
                                               std::uint32_t next,
                                               const Wait& wait,
                                               const Beside& beside) {
    arch::sm80::unrolled<slices>([&](auto slice) {
      constexpr bool is_last = slice == slices - 1;
      constexpr index_t first_turn = 2 * slice * row_tiles;
      read_b<slice, 1>(stage);
      arch::sm80::unrolled<row_tiles>([&](auto i) {
        multiply_row<i, 0>(acc);
        beside(arch::sm80::Constant<first_turn + i>{});
      });
      if constexpr (is_last) {
        wait();
        // The next step is whole, and all lanes have read this one: it may be overwritten.
        __syncthreads();
      }
      constexpr index_t then = (slice + 1) % slices;
      const std::uint32_t from = is_last ? next : stage;
      read_b<then, 0>(from);
      arch::sm80::unrolled<row_tiles>([&](auto i) {
        multiply_row<i, 1>(acc);
        read_a<then, i>(from);
        beside(arch::sm80::Constant<first_turn + row_tiles + i>{});
      });
    });
  }

  /// Shared address that this lane gives for the first fragment of the wave, in stage 0.
  template <bool IsA>
  RG_DEVICE std::uint32_t first_fragment() const {
    using Image = std::conditional_t<IsA, AImage, BImage>;
    using Map = Fragment<IsA>;
    constexpr bool depth_contiguous = IsA ? a_depth_contiguous : b_depth_contiguous;
    const index_t outer = IsA ? Waves::wave_row() : Waves::wave_col();
    const index_t line = Map::line(depth_contiguous, Wave::lane());
    const index_t chunk = Map::chunk(depth_contiguous, Wave::lane());
    const index_t offset = depth_contiguous
                               ? Image::offset_bytes(outer + line, chunk)
                               : Image::offset_bytes(line, outer / Image::chunk_elems + chunk);
    return shared_ + static_cast<std::uint32_t>((IsA ? 0 : AImage::bytes) + offset);
  }

  /// The same for fragment `Index` of a slice. Lines 16 apart have the same twist, and the chunks
  /// of a wave's fragments differ in bits that are zero in its first one: they flip bits of its
  /// address.
  template <bool IsA, index_t Slice, index_t Index>
  RG_DEVICE RG_FORCE_INLINE std::uint32_t fragment(std::uint32_t stage) const {
    using Image = std::conditional_t<IsA, AImage, BImage>;
    constexpr bool depth_contiguous = IsA ? a_depth_contiguous : b_depth_contiguous;
    constexpr index_t outer = Index * Fragment<IsA>::outer;
    constexpr index_t depth = Slice * Fragment<IsA>::depth;
    constexpr index_t line = depth_contiguous ? outer : depth;
    constexpr index_t chunk = (depth_contiguous ? depth : outer) / Image::chunk_elems;
    constexpr std::uint32_t flipped = chunk % 8 * Image::chunk_bytes;
    constexpr std::uint32_t added = chunk / 8 * 8 * Image::chunk_bytes + line * Image::line_bytes;
    return (((IsA ? a_from_ : b_from_) + stage) ^ flipped) + added;
  }

  /// Reads fragment `Index` of A of a slice: the last product of the slice before has been made.
  template <index_t Slice, index_t Index>
  RG_DEVICE RG_FORCE_INLINE void read_a(std::uint32_t stage) {
    a_[Index] = arch::sm80::load_matrices<!a_depth_contiguous>(fragment<true, Slice, Index>(stage));
  }
  /// Reads the fragments of half of B's columns; each half has registers of its own.
  template <index_t Slice, index_t Half>
  RG_DEVICE RG_FORCE_INLINE void read_b(std::uint32_t stage) {
    arch::sm80::unrolled<half_fragments>([&](auto j) {
      b_[Half][j] = arch::sm80::load_matrices<!b_depth_contiguous>(
          fragment<false, Slice, Half * half_fragments + j>(stage));
    });
  }

  template <index_t Index, index_t Half>
  RG_DEVICE RG_FORCE_INLINE void multiply_row(Accumulator& acc) {
    arch::sm80::unrolled<half_tiles>([&](auto j) {
      const arch::sm80::Words& b = b_[Half][j / 2];
      arch::sm80::multiply<T>(
          acc[Index][Half * half_tiles + j], a_[Index], b.word[j % 2 * 2], b.word[j % 2 * 2 + 1]);
    });
  }

  std::uint32_t shared_;  // the ring: stages of an image of A and one of B
  std::uint32_t a_from_;  // what this lane reads first of stage 0
  std::uint32_t b_from_;
  offset_t depth_;  // from the step on that is copied next
  AFeed a_feed_;
  BFeed b_feed_;
  arch::sm80::Words a_[row_tiles];
  arch::sm80::Words b_[2][half_fragments];
};

/// Stores a wave's part of a tile by way of shared memory: a lane's own elements are pairs, too
/// short for whole sectors.
template <class Waves>
struct MmaSyncStore {
  using Wave = typename Waves::Wave;
  using Instruction = typename Waves::Instruction;
  using Piece = arch::sm80::StagingPiece;
  static constexpr index_t pieces_across = Waves::col_tiles * Instruction::cols / Piece::cols;
  static constexpr index_t pieces = Waves::row_tiles * pieces_across;
  static constexpr index_t piece_tiles = Piece::cols / Instruction::cols;  // instructions across
  static_assert(Piece::rows == Instruction::rows && pieces_across * piece_tiles == Waves::col_tiles,
                "TileConfig.block_n must give each wave whole pieces of 32 columns");

  static RG_DEVICE RG_FORCE_INLINE void clear(typename Waves::Accumulator& acc) {
    arch::sm80::unrolled<Waves::row_tiles>([&](auto i) {
      arch::sm80::unrolled<Waves::col_tiles>([&](auto j) {
        arch::sm80::unrolled<Instruction::d_elems>([&](auto e) { acc[i][j][e] = 0; });
      });
    });
  }

  /// f(row, col, chunk) for every chunk of the wave that begins inside rows x cols.
  template <class F>
  static RG_DEVICE RG_FORCE_INLINE void for_each_chunk(std::uint32_t shared,
                                                       const typename Waves::Accumulator& acc,
                                                       index_t rows,
                                                       index_t cols,
                                                       const F& f) {
    constexpr index_t width = Piece::width;
    float* const piece =
        static_cast<float*>(__cvta_shared_to_generic(shared)) + Waves::wave() * Piece::elems;
    RG_NO_UNROLL
    for (index_t p = 0; p < pieces; ++p) {
      const index_t row_begin = Waves::wave_row() + p / pieces_across * Piece::rows;
      const index_t col_begin = Waves::wave_col() + p % pieces_across * Piece::cols;
      if (row_begin >= rows || col_begin >= cols) continue;
      stage_piece(acc, p, piece);
      __syncwarp();  // the piece is whole
      RG_UNROLL
      for (index_t turn = 0; turn < Piece::chunks / Wave::lanes; ++turn) {
        const index_t i = turn * Wave::lanes + Wave::lane();
        const index_t row = row_begin + Piece::row(i);
        const index_t col = col_begin + Piece::col(i);
        const float4 staged =
            *reinterpret_cast<const float4*>(piece + Piece::offset(Piece::row(i), Piece::col(i)));
        const Chunk<float, width> chunk{{staged.x, staged.y, staged.z, staged.w}};
        if (row < rows && col < cols) f(row, col, chunk);
      }
      __syncwarp();  // it has been read, and may be overwritten
    }
  }

 private:
  /// Writes this lane's pairs of one piece to the wave's staging memory.
  static RG_DEVICE RG_FORCE_INLINE void stage_piece(const typename Waves::Accumulator& acc,
                                                    index_t which,
                                                    float* piece) {
    const index_t lane = Wave::lane();
    arch::sm80::unrolled<pieces>([&](auto p) {
      if (p != which) return;
      arch::sm80::unrolled<piece_tiles>([&](auto j) {
        const float(&d)[4] = acc[p / pieces_across][p % pieces_across * piece_tiles + j];
        arch::sm80::unrolled<2>([&](auto half) {
          const index_t row = Instruction::d_row(lane, half * 2);
          const index_t col = j * Instruction::cols + Instruction::d_col(lane, half * 2);
          *reinterpret_cast<float2*>(piece + Piece::offset(row, col)) =
              float2{d[half * 2], d[half * 2 + 1]};
        });
      });
    });
  }
};

/// Computes output tiles with matrix instructions: blocks stay resident and take every gridDim-th
/// tile.
///
/// Requires: lhs and rhs of one 16-bit dtype in the layout of the config, aligned to their
/// elements; any pitch. Selection checks it. Where all lines of both operands begin at multiples of
/// 16 bytes, chunks are copied to their places; else the aligned pieces that hold them, and
/// shifted. Guarantees: nothing behind the last element of a line is read, and in front of its
/// first one no more than the rest of the 16 bytes that hold it; what lies outside the work's rows,
/// columns and depth, and gathered lines that do not exist, take part in nothing that is stored.
/// Sums run in the same order whatever the tile and the alignment, so results are bitwise
/// repeatable. Cost: shared_bytes of shared memory (96 KiB for 128 x 256 x 32 in four stages); no
/// workspace; one launch. Unaligned operands run at half the rate of aligned ones on an H200: each
/// chunk passes through shared memory twice more, and two waves a scheduler hide little of it.
template <class Config, class VariantType, class TypesType, class EpilogueType>
struct MmaSync {
  using Element = typename TypesType::lhs;
  using Out = typename TypesType::out;
  using Wave = arch::simt::Wave<32>;
  static constexpr Variant variant = VariantType::variant;
  static_assert(std::is_same_v<Element, typename TypesType::rhs>,
                "the matrix instructions need lhs and rhs of one dtype");
  static constexpr auto tile = Config::value;
  static_assert(tile.layout != Layout::strided,
                "TileConfig.layout must name one operand layout for mma_sync; got strided");
  static_assert(variant != Variant::contracting || tile.layout == Layout::tn,
                "TileConfig.layout must be tn for contracting: the ragged depth begins lines");
  static constexpr bool a_depth_contiguous = tile.layout == Layout::nn || tile.layout == Layout::nt;
  static constexpr bool b_depth_contiguous = tile.layout == Layout::nt || tile.layout == Layout::tt;
  static constexpr index_t lanes = tile.lanes;
  // Eight waves lie 2 x 4, four 1 x 4.
  static constexpr index_t wave_rows = lanes / Wave::lanes / 4;
  static constexpr index_t rows_of_wave = tile.block_m / wave_rows;
  static constexpr index_t cols_of_wave = tile.block_n / 4;
  static_assert(lanes == wave_rows * 4 * Wave::lanes,
                "TileConfig.lanes must be a multiple of 128 for mma_sync: four waves across");
  static_assert(rows_of_wave % 16 == 0 && cols_of_wave % 32 == 0,
                "TileConfig.block_m and block_n must give each wave whole 16 x 32 pieces");

  using Waves = MmaSyncWaves<tile.block_n, rows_of_wave, cols_of_wave>;
  template <index_t BlockK, index_t Stages>
  using Pipeline = MmaSyncPipeline<
      Element,
      Waves,
      typename arch::sm80::
          FeedOf<a_depth_contiguous, tile.block_m, BlockK, lanes, variant != Variant::batch>::type,
      typename arch::sm80::FeedOf<b_depth_contiguous, tile.block_n, BlockK, lanes, false>::type,
      BlockK,
      Stages>;
  using Aligned = Pipeline<tile.block_k, tile.stages>;
  using Shifted = Pipeline<16, 3>;  // short steps: slots take twice their bytes
  static_assert(Shifted::shifted_bytes <= Aligned::ring_bytes,
                "TileConfig.block_k * stages must be at least 128 for mma_sync");
  using Store = MmaSyncStore<Waves>;

  struct Prepared {};
  static constexpr std::size_t shared_bytes = Aligned::ring_bytes;
  static constexpr bool compiled_here = arch::sm80::compiled_here;
  static constexpr bool begins_early = false;

  static Status prepare(const Arguments&, Prepared&) noexcept { return {}; }

  static RG_DEVICE void run(const Arguments& arguments,
                            const Prepared&,
                            const EpilogueType& epilogue,
                            unsigned char* shared) {
    if (arguments.cols == 0) return;  // there are no tiles
    typename VariantType::template Decoder<tile.block_m, tile.block_n, Wave> decoder(arguments);
    arch::sm80::keep_in_memory(decoder);
    RoundRobin tiles(blockIdx.x, gridDim.x);
    arch::sm80::keep_in_memory(tiles);
    const std::uint32_t ring = arch::sm80::shared_address(shared);
    const bool aligned =
        lines_are_aligned(arguments.a,
                          a_depth_contiguous ? arguments.a.stride.row : arguments.a.stride.col) &&
        lines_are_aligned(arguments.b,
                          b_depth_contiguous ? arguments.b.stride.col : arguments.b.stride.row);
    Work work;
    arch::sm80::keep_in_memory(work);
    while (decoder.decode(tiles.next(), work)) {
      typename Waves::Accumulator acc;
      Store::clear(acc);
      __syncthreads();  // all lanes have stored the tile before: its staging may be overwritten
      offset_t a_slab = work.slab;
      if (work.k_extent > 0 && has_lhs(arguments, a_slab)) {
        const offset_t depth = work.k_extent;
        const arch::sm80::FeedWindow a = a_window(arguments, work, a_slab);
        const arch::sm80::FeedWindow b = b_window(arguments, work);
        if (aligned)
          Aligned(ring, a, b, depth).multiply_aligned(acc, ceil_div(depth, offset_t{tile.block_k}));
        else
          Shifted(ring, a, b, depth).multiply_shifted(acc, ceil_div(depth, offset_t{16}));
      }
      Store::for_each_chunk(
          ring, acc, work.rows, work.cols, TileStore<Out, EpilogueType>(arguments, work, epilogue));
    }
  }

 private:
  static constexpr offset_t elem_bytes = sizeof(Element);

  /// Whether every line of an operand begins at a multiple of 16 bytes (tiles begin at multiples of
  /// 64 elements of it).
  static RG_DEVICE bool lines_are_aligned(const Operand<const void*>& operand,
                                          offset_t pitch_elems) {
    const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(operand.data) |
                                static_cast<std::uintptr_t>(pitch_elems * elem_bytes) |
                                static_cast<std::uintptr_t>(operand.stride.slab * elem_bytes);
    return bits % 16 == 0;
  }

  /// False when the gather index leaves nothing to multiply. Puts a gathered batch's slab of lhs
  /// into `slab`.
  static RG_DEVICE bool has_lhs(const Arguments& arguments, offset_t& slab) {
    if (arguments.lhs_index == nullptr) return true;
    if (arguments.lhs_extent == 0) return false;
    if constexpr (variant != Variant::batch) return true;
    slab = arguments.lhs_index[slab];
    return slab >= 0 && slab < arguments.lhs_extent;
  }

  static RG_DEVICE arch::sm80::FeedWindow a_window(const Arguments& arguments,
                                                   const Work& work,
                                                   offset_t slab) {
    const Operand<const void*>& a = arguments.a;
    const bool gathers = arguments.lhs_index != nullptr;
    const bool by_rows = variant == Variant::non_contracting && gathers;
    const bool by_depth = variant == Variant::contracting && gathers;
    arch::sm80::FeedWindow window = window_of(
        a.at<const Element>(slab, by_rows ? 0 : work.row_begin, by_depth ? 0 : work.k_begin),
        a_depth_contiguous ? a.stride.row : a.stride.col,
        work.k_extent,
        work.rows,
        work.row_begin,
        arguments.rows);
    if (by_rows) window.index = arguments.lhs_index + work.row_begin;
    if (by_depth) window.index = arguments.lhs_index + work.k_begin;
    window.index_extent = arguments.lhs_extent;
    return window;
  }
  static RG_DEVICE arch::sm80::FeedWindow b_window(const Arguments& arguments, const Work& work) {
    const Operand<const void*>& b = arguments.b;
    return window_of(b.at<const Element>(work.slab, work.k_begin, work.col_begin),
                     b_depth_contiguous ? b.stride.col : b.stride.row,
                     work.k_extent,
                     work.cols,
                     work.col_begin,
                     arguments.cols);
  }
  static RG_DEVICE arch::sm80::FeedWindow window_of(const Element* begin,
                                                    offset_t pitch_elems,
                                                    offset_t depth,
                                                    index_t outer,
                                                    offset_t outer_begin,
                                                    offset_t outer_extent) {
    arch::sm80::FeedWindow window;
    window.begin = reinterpret_cast<const unsigned char*>(begin);
    window.pitch_bytes = pitch_elems * elem_bytes;
    window.depth = depth;
    window.outer = outer;
    window.readable = outer_extent - outer_begin;
    return window;
  }
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
