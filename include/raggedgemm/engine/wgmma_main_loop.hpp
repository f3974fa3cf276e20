// SPDX-License-Identifier: Apache-2.0
// The Hopper engine's main loop: a consumer warpgroup multiplies one tile, stage by stage.
#pragma once

#include <cstdint>

#include "raggedgemm/arch/sm90/barrier.hpp"
#include "raggedgemm/arch/sm90/wgmma.hpp"
#include "raggedgemm/engine/work_ring.hpp"
#include "raggedgemm/schedule/work.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

#if RG_PLATFORM_CUDA

/// `Engine` says the tile's shape, the layout of the stages in shared memory and their barriers.
template <class Engine>
struct WgmmaMainLoop {
  using Input = typename Engine::Input;
  using Wave = typename Engine::Wave;
  using Shared = typename Engine::Shared;
  using Accumulator = typename Engine::Accumulator;
  static constexpr auto tile = Engine::tile;
  static constexpr bool swapped = Engine::swapped;
  static constexpr bool ping_pong = Engine::ping_pong;
  static constexpr bool ragged_depth = Engine::ragged_depth;
  static constexpr index_t atoms = Engine::atoms;
  static constexpr index_t n_side = Engine::n_side;
  static constexpr index_t n_step = Engine::n_step;
  static constexpr index_t depth_of_one = Engine::depth_of_one;

  /// multiply() with the least number of columns in steps of `n_step` that holds the work's rows,
  /// and nothing meanwhile.
  template <index_t Cols, index_t Most>
  static RG_DEVICE RG_FORCE_INLINE void multiply_cols(Accumulator& acc,
                                                      const Work& work,
                                                      Shared& shared,
                                                      RingPosition<tile.stages>& at,
                                                      index_t group) {
    if constexpr (Cols >= Most) {
      multiply<Most>(acc, work, shared, at, group, [](index_t) {});
    } else {
      if (work.rows <= Cols)
        multiply<Cols>(acc, work, shared, at, group, [](index_t) {});
      else
        multiply_cols<Cols + n_step, Most>(acc, work, shared, at, group);
    }
  }

  /// The group's first atom of the tile.
  static RG_DEVICE RG_FORCE_INLINE index_t first_atom(index_t group) {
    return ping_pong ? 0 : group * atoms;
  }

  /// acc = A·B over the work's depth, in its first `Cols` columns; untouched when the depth is 0.
  /// Calls `meanwhile` with each step while its multiplies run, and with -1 after them.
  template <index_t Cols, class Meanwhile>
  static RG_DEVICE RG_FORCE_INLINE void multiply(Accumulator& acc,
                                                 const Work& work,
                                                 Shared& shared,
                                                 RingPosition<tile.stages>& at,
                                                 index_t group,
                                                 const Meanwhile& meanwhile) {
    const index_t k_extent = static_cast<index_t>(work.k_extent);
    const index_t all_steps = ceil_div(k_extent, tile.block_k);
    // A ragged depth's last step takes paths of its own: a branch around the multiplies in the loop
    // would make ptxas serialise every one.
    const index_t steps = ragged_depth ? max_of(all_steps - 1, 0) : all_steps;
    index_t previous = 0;  // stage of the step before
    RG_NO_UNROLL
    for (index_t step = 0; step < steps; ++step) {
      shared.full[at.slot].wait(at.parity);
      multiply_stage<Cols, tile.block_k / depth_of_one>(acc, shared, at.slot, group, step > 0);
      meanwhile(step);
      if (step > 0) {
        arch::sm90::multiply_wait<1>();
        release(shared, previous);
      }
      previous = at.slot;
      at.advance();
    }
    meanwhile(-1);
    if (ragged_depth && all_steps > 0) shared.full[at.slot].wait(at.parity);
    if (ping_pong && Wave::lane() == 0) shared.turn[group ^ 1].arrive();
    if (ragged_depth && all_steps > 0)
      multiply_last<Cols>(acc, shared, at.slot, group, k_extent - steps * tile.block_k, steps > 0);
    else
      arch::sm90::multiply_wait<0>();
    if (steps > 0) release(shared, previous);
    if (ragged_depth && all_steps > 0) {
      release(shared, at.slot);
      at.advance();
    }
    RG_UNROLL
    for (index_t i = 0; i < atoms; ++i) arch::sm90::settle(acc[i]);
  }

  /// acc = A·B from sums of one step each: while one group adds, the other multiplies. All columns,
  /// whatever the work holds: with more widths ptxas runs out of registers and serialises the
  /// multiplies, and a tile with few rows waits for its weights.
  static RG_DEVICE RG_FORCE_INLINE void multiply_and_add(Accumulator& acc,
                                                         const Work& work,
                                                         Shared& shared,
                                                         RingPosition<tile.stages>& at,
                                                         index_t group) {
    static_assert(!ragged_depth && !ping_pong, "8-bit floats have no ragged depth here");
    RG_UNROLL
    for (index_t i = 0; i < atoms; ++i) RG_UNROLL
    for (index_t e = 0; e < n_side / 2; ++e) acc[i][e] = 0;
    const index_t steps = ceil_div(static_cast<index_t>(work.k_extent), tile.block_k);
    RG_NO_UNROLL
    for (index_t step = 0; step < steps; ++step) {
      Accumulator sums;
      shared.full[at.slot].wait(at.parity);
      multiply_stage<n_side, tile.block_k / depth_of_one>(sums, shared, at.slot, group, false);
      arch::sm90::multiply_wait<0>();
      release(shared, at.slot);
      at.advance();
      RG_UNROLL
      for (index_t i = 0; i < atoms; ++i) {
        arch::sm90::settle(sums[i]);
        RG_UNROLL
        for (index_t e = 0; e < n_side / 2; ++e) acc[i][e] += sums[i][e];
      }
    }
  }

  /// Only as many steps of 16 as hold depth of this group. Each path has its own wait: joined paths
  /// would be serialised.
  template <index_t Cols, index_t Steps = tile.block_k / depth_of_one>
  static RG_DEVICE RG_FORCE_INLINE void multiply_last(Accumulator& acc,
                                                      Shared& shared,
                                                      index_t stage,
                                                      index_t group,
                                                      index_t depth,
                                                      bool accumulate) {
    if constexpr (Steps > 1) {
      if (depth <= (Steps - 1) * depth_of_one) {
        multiply_last<Cols, Steps - 1>(acc, shared, stage, group, depth, accumulate);
        return;
      }
    }
    multiply_stage<Cols, Steps>(acc, shared, stage, group, accumulate);
    arch::sm90::multiply_wait<0>();
  }

  /// Issues the multiplies of the first `Steps` instruction depths of one stage as one batch.
  template <index_t Cols, index_t Steps>
  static RG_DEVICE RG_FORCE_INLINE void multiply_stage(
      Accumulator& acc, Shared& shared, index_t stage, index_t group, bool accumulate) {
    using OperandMapping = arch::sm90::OperandLayout;
    constexpr std::uint64_t atom_step = OperandMapping::rows64_step();
    const Input* const m = swapped ? shared.b[stage] : shared.a[stage];
    const Input* const n = swapped ? shared.a[stage] : shared.b[stage];
    const std::uint64_t m_at =
        OperandMapping::descriptor(Engine::m_major, arch::sm90::shared_address(m)) +
        static_cast<std::uint64_t>(first_atom(group)) * atom_step;
    const std::uint64_t n_at =
        OperandMapping::descriptor(Engine::n_major, arch::sm90::shared_address(n));
    arch::sm90::multiply_fence();
    RG_UNROLL
    for (index_t k = 0; k < Steps; ++k) RG_UNROLL
    for (index_t i = 0; i < atoms; ++i)
      arch::sm90::
          multiply<Cols, Engine::m_dtype, Engine::n_dtype, Engine::m_major, Engine::n_major>(
              acc[i],
              m_at + static_cast<std::uint64_t>(i) * atom_step +
                  static_cast<std::uint64_t>(k) * OperandMapping::depth_step(Engine::m_major),
              n_at + static_cast<std::uint64_t>(k) * OperandMapping::depth_step(Engine::n_major),
              accumulate || k > 0);
    arch::sm90::multiply_commit();
  }

  static RG_DEVICE RG_FORCE_INLINE void release(Shared& shared, index_t stage) {
    if (Wave::lane() == 0) shared.empty[stage].arrive();
  }
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
