// SPDX-License-Identifier: Apache-2.0
// One output tile of the CDNA engine in the making: what each wave reads, loads, writes and
// multiplies in a pipeline step, and in which order.
#pragma once

#include "raggedgemm/arch/cdna/barrier.hpp"
#include "raggedgemm/arch/cdna/direct_feed.hpp"
#include "raggedgemm/arch/cdna/feed.hpp"
#include "raggedgemm/arch/cdna/wave.hpp"
#include "raggedgemm/base/chunk.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

/// How the waves of a block share its tile: wave_rows x wave_cols of them, each with a whole number
/// of matrix tiles of Outer x Outer. Eight waves lie 2 x 4, four 2 x 2: the fewest fragments a wave
/// reads. Where the block has the rows of one matrix tile only, all lie side by side.
template <index_t BlockM, index_t BlockN, index_t Lanes, index_t Outer = 32>
struct WaveGrid {
  static constexpr index_t waves = Lanes / arch::cdna::wave_lanes;
  static constexpr index_t wave_rows = waves >= 4 && BlockM > Outer ? 2 : 1;
  static constexpr index_t wave_cols = waves / wave_rows;
  static constexpr index_t rows = BlockM / wave_rows;  ///< of one wave
  static constexpr index_t cols = BlockN / wave_cols;
  static constexpr index_t row_tiles = rows / Outer;
  static constexpr index_t col_tiles = cols / Outer;
  static_assert(row_tiles * Outer * wave_rows == BlockM && col_tiles * Outer * wave_cols == BlockN,
                "TileConfig.block_m and block_n must give each wave whole matrix tiles");
};

#if RG_PLATFORM_HIP

/// One output tile in the making; all lanes of the block call every member together.
///
/// `Slice` multiplies (a chip's MatrixSlice), `Compute` is the type of its sums. `AFeed` and
/// `BFeed` bring the operands (arch/cdna/feed.hpp). The pipeline is three deep: while the matrix
/// instructions of a step run, the next step lies in registers on its way into shared memory and
/// the loads of the one after are in flight. With one stage of shared memory a barrier says that a
/// step's images may be overwritten, with two the next step is written beside them. With direct
/// feeds nothing passes registers: the loads of the next step write the other stage. Cost: shared
/// memory for `TileConfig.stages` steps of both operands.
///
/// Two schedules. Interleaved: every wave spreads its reads, writes and loads between its matrix
/// instructions. Ping-pong (`TileConfig.ping_pong`): of the two waves of a SIMD one has a memory
/// phase while the other has a matrix phase; barriers change their places.
template <class Slice, class Compute, class AFeed, class BFeed, class Grid, class Config>
class MfmaBlock {
  static constexpr index_t stages = Config::value.stages;
  static constexpr bool ping_pong = Config::value.ping_pong;

 public:
  using AImage = typename AFeed::Image;
  using BImage = typename BFeed::Image;
  using SliceMap = arch::cdna::SliceMap<Slice>;
  using ResultMap = typename Slice::Map;
  using Fragment = typename Slice::Fragment;
  using Wave = arch::cdna::Wave;
  using SharedByte = arch::cdna::SharedByte;
  static constexpr bool direct = AFeed::direct;
  static constexpr index_t stage_bytes = AImage::bytes + BImage::bytes;
  static constexpr std::size_t shared_bytes = stages * stage_bytes;
  static_assert(stages == 1 || (stages == 2 && (stage_bytes & (stage_bytes - 1)) == 0),
                "TileConfig.stages must be 1 for mfma, or 2 with images of 2^x bytes");
  static_assert(AFeed::direct == BFeed::direct && (!direct || stages == 2),
                "TileConfig.stages must be 2 with TileConfig.direct");

  RG_DEVICE explicit MfmaBlock(unsigned char* shared)
      : a_feed_((SharedByte*)shared), b_feed_((SharedByte*)shared + AImage::bytes) {
    SharedByte* const a_image = (SharedByte*)shared;      // [block_m, block_k]
    SharedByte* const b_image = a_image + AImage::bytes;  // [block_n, block_k]
    const index_t outer = ResultMap::operand_outer(Wave::lane());
    a_from_ = fragment_begin<AImage>(a_image, wave_row(), outer);
    b_from_ = fragment_begin<BImage>(b_image, wave_col(), ResultMap::index_of_row(outer));
    switch_read();  // between tiles, the stage that is read is the one not to be written next
  }

  RG_DEVICE RG_FORCE_INLINE void clear() {
    arch::cdna::unrolled<Grid::row_tiles>(
        [&](auto i) { arch::cdna::unrolled<Grid::col_tiles>([&](auto j) { acc_[i][j] = {}; }); });
    pin();
  }

  /// acc += A·B over `depth` > 0 indices.
  RG_DEVICE RG_FORCE_INLINE void multiply(const arch::cdna::FeedWindow& a,
                                          const arch::cdna::FeedWindow& b,
                                          offset_t depth) {
    if constexpr (ping_pong) return multiply_ping_pong(a, b, depth);
    fill(a, b);
    pin();
    do {
      arch::cdna::unrolled<slices - 1>([&](auto slice) { multiply_slice(slice); });
      // All waves hold their last fragments of this step: its images may be overwritten.
      if constexpr (stages == 1) arch::cdna::shared_memory_barrier();
      finish_step();
      pin();
    } while ((depth -= block_k) > 0);
    if constexpr (pinned) arch::cdna::keep_order();
  }

  /// f(row, col, chunk) for every chunk of this lane that begins inside rows x cols.
  template <class F>
  RG_DEVICE RG_FORCE_INLINE void for_each_chunk(index_t rows, index_t cols, const F& f) const {
    constexpr index_t run = ResultMap::result_run;
    const index_t lane = Wave::lane();
    const index_t first_row = wave_row();
    const index_t first_col = wave_col();
    arch::cdna::unrolled<Grid::row_tiles>([&](auto i) {
      arch::cdna::keep_order();  // or address arithmetic of all rows is in registers at once
      const index_t row = first_row + i * ResultMap::outer + ResultMap::result_col(lane);
      if (row >= rows) return;
      arch::cdna::unrolled<Grid::col_tiles>([&](auto j) {
        arch::cdna::unrolled<ResultMap::result_elems / run>([&](auto part) {
          const index_t col = first_col + j * ResultMap::outer +
                              ResultMap::index_of_row(
                                  ResultMap::result_row(lane, ResultMap::result_elem(part * run)));
          if (col >= cols) return;
          Chunk<Compute, run> chunk;
          arch::cdna::unrolled<run>([&](auto v) {
            constexpr index_t elem =
                ResultMap::result_elem(decltype(part)::value * run + decltype(v)::value);
            chunk[v] = acc_[i][j][elem];
          });
          f(row, col, chunk);
        });
      });
    });
  }

 private:
  static constexpr index_t block_k = AImage::depth;
  static constexpr index_t slices = 128 / (SliceMap::depth_chunks * AImage::chunk_bytes);
  /// Rows of matrix tiles whose fragments of A are in registers at a time, where two whole sets of
  /// the largest fragments, or any beside f64 sums, would not fit: a row that is through makes room
  /// for the one so many rows on. All rows with one stage of shared memory, because its images are
  /// overwritten when the last slice begins.
  static constexpr bool a_in_place = SliceMap::chunks > 1 || sizeof(Compute) == 8;
  static constexpr index_t a_ring = !a_in_place   ? 2 * Grid::row_tiles
                                    : stages == 2 ? Grid::row_tiles / 2
                                                  : Grid::row_tiles;
  /// Reads of shared memory that make a fragment.
  template <class Image>
  static constexpr index_t fragment_reads =
      Image::depth_contiguous ? SliceMap::chunks : arch::cdna::TransposingRead::reads;
  static constexpr index_t b_reads = Grid::col_tiles * fragment_reads<BImage>;  ///< of one slice
  static constexpr index_t a_reads = Grid::row_tiles * fragment_reads<AImage>;
  static constexpr index_t reads = a_reads + b_reads;
  /// Reads of a slice that go beside the matrix instructions of the one before it.
  static constexpr index_t reads_ahead = a_in_place ? b_reads : reads;
  static constexpr index_t loads = AFeed::loads + BFeed::loads;
  static constexpr index_t writes = AFeed::writes + BFeed::writes;
  /// Loads of a step that begin beside the last slice of a step; direct ones take an instruction or
  /// two more each, so half of them go beside the first slice of the next.
  static constexpr index_t early_loads = direct ? loads / 2 : loads;
  static constexpr index_t row_instructions = Grid::col_tiles * Slice::instructions;
  static constexpr index_t instructions = Grid::row_tiles * row_instructions;  ///< of one slice
  static constexpr index_t half = instructions / 2;
  static constexpr bool pinned =
      Grid::row_tiles * Grid::col_tiles * ResultMap::result_elems * sizeof(Compute) >= 256 * 4;
  /// Writes beside the last slice but one: with two stages nothing has to be waited for.
  static constexpr index_t early_writes = stages == 2 ? writes / 2 : 0;

  /// acc += A·B in memory and matrix phases. Of the waves of a SIMD, 4 apart, the second is one
  /// phase behind: phases lie between barriers, so while one wave multiplies, the other reads its
  /// next fragments. A phase of either kind works on a pair of slices. With one stage of shared
  /// memory the last pair is multiplied in two phases, between which the next step goes into the
  /// images: by then both groups have read the last pair. With two, the loads of the next step
  /// begin with the step, when both groups have read the other stage, and are waited for in its
  /// last memory phase.
  RG_DEVICE RG_FORCE_INLINE void multiply_ping_pong(const arch::cdna::FeedWindow& a,
                                                    const arch::cdna::FeedWindow& b,
                                                    offset_t depth) {
    static_assert(
        !ping_pong || (Grid::waves == 8 && !a_in_place && direct == (stages == 2)),
        "TileConfig.ping_pong needs 512 lanes, 16-bit operands, and 2 stages if direct, else 1");
    const bool second = Wave::index() >= Grid::waves / 2;
    fill_images(a, b);
    if (second) end_phase();
    do {
      arch::cdna::unrolled<slices / 2>([&](auto pair) {
        constexpr index_t slice = 2 * decltype(pair)::value;
        constexpr bool last = slice == slices - 2;
        read_slice<slice>();
        read_slice<slice + 1>();
        if constexpr (slice == 0) load_step();
        if constexpr (direct && last) arch::cdna::wait_for_loads<0>();
        end_phase();
        multiply_slices<slice, last && stages == 1 ? 1 : 2>();
        end_phase();
      });
      if constexpr (stages == 1) {
        write_step();
        end_phase();
        multiply_slices<slices - 1, 1>();
        end_phase();
      }
      switch_written();
      switch_read();
      arch::cdna::forget(a_from_);
      arch::cdna::forget(b_from_);
    } while ((depth -= block_k) > 0);
    if (!second) end_phase();
  }

  /// The other group's phase ends, too.
  static RG_DEVICE RG_FORCE_INLINE void end_phase() {
    arch::cdna::keep_order();
    arch::cdna::phase_barrier();
    arch::cdna::keep_order();
  }

  /// The matrix phase of `Count` slices: this wave's instructions go before the other's.
  template <index_t First, index_t Count>
  RG_DEVICE RG_FORCE_INLINE void multiply_slices() {
    arch::cdna::set_priority<1>();
    arch::cdna::unrolled<Count * instructions>([&](auto x) {
      constexpr index_t index = decltype(x)::value;
      matrix_instruction<First + index / instructions, index % instructions>();
    });
    arch::cdna::keep_order();
    arch::cdna::set_priority<0>();
  }

  template <index_t SliceIndex>
  RG_DEVICE RG_FORCE_INLINE void read_slice() {
    arch::cdna::unrolled<reads>([&](auto read) { read_one<SliceIndex, read>(); });
  }

  RG_DEVICE RG_FORCE_INLINE void write_step() {
    clip_step();
    arch::cdna::unrolled<writes>([&](auto write) { write_one<write>(); });
  }

  /// First row and column of this wave in the tile.
  static RG_DEVICE index_t wave_row() { return Wave::index() / Grid::wave_cols * Grid::rows; }
  static RG_DEVICE index_t wave_col() { return Wave::index() % Grid::wave_cols * Grid::cols; }

  /// Keeps sums that take half of the registers in accumulator registers: where the compiler (clang
  /// 22) chooses, it moves them to and fro, and spills. No instruction.
  RG_DEVICE RG_FORCE_INLINE void pin() {
    if constexpr (pinned)
      arch::cdna::unrolled<Grid::row_tiles>([&](auto i) {
        arch::cdna::unrolled<Grid::col_tiles>(
            [&](auto j) { arch::cdna::keep_in_accumulators(acc_[i][j]); });
      });
  }

  /// Begins a tile: step 0 in the images, step 1 in flight, slice 0 in registers.
  RG_DEVICE RG_FORCE_INLINE void fill(const arch::cdna::FeedWindow& a,
                                      const arch::cdna::FeedWindow& b) {
    fill_images(a, b);
    constexpr index_t first_reads = b_reads + min_of(a_reads, a_ring * fragment_reads<AImage>);
    arch::cdna::unrolled<first_reads>([&](auto read) { read_one<0, read>(); });
  }

  /// Begins a tile: step 0 in the images; interleaved, step 1 in flight.
  RG_DEVICE RG_FORCE_INLINE void fill_images(const arch::cdna::FeedWindow& a,
                                             const arch::cdna::FeedWindow& b) {
    a_feed_.start(a);
    b_feed_.start(b);
    if constexpr (direct) {
      arch::cdna::shared_memory_barrier();  // all waves have read the images of the tile before
      if (a_feed_.tail_depth() > 0) {
        a_feed_.write_tail();
        b_feed_.write_tail();
      } else {
        load_step();
      }
    } else {
      load_step();
      arch::cdna::shared_memory_barrier();  // all waves have read the images of the tile before
      write_step();
    }
    switch_written();
    if constexpr (!ping_pong) load_early();
    if constexpr (direct) arch::cdna::wait_for_loads<ping_pong ? 0 : early_loads>();
    arch::cdna::shared_memory_barrier();  // the images of step 0 are whole
    switch_read();
  }

  /// Multiplies a slice that is not the last, reading the fragments of the next one. Beside the
  /// first, the loads end that began beside the last slice of the step before.
  template <class Index>
  RG_DEVICE RG_FORCE_INLINE void multiply_slice(Index) {
    constexpr index_t slice = Index::value;
    const auto read_next = [&](auto read) { read_one<slice + 1, read>(); };
    if constexpr (slice == 0 && early_loads < loads) {
      const arch::cdna::Buffer a = a_feed_.step_buffer();
      const arch::cdna::Buffer b = b_feed_.step_buffer();
      multiply_beside<0, 0, instructions, reads_ahead + loads - early_loads>([&](auto operation) {
        if constexpr (operation < reads_ahead)
          read_next(operation);
        else
          load_one<early_loads + operation - reads_ahead>(a, b);
      });
      advance_feeds();
    } else if constexpr (early_writes > 0 && slice == slices - 2) {
      multiply_beside<slice, 0, half, reads_ahead>(read_next);
      clip_step();
      multiply_beside<slice, half, instructions, early_writes>(
          [&](auto write) { write_one<write>(); });
    } else {
      multiply_beside<slice, 0, instructions, reads_ahead>(read_next);
    }
  }

  /// Multiplies the last slice while the next step goes into the images, its first slice into
  /// registers, and the loads of the step after begin.
  RG_DEVICE RG_FORCE_INLINE void finish_step() {
    constexpr index_t last = slices - 1;
    if constexpr (early_writes == 0) clip_step();
    multiply_beside<last, 0, half, writes - early_writes>(
        [&](auto write) { write_one<early_writes + write>(); });
    switch_written();
    if constexpr (direct) arch::cdna::wait_for_loads<0>();
    arch::cdna::shared_memory_barrier();  // the images of the next step are whole
    switch_read();
    const arch::cdna::Buffer a = a_feed_.step_buffer();
    const arch::cdna::Buffer b = b_feed_.step_buffer();
    // In place: the rows of the first half are through, unless they have been refilled.
    constexpr index_t first_reads = !a_in_place                ? reads
                                    : a_ring < Grid::row_tiles ? b_reads
                                                               : b_reads + a_reads / 2;
    multiply_beside<last, half, instructions, first_reads + early_loads>([&](auto operation) {
      if constexpr (operation < first_reads)
        read_one<0, operation>();
      else
        load_one<operation - first_reads>(a, b);
    });
    if constexpr (early_loads == loads) advance_feeds();
    arch::cdna::forget(a_from_);
    arch::cdna::forget(b_from_);
  }

  /// With two stages: the next write, or read, is of the other one.
  RG_DEVICE RG_FORCE_INLINE void switch_written() {
    if constexpr (stages == 2) {
      a_feed_.switch_image(stage_bytes);
      b_feed_.switch_image(stage_bytes);
    }
  }
  RG_DEVICE RG_FORCE_INLINE void switch_read() {
    if constexpr (stages == 2) {
      a_from_ = arch::cdna::flip(a_from_, stage_bytes);
      b_from_ = arch::cdna::flip(b_from_, stage_bytes);
    }
  }

  RG_DEVICE RG_FORCE_INLINE void load_step() {
    const arch::cdna::Buffer a = a_feed_.step_buffer();
    const arch::cdna::Buffer b = b_feed_.step_buffer();
    arch::cdna::unrolled<loads>([&](auto load) { load_one<load>(a, b); });
    advance_feeds();
  }

  /// The loads that go beside the last slice of a step.
  RG_DEVICE RG_FORCE_INLINE void load_early() {
    if constexpr (early_loads == loads) return load_step();
    const arch::cdna::Buffer a = a_feed_.step_buffer();
    const arch::cdna::Buffer b = b_feed_.step_buffer();
    arch::cdna::unrolled<early_loads>([&](auto load) { load_one<load>(a, b); });
  }

  RG_DEVICE RG_FORCE_INLINE void advance_feeds() {
    a_feed_.advance();
    b_feed_.advance();
  }

  RG_DEVICE RG_FORCE_INLINE void clip_step() {
    const index_t depth = min_of(a_feed_.staged_depth(), b_feed_.staged_depth());
    if (depth < block_k) [[unlikely]] {                      // the code goes behind the loop
      constexpr index_t chunks = 128 / AImage::chunk_bytes;  // along the depth
      const arch::cdna::Dwords4 mask = arch::cdna::valid_elements<AImage::elem_bytes>(
          depth - arch::cdna::block_lane() % chunks * AImage::chunk_elems);
      a_feed_.clip(mask);
      b_feed_.clip(mask);
    }
  }

  template <index_t Load>
  RG_DEVICE RG_FORCE_INLINE void load_one(const arch::cdna::Buffer& a,
                                          const arch::cdna::Buffer& b) {
    if constexpr (Load < AFeed::loads)
      a_feed_.template load<Load>(a);
    else
      b_feed_.template load<Load - AFeed::loads>(b);
  }

  template <index_t Write>
  RG_DEVICE RG_FORCE_INLINE void write_one() {
    if constexpr (Write < AFeed::writes)
      a_feed_.template write<Write>();
    else
      b_feed_.template write<Write - AFeed::writes>();
  }

  /// What this lane reads first: of the fragment of slice 0 of the first matrix tile of its wave,
  /// which begins at outer index `first`.
  template <class Image>
  static RG_DEVICE SharedByte* fragment_begin(SharedByte* image, index_t first, index_t outer) {
    const index_t lane = Wave::lane();
    if constexpr (Image::depth_contiguous) {
      return image + Image::offset_bytes(first + outer, SliceMap::chunk(lane));
    } else {
      using Read = arch::cdna::TransposingRead;
      const index_t named = first + Read::named_outer(lane);
      return image + Image::offset_bytes(Read::named_depth(lane, 0), named / Image::chunk_elems) +
             named % Image::chunk_elems * Image::elem_bytes;
    }
  }

  /// One read of the fragments of a slice, in the order in which the matrix instructions want them:
  /// the first of A, all of B, the rest of A; where A is read in place, all of B first. Fragments
  /// of even and odd slices have registers of their own.
  template <index_t SliceIndex, index_t Read>
  RG_DEVICE RG_FORCE_INLINE void read_one() {
    constexpr index_t b_first = a_in_place ? 0 : fragment_reads<AImage>;
    if constexpr (Read >= b_first && Read < b_first + b_reads) {
      constexpr index_t each = fragment_reads<BImage>;
      constexpr index_t tile = (Read - b_first) / each;
      read_fragment<BImage, SliceIndex, (Read - b_first) % each, tile>(b_from_,
                                                                       b_[SliceIndex % 2][tile]);
    } else {
      constexpr index_t each = fragment_reads<AImage>;
      constexpr index_t read = Read < b_first ? Read : Read - b_reads;
      read_fragment<AImage, SliceIndex, read % each, read / each>(
          a_from_, a_[a_slot(SliceIndex, read / each)]);
    }
  }

  /// Reads part `Part` of the fragment of matrix tile `MatrixTile` of this wave.
  template <class Image, index_t SliceIndex, index_t Part, index_t MatrixTile>
  RG_DEVICE RG_FORCE_INLINE void read_fragment(SharedByte* from, Fragment& fragment) {
    if constexpr (!Image::depth_contiguous) {
      // The twist is that of the lane's depth alone: those of slices and parts do not change it.
      using Read = arch::cdna::TransposingRead;
      constexpr index_t depth = SliceIndex * 16 + Part * Read::elems;
      static_assert(Image::twist(depth) == 0, "slices and parts must keep the twist");
      const arch::cdna::Dwords2 four = arch::cdna::shared_read_transposing(
          arch::cdna::flip(from, MatrixTile * ResultMap::outer * Image::elem_bytes) +
          depth * Image::row_bytes);
      fragment[2 * Part] = four[0];
      fragment[2 * Part + 1] = four[1];
    } else {
      // The twist is linear: that of another matrix tile's rows flips bits of the first one's.
      constexpr index_t first = MatrixTile * ResultMap::outer;
      constexpr index_t bits =
          (SliceMap::chunk_bits(SliceIndex, Part) ^ Image::twist(first)) * Image::chunk_bytes;
      const arch::cdna::Dwords4 chunk =
          arch::cdna::shared_read(arch::cdna::flip(from, bits) + first * Image::row_bytes);
      if constexpr (SliceMap::chunks == 1)
        fragment = chunk;
      else
        arch::cdna::unrolled<4>([&](auto dword) {
          constexpr index_t d = decltype(dword)::value;
          fragment[4 * Part + d] = chunk[d];
        });
    }
  }
  static constexpr index_t a_slot(index_t slice, index_t row) {
    return (slice * Grid::row_tiles + row) % a_ring;
  }

  /// Issues the matrix instructions [First, Last) of a slice with `Operations` others spread
  /// between all but the last eighth of them, in source order: the compiler alone would gather the
  /// reads in front and wait for all of them. Where there is nothing to multiply, the others alone.
  /// A wave that has its SIMD to itself may move scalar instructions into gaps.
  template <index_t SliceIndex, index_t First, index_t Last, index_t Operations, class F>
  RG_DEVICE RG_FORCE_INLINE void multiply_beside(const F& operation) {
    constexpr index_t count = Last - First;
    constexpr index_t spread = count - instructions / 8;
    if constexpr (count == 0) arch::cdna::unrolled<Operations>(operation);
    arch::cdna::unrolled<count>([&](auto x) {
      constexpr index_t begin = min_of(ceil_div(x * Operations, spread), Operations);
      constexpr index_t end = min_of(ceil_div((x + 1) * Operations, spread), Operations);
      arch::cdna::unrolled<end - begin>([&](auto y) {
        operation(std::integral_constant<index_t, begin + decltype(y)::value>{});
      });
      arch::cdna::keep_order<pinned>();
      matrix_instruction<SliceIndex, First + decltype(x)::value>();
      arch::cdna::keep_order<pinned>();
      if constexpr (a_in_place && (First + decltype(x)::value + 1) % row_instructions == 0)
        refill_row<SliceIndex, (First + decltype(x)::value) / row_instructions>();
    });
  }

  /// Reads the fragment of A that takes the registers of the row that is through.
  template <index_t SliceIndex, index_t Row>
  RG_DEVICE RG_FORCE_INLINE void refill_row() {
    constexpr index_t next = Row + a_ring;
    constexpr bool next_slice = next >= Grid::row_tiles;
    // The next step's images are whole, and read, in the second half of the last slice.
    constexpr bool later = next_slice && SliceIndex == slices - 1 && Row * row_instructions < half;
    if constexpr (!later)
      arch::cdna::unrolled<fragment_reads<AImage>>([&](auto part) {
        read_one<(SliceIndex + (next_slice ? 1 : 0)) % slices,
                 b_reads + next % Grid::row_tiles * fragment_reads<AImage> +
                     decltype(part)::value>();
      });
  }

  /// The operands are swapped, D^T = B^T·A^T: a lane then holds consecutive columns of one row.
  template <index_t SliceIndex, index_t Index>
  RG_DEVICE RG_FORCE_INLINE void matrix_instruction() {
    constexpr index_t j = Index % Grid::col_tiles;
    constexpr index_t part = Index / Grid::col_tiles % Slice::instructions;
    constexpr index_t i = Index / (Grid::col_tiles * Slice::instructions);
    acc_[i][j] = Slice::template multiply<part>(
        b_[SliceIndex % 2][j], a_[a_slot(SliceIndex, i)], acc_[i][j]);
  }

  AFeed a_feed_;
  BFeed b_feed_;
  SharedByte* a_from_;  // this lane's chunk of the wave's first fragment, slice 0
  SharedByte* b_from_;
  Fragment a_[a_ring];
  Fragment b_[2][Grid::col_tiles];
  typename Slice::template Result<Compute> acc_[Grid::row_tiles][Grid::col_tiles];
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
