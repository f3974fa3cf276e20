// SPDX-License-Identifier: Apache-2.0
// The Hopper engine: one warp decodes tiles, one feeds the copy engine, two warpgroups multiply
// from shared memory and store. Roles are outermost and each has a tile loop of its own.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "raggedgemm/arch/simt/wave.hpp"
#include "raggedgemm/arch/sm90/barrier.hpp"
#include "raggedgemm/arch/sm90/lane_map.hpp"
#include "raggedgemm/arch/sm90/target.hpp"
#include "raggedgemm/arch/sm90/tensor_map.hpp"
#include "raggedgemm/arch/sm90/tma.hpp"
#include "raggedgemm/arch/sm90/wgmma.hpp"
#include "raggedgemm/base/status.hpp"
#include "raggedgemm/engine/lhs_gather.hpp"
#include "raggedgemm/engine/wgmma_main_loop.hpp"
#include "raggedgemm/engine/wgmma_store.hpp"
#include "raggedgemm/engine/work_ring.hpp"
#include "raggedgemm/numeric/types_of.hpp"
#include "raggedgemm/problem/problem.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

#if RG_PLATFORM_CUDA

/// Computes output tiles with TMA and WGMMA; a block takes tiles until none is left.
///
/// WGMMA multiplies 64 rows by up to 256 columns. As written, the tile's rows take the side of 64;
/// `swapped` puts its columns (the weights) there, and its rows (the tokens) ride the other side,
/// as many as the work has in steps of 32: a group's last tile costs what it holds.
///
/// Operands are 16-bit, or in layout nt 8-bit or f32 that may be rounded to tf32, in the layout of
/// the config, 16-byte aligned (selection checks). Sums run in depth order in f32 (s8: s32), so the
/// result is bitwise repeatable. Tiles start where their work says; rows past the work's last one
/// are computed and dropped at the store. Cost: about 225 KiB of shared memory for a 256 x 128 tile
/// with 4 stages; no workspace.
template <class Config, class VariantType, class TypesType, class EpilogueType>
struct TmaWgmma {
  using Input = typename TypesType::lhs;
  using Out = typename TypesType::out;
  using Wave = arch::simt::Wave<32>;
  using Major = arch::sm90::Major;
  using Barrier = arch::sm90::Barrier;

  static constexpr auto tile = Config::value;
  static constexpr bool swapped = tile.swapped;
  static constexpr index_t group_lanes = 128;  // a warpgroup
  static constexpr index_t consumers = 2;      // warpgroups
  // Ping-pong: each consumer group has every second tile to itself, and stores it while the other
  // group multiplies. Otherwise both share a tile, and each owns half of WGMMA's rows.
  static constexpr bool ping_pong = tile.tiles_at_once == 2;
  static constexpr index_t groups_per_tile = ping_pong ? 1 : consumers;
  static constexpr index_t group_waves = group_lanes / Wave::lanes;
  static constexpr index_t consumer_waves = consumers * group_waves;
  // The two sides of WGMMA: `m` in atoms of 64, `n` in columns of the accumulator.
  static constexpr index_t m_side = swapped ? tile.block_n : tile.block_m;
  static constexpr index_t n_side = swapped ? tile.block_m : tile.block_n;
  static constexpr index_t n_step = swapped ? 32 : n_side;  // of the columns multiplied
  static constexpr index_t atom_rows = arch::sm90::AccumulatorMap::rows;
  static constexpr index_t atoms = m_side / (groups_per_tile * atom_rows);
  // A lane starts with its share of a multiprocessor's registers, and the roles share those out:
  // the loading, decoding and clearing warps do without spills with 40.
  static constexpr index_t start_registers = 168;
  static constexpr index_t consumer_registers = 232;
  static constexpr index_t producer_registers =
      3 * start_registers - consumers * consumer_registers;
  using Sum = typename TypesType::compute;
  static constexpr DType dtype = dtype_of<Input>;
  static constexpr DType m_dtype = swapped ? dtype_of<typename TypesType::rhs> : dtype;
  static constexpr DType n_dtype = swapped ? dtype : dtype_of<typename TypesType::rhs>;
  // The tensor cores add products of 8-bit floats with some 14 bits: the sums of one step only, and
  // f32 adds those.
  static constexpr bool adds_steps = sizeof(Input) == 1 && std::is_same_v<Sum, float>;
  static constexpr index_t depth_of_one = 32 / sizeof(Input);  // of one WGMMA
  static constexpr index_t box_elems = arch::sm90::box_cols(dtype);
  static constexpr Major a_major = arch::sm90::a_is_mn_major(tile.layout) ? Major::mn : Major::k;
  static constexpr Major b_major = arch::sm90::b_is_mn_major(tile.layout) ? Major::mn : Major::k;
  static constexpr Major m_major = swapped ? b_major : a_major;
  static constexpr Major n_major = swapped ? a_major : b_major;
  // Lines of a copy's box along the operand's rows (A) or columns (B).
  static constexpr index_t a_box = swapped ? n_step : tile.block_m;
  // What passes from L2 to the multiprocessors bounds few rows, and a box costs time however small
  // it is: the last rows of a tile, if they are few, come by one or two boxes of their own.
  static constexpr index_t rest_box = 8;
  static constexpr index_t rest_boxes = 2;  // at most
  static constexpr index_t b_box = tile.block_n;
  // Depth is ragged: the last step of a group reaches into the next group's rows.
  static constexpr bool ragged_depth = VariantType::variant == Variant::contracting;
  // Rows past a tile's last one are outside the output, unless they are of another group or tile.
  static constexpr bool clips_rows = VariantType::variant != Variant::non_contracting && !swapped;
  // What the stages leave of Hopper's 227 KiB, a KiB aside for barriers, goes to the stores.
  static constexpr index_t block_bytes = 226 * 1024;
  static constexpr index_t stage_bytes = (tile.block_m + tile.block_n) * 128;
  static constexpr index_t free_bytes = block_bytes - tile.stages * stage_bytes;
  static constexpr index_t staging_bytes = min_of(free_bytes / consumers / 8192, 4) * 8192;
  // Weight gradients are large, and nobody reads them soon: on an H200 they cost up to 10 % where
  // they push other lines out of the L2.
  using Store =
      WgmmaStore<Out, Sum, EpilogueType, n_side, swapped, clips_rows, ragged_depth, staging_bytes>;
  // Where it fits into registers, a finished tile is stored while the next one is multiplied.
  static constexpr bool defers =
      !ping_pong && !adds_steps && atoms == 1 && Store::defers && n_side == 256;

  /// With a workspace, tiles of the last round may be cut.
  static constexpr bool cuts_tiles = sizeof(Input) == 2 && !ping_pong && !tile.splits &&
                                     VariantType::variant == Variant::non_contracting;
  /// Of the sums of a part, in the workspace.
  static constexpr index_t cut_tile_bytes =
      cuts_tiles ? tile.block_m * tile.block_n * index_t{sizeof(Sum)} : 0;

  static_assert(std::is_same_v<typename TypesType::rhs, Input> ||
                    (is_fp8(m_dtype) && is_fp8(n_dtype)),
                "lhs and rhs must be of one dtype, or two of 8-bit floats, for tma_wgmma");
  static_assert(sizeof(Input) <= 4 && dtype != DType::s32 && dtype != DType::e4m3fnuz &&
                    dtype != DType::e5m2fnuz,
                "ConfigRow.input_dtypes must be bf16, f16, f32, s8, e4m3fn or e5m2 for tma_wgmma");
  static_assert(tile.lanes == (consumers + 1) * group_lanes,
                "TileConfig.lanes must be 384 for tma_wgmma: a producer and two consumer groups");
  static_assert(tile.block_k * sizeof(Input) == 128,
                "TileConfig.block_k must be 64 (f32: 32; 8 bits: 128) for tma_wgmma: one 128-byte "
                "swizzle row");
  static_assert(tile.tiles_at_once == 1 || tile.tiles_at_once == consumers,
                "TileConfig.tiles_at_once must be 1 or 2 for tma_wgmma");
  static_assert(
      m_side % (groups_per_tile * atom_rows) == 0,
      "TileConfig.block_m (block_n if swapped) must be a multiple of 128 for tma_wgmma, of "
      "64 with two tiles at once");
  static_assert(n_side % 64 == 0 && n_side <= 256,
                "TileConfig.block_n (block_m if swapped) must be a multiple of 64 up to 256 for "
                "tma_wgmma");
  static_assert(
      !swapped || (a_major == Major::k && !ragged_depth && !ping_pong),
      "TileConfig.swapped needs a layout of nn or nt, ragged rows or batches, and one tile "
      "at once");
  static_assert(tile.layout != Layout::strided,
                "TileConfig.layout must name the operand layout for tma_wgmma; got strided");
  static_assert(!ragged_depth || tile.layout == Layout::tn,
                "TileConfig.layout must be tn for contracting: the depth tail is cleared by rows");

  using Ring = WorkRing;
  using Accumulator = typename Store::Atom[atoms];  // of one lane
  using Gather = LhsGather<Input, a_major, tile.block_m, tile.block_k>;
  // Batches gather whole slabs, and tf32 is rounded by the copy engine.
  static constexpr bool may_gather = VariantType::variant != Variant::batch && sizeof(Input) <= 2;
  // The loading group's waves.
  static constexpr index_t loading_wave = 0;
  static constexpr index_t decoding_wave = 1;
  static constexpr index_t clearing_wave = 2;
  static constexpr index_t gathering_wave = group_waves - Gather::warps;  // the first
  static_assert(!ragged_depth || gathering_wave > clearing_wave, "each warp has one role");
  using Decoder = typename VariantType::template Decoder<tile.block_m,
                                                         tile.block_n,
                                                         Wave,
                                                         swapped ? n_step : tile.block_m,
                                                         DecodingWalk>;

  /// All of a block's shared memory.
  struct Shared {
    alignas(1024) Input a[tile.stages][tile.block_m * tile.block_k];
    alignas(1024) Input b[tile.stages][tile.block_n * tile.block_k];
    typename Store::Staging staging[consumers];
    Ring work;  // read by all warps but the decoding one
    typename Gather::Entries entries;
    Barrier full[tile.stages];    // both operands of the stage are there
    Barrier empty[tile.stages];   // every consumer warp of the tile has read the stage
    Barrier landed[tile.stages];  // in turn: the last step of a tile has arrived, not yet cleared
    Barrier turn[consumers];      // ping-pong: the other group has seen all stages of its tile
  };

  /// The tensor maps of a bound call.
  struct Prepared {
    arch::sm90::OperandMap a;
    arch::sm90::OperandMap a_rest;  ///< of the same operand, in smaller boxes (if swapped)
    arch::sm90::OperandMap b;
    arch::sm90::OutputMap d;
    CutSums cut;             ///< where tiles of the last round may be cut
    index_t most_parts = 1;  ///< of one
  };

  static constexpr bool compiled_here = arch::sm90::compiled_here;
  /// Launched while the kernel before it may still run; the kernel waits for that.
  static constexpr bool begins_early = true;
  static constexpr index_t lanes = tile.lanes;
  static constexpr std::size_t shared_bytes = sizeof(Shared);
  static_assert(shared_bytes <= 227 * 1024,
                "TileConfig.stages must leave the block within Hopper's 227 KiB of shared memory");

  /// Makes the tensor maps. Errors: vendor_error. Cost: a driver call a map, no device work.
  static Status prepare(const Arguments& p, Prepared& prepared) noexcept {
    prepared = {};
    if (cuts_tiles && p.partials.cutting_blocks > 0) {
      prepared.cut = CutSums::of(p.partials.data, p.partials.cutting_blocks);
      const offset_t steps = ceil_div(p.depth, offset_t{tile.block_k});  // a part has one at least
      prepared.most_parts =
          static_cast<index_t>(min_of(offset_t{p.partials.parts}, max_of(steps, offset_t{1})));
    }
    if (p.rows > 0 && p.cols > 0)
      if (const Status status = Store::prepare(p, prepared.d); !status.ok()) return status;
    if (!arch::sm90::loads_operands(p.rows, p.cols, p.depth, p.slabs)) return {};
    if (p.lhs_index == nullptr) {
      const arch::sm90::TmaOperand lhs =
          arch::sm90::tma_operand(p.a.stride, true, a_major == Major::mn, p.rows, p.depth, p.slabs);
      Status status = prepare_operand<a_major, a_box>(prepared.a, "lhs", p.a.data, lhs);
      if constexpr (swapped)
        if (status.ok())
          status = prepare_operand<a_major, rest_box>(prepared.a_rest, "lhs", p.a.data, lhs);
      if (!status.ok()) return status;
    }
    return prepare_operand<b_major, b_box>(
        prepared.b,
        "rhs",
        p.b.data,
        arch::sm90::tma_operand(p.b.stride, false, b_major == Major::mn, p.cols, p.depth, p.slabs));
  }

  static RG_DEVICE RG_FORCE_INLINE void run(const Arguments& arguments,
                                            const Prepared& prepared,
                                            const EpilogueType& epilogue,
                                            unsigned char* shared_memory) {
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory);
    const bool gathers = may_gather && arguments.lhs_index != nullptr;
    if (threadIdx.x == 0) initialize_barriers(shared, gathers);
    __syncthreads();  // no lane touches a barrier before it is initialised
    // The same in all lanes of a warp, and the compiler should know it.
    const index_t wave = Wave::broadcast(static_cast<index_t>(threadIdx.x) / Wave::lanes, 0);
    if (wave < group_lanes / Wave::lanes) {
      arch::sm90::release_registers<producer_registers>();
      if (wave == loading_wave) load_operands(arguments, prepared, shared, gathers);
      if (wave == decoding_wave)
        shared.work.template fill<cuts_tiles, tile.block_k>(
            Decoder(arguments), prepared.cut, prepared.most_parts);
      if (ragged_depth && wave == clearing_wave) clear_tails(shared, gathers);
      if constexpr (may_gather)
        if (gathers && wave >= gathering_wave) gather_lhs(arguments, shared, wave - gathering_wave);
    } else {
      arch::sm90::claim_registers<consumer_registers>();
      const index_t group = wave / group_waves - 1;  // 0: the loading group
      if constexpr (defers)
        multiply_while_storing(arguments, prepared, epilogue, shared, group);
      else
        multiply_and_store(arguments, prepared, epilogue, shared, group);
    }
  }

 private:
  template <Major M, index_t BlockOuter>
  static Status prepare_operand(arch::sm90::OperandMap& map,
                                const char* name,
                                const void* data,
                                const arch::sm90::TmaOperand& operand) noexcept {
    constexpr bool mn_major = M == Major::mn;
    return arch::sm90::make_operand_map(map,
                                        name,
                                        dtype,
                                        data,
                                        operand,
                                        mn_major ? tile.block_k : BlockOuter,
                                        mn_major ? BlockOuter / box_elems : 1);
  }

  static RG_DEVICE RG_FORCE_INLINE void initialize_barriers(Shared& shared, bool gathers) {
    const index_t gatherers = gathers ? Gather::warps : 0;
    for (index_t s = 0; s < tile.stages; ++s) {
      shared.full[s].initialize(1 + gatherers);
      shared.landed[s].initialize(1);
      shared.empty[s].initialize(groups_per_tile * group_waves);
    }
    shared.work.initialize(1 + consumer_waves + (ragged_depth ? 1 : 0) + gatherers);
    for (index_t g = 0; g < consumers; ++g) shared.turn[g].initialize(group_waves);
    arch::sm90::fence_barrier_initialization();
  }

  // --- The loading warp --------------------------------------------------------------------------

  static RG_DEVICE RG_FORCE_INLINE void load_operands(const Arguments& arguments,
                                                      const Prepared& prepared,
                                                      Shared& shared,
                                                      bool gathers) {
    constexpr index_t b_bytes = sizeof(shared.b[0]);
    constexpr index_t a_row_bytes = sizeof(shared.a[0]) / tile.block_m;
    const bool has_maps = arch::sm90::loads_operands(
        arguments.rows, arguments.cols, arguments.depth, arguments.slabs);
    if (Wave::lane() == 0 && has_maps) {
      if (!gathers) arch::sm90::prefetch_map(prepared.a);
      if (swapped && !gathers) arch::sm90::prefetch_map(prepared.a_rest);
      arch::sm90::prefetch_map(prepared.b);
    }
    const bool a_shared = arguments.a.stride.slab == 0;  // one slab serves all
    const bool b_shared = arguments.b.stride.slab == 0;
    typename Ring::Position work_at;
    RingPosition<tile.stages> at;
    RingPosition<tile.stages> landed_at;
    Work work;
    while (shared.work.next(work_at, work)) {
      // Selection keeps every extent below 2^31.
      const index_t row = static_cast<index_t>(work.row_begin);
      const index_t col = static_cast<index_t>(work.col_begin);
      const index_t slab = static_cast<index_t>(work.slab);
      const index_t k_end = static_cast<index_t>(work.k_begin + work.k_extent);
      // A box of A in each lane: whole ones first, then those of the rest.
      const index_t left = swapped ? work.rows % a_box : 0;
      const index_t rests = left <= rest_boxes * rest_box ? ceil_div(left, rest_box) : 0;
      const index_t whole = swapped ? ceil_div(work.rows - (rests > 0 ? left : 0), a_box) : 1;
      const index_t boxes = gathers ? 0 : whole + rests;
      const index_t box = Wave::lane();
      const index_t box_row = box < whole ? box * a_box : whole * a_box + (box - whole) * rest_box;
      const index_t a_bytes = (whole * a_box + rests * rest_box) * a_row_bytes;
      const index_t bytes = (gathers ? 0 : a_bytes) + b_bytes;
      RG_NO_UNROLL
      for (index_t k = static_cast<index_t>(work.k_begin); k < k_end; k += tile.block_k) {
        shared.empty[at.slot].wait(at.parity ^ 1);
        const bool is_tail = ragged_depth && k_end - k < tile.block_k;
        Barrier& full = is_tail ? shared.landed[landed_at.slot] : shared.full[at.slot];
        if (is_tail) landed_at.advance();
        if (Wave::lane() == 0) {
          full.arrive_and_expect(bytes);
          load<b_major, b_box>(shared.b[at.slot], prepared.b, full, col, k, b_shared ? 0 : slab);
        }
        if (box < boxes) {
          Input* const to = shared.a[at.slot] + box_row * tile.block_k;
          const index_t a_slab = a_shared ? 0 : slab;
          if (box < whole)
            load<a_major, a_box>(to, prepared.a, full, row + box_row, k, a_slab);
          else if constexpr (swapped)
            load<a_major, rest_box>(to, prepared.a_rest, full, row + box_row, k, a_slab);
        }
        __syncwarp();
        at.advance();
      }
    }
  }

  /// One operand of one stage: rows of A or columns of B from `outer`, depth from `k`.
  template <Major M, index_t BlockOuter>
  static RG_DEVICE RG_FORCE_INLINE void load(Input* to,
                                             const arch::sm90::OperandMap& map,
                                             Barrier& full,
                                             index_t outer,
                                             index_t k,
                                             index_t slab) {
    constexpr index_t box = box_elems;
    if constexpr (M == Major::k) {
      arch::sm90::load_box(to, map, full, k, outer, 0, slab);
    } else if (map.chunked) {
      arch::sm90::load_box(to, map, full, 0, k, outer / box, slab);
    } else {
      RG_UNROLL
      for (index_t c = 0; c < BlockOuter / box; ++c)
        arch::sm90::load_box(to + c * box * tile.block_k, map, full, outer + c * box, k, 0, slab);
    }
  }

  // --- The clearing warp -------------------------------------------------------------------------

  /// Where a group's depth ends inside a step, the copy brings rows of the next group: clears them
  /// on both operands (0·NaN is NaN), as far as instructions reach, before the consumers see the
  /// stage.
  static RG_DEVICE RG_FORCE_INLINE void clear_tails(Shared& shared, bool gathers) {
    typename Ring::Position work_at;
    RingPosition<tile.stages> at;
    RingPosition<tile.stages> landed_at;
    Work work;
    while (shared.work.next(work_at, work)) {
      const index_t k_extent = static_cast<index_t>(work.k_extent);
      at.skip(k_extent / tile.block_k);
      const index_t tail = k_extent % tile.block_k;
      if (tail == 0) continue;
      shared.landed[landed_at.slot].wait(landed_at.parity);
      landed_at.advance();
      if (!gathers) clear<tile.block_m>(shared.a[at.slot], tail);
      clear<tile.block_n>(shared.b[at.slot], tail);
      arch::sm90::fence_shared_for_async_proxy();
      __syncwarp();  // all of the warp's zeros are written
      if (Wave::lane() == 0) shared.full[at.slot].arrive();
      at.advance();
    }
  }

  /// Depth indices `tail` to the next multiple of an instruction's depth, of all rows (columns).
  template <index_t Outer>
  static RG_DEVICE RG_FORCE_INLINE void clear(Input* operand, index_t tail) {
    constexpr index_t chunk_elems = 64 * tile.block_k;  // [block_k][64]: a depth index is a row
    constexpr index_t unit_elems = 8;                   // 16 bytes
    const index_t end = round_up(tail, depth_of_one) * 64;
    RG_NO_UNROLL
    for (index_t i = tail * 64 + Wave::lane() * unit_elems; i < end; i += Wave::lanes * unit_elems)
      RG_UNROLL
    for (index_t c = 0; c < Outer / 64; ++c)
      *reinterpret_cast<uint4*>(operand + c * chunk_elems + i) = uint4{};
  }

  // --- The gathering warps -----------------------------------------------------------------------

  /// A's part of each stage where lhs is gathered. A step is announced some steps later, when its
  /// copies have come: the tensor cores read what a lane wrote only behind that lane's fence.
  static RG_DEVICE RG_FORCE_INLINE void gather_lhs(const Arguments& arguments,
                                                   Shared& shared,
                                                   index_t warp) {
    // The consumers hold two stages; the others are under way.
    constexpr index_t under_way = tile.stages - 2;
    Gather gather(arguments, shared.entries, warp);
    typename Ring::Position work_at;
    RingPosition<tile.stages> at;
    RingPosition<tile.stages> arrived;
    const auto announce = [&] {
      arch::sm90::fence_shared_for_async_proxy();
      __syncwarp();  // of all lanes
      if (Wave::lane() == 0) shared.full[arrived.slot].arrive();
      arrived.advance();
    };
    Work work;
    index_t open = 0;
    while (shared.work.next(work_at, work)) {
      if (work.k_extent == 0) continue;
      gather.start(work);
      RG_NO_UNROLL
      for (index_t k = 0; k < static_cast<index_t>(work.k_extent); k += tile.block_k) {
        if (open == under_way) {
          arch::sm80::wait_copies<under_way - 1>();
          announce();
          --open;
        }
        shared.empty[at.slot].wait(at.parity ^ 1);
        gather.copy_step(arch::sm90::shared_address(shared.a[at.slot]));
        arch::sm80::commit_copies();
        at.advance();
        ++open;
      }
    }
    arch::sm80::wait_copies<0>();
    for (; open > 0; --open) announce();
  }

  // --- The consumer warpgroups -------------------------------------------------------------------

  /// The stores of a tile fill the waits of the next one's multiplies.
  static RG_DEVICE RG_FORCE_INLINE void multiply_while_storing(const Arguments& arguments,
                                                               const Prepared& prepared,
                                                               const EpilogueType& epilogue,
                                                               Shared& shared,
                                                               index_t group) {
    using Loop = WgmmaMainLoop<TmaWgmma>;
    Store store(shared.staging[group], prepared.d, 1 + group);
    typename Store::Pending pending;
    typename Ring::Position work_at;
    RingPosition<tile.stages> at;
    Work work;
    const index_t atom_at = Loop::first_atom(group) * atom_rows;
    // A piece in every second step, so that the copy engine has read the one before; what is left,
    // after the last step in the loop.
    const auto store_some = [&](index_t step) {
      if (step >= 0 && step % 2 == 0) return;
      while (pending.any()) {
        store.store_piece(pending, arguments, epilogue, atom_at);
        if (step >= 0) break;
      }
    };
    while (shared.work.next_to_store(work_at, work)) {
      Accumulator acc;
      if (!swapped || work.rows > n_side - n_step) {
        Loop::template multiply<n_side>(acc, work, shared, at, group, store_some);
      } else if constexpr (swapped) {  // only one width has the code that stores
        store_some(-1);
        Loop::template multiply_cols<n_step, n_side - n_step>(acc, work, shared, at, group);
      }
      if (cuts_tiles && work.cols == 0) {
        leave_sums(acc, work, prepared.cut, group);
        continue;
      }
      store.finish_atom(pending, acc[0], work, arguments, epilogue, atom_at);
    }
    store_some(-1);
    store.finish();
  }

  static RG_DEVICE RG_FORCE_INLINE void multiply_and_store(const Arguments& arguments,
                                                           const Prepared& prepared,
                                                           const EpilogueType& epilogue,
                                                           Shared& shared,
                                                           index_t group) {
    using Loop = WgmmaMainLoop<TmaWgmma>;
    Store store(shared.staging[group], prepared.d, 1 + group);
    typename Ring::Position work_at;
    RingPosition<tile.stages> at;
    Work work;
    for (index_t tile_count = 0; shared.work.next_to_store(work_at, work); ++tile_count) {
      if (ping_pong && tile_count % consumers != group) {
        at.skip(ceil_div(static_cast<index_t>(work.k_extent), tile.block_k));
        continue;
      }
      // A parity names one of two laps only: without turns, a group ahead of its tile's stages
      // would take an older lap for its own.
      if (ping_pong) shared.turn[group].wait((tile_count / consumers & 1) ^ (group ^ 1));
      Accumulator acc;
      if constexpr (adds_steps)
        Loop::multiply_and_add(acc, work, shared, at, group);
      else
        Loop::template multiply_cols<n_step, n_side>(acc, work, shared, at, group);
      if (cuts_tiles && work.cols == 0) {
        leave_sums(acc, work, prepared.cut, group);
        continue;
      }
      store_atoms(store,
                  acc,
                  work,
                  arguments,
                  epilogue,
                  group,
                  std::make_integer_sequence<index_t, atoms>{});
    }
    store.finish();
  }

  /// Leaves the sums of a part of a tile (WorkRing::next_to_store) in the workspace; another kernel
  /// adds them up.
  static RG_DEVICE RG_FORCE_INLINE void leave_sums(const Accumulator& acc,
                                                   const Work& work,
                                                   const CutSums& cut,
                                                   index_t group) {
    Sum* const sums = static_cast<Sum*>(cut.sums) + work.slab * (tile.block_m * tile.block_n);
    RG_UNROLL
    for (index_t i = 0; i < atoms; ++i)
      Store::leave_sums(acc[i],
                        work,
                        sums,
                        tile.block_n,
                        (WgmmaMainLoop<TmaWgmma>::first_atom(group) + i) * atom_rows);
  }

  /// A fold, not a loop: nvcc 13.0 left the loop rolled, and the accumulator in local memory.
  template <index_t... Atoms>
  static RG_DEVICE RG_FORCE_INLINE void store_atoms(Store& store,
                                                    const Accumulator& acc,
                                                    const Work& work,
                                                    const Arguments& arguments,
                                                    const EpilogueType& epilogue,
                                                    index_t group,
                                                    std::integer_sequence<index_t, Atoms...>) {
    (store(acc[Atoms],
           work,
           arguments,
           epilogue,
           (WgmmaMainLoop<TmaWgmma>::first_atom(group) + Atoms) * atom_rows),
     ...);
  }
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
