// SPDX-License-Identifier: Apache-2.0
// Selection: from a problem and the kernels of this program to a plan, by the config table.
// Rules that decide, and what explain() says about them, are the same code.
#pragma once

#include <string>

#include "raggedgemm/arch/cdna/window_limits.hpp"
#include "raggedgemm/arch/sm90/tma_limits.hpp"
#include "raggedgemm/plan/plan.hpp"

namespace raggedgemm {

namespace detail {

/// Whether `bytes` divides the operand's alignment and each of its strides other than 1.
inline bool operand_aligned(const Strides& s,
                            std::int32_t pointer_alignment,
                            DType dtype,
                            std::int32_t bytes) noexcept {
  if (pointer_alignment < bytes) return false;
  for (const offset_t stride : {s.slab, s.row, s.col})
    if (stride != 1 && stride * bytes_of(dtype) % bytes != 0) return false;
  return true;
}

/// Why a row cannot run the problem on a device, or nullptr if it can.
inline const char* why_not(const ConfigRow& row, const Problem& p, const Device& device) noexcept {
  if (!runs_on(row.arch, device.arch)) return "needs another architecture";
  if (!row_instantiates(row, p.variant, p.lhs_dtype, p.rhs_dtype))
    return "is not for these dtypes or this variant";
  if (row.config.layout != Layout::strided && row.config.layout != layout_of(p))
    return "is for another operand layout";
  if (row.config.engine != EngineId::simple &&
      (p.instances.count() != 1 || p.segments.count() != 1))
    return "does not walk outer dimensions";
  if (p.gathers && row.config.engine == EngineId::mfma)
    return "does not gather lhs without a workspace";
  if (row.tf32 && !p.allow_tf32) return "rounds f32 to tf32: needs options.allow_tf32";
  const std::int32_t bytes = row.alignment_bytes;
  if (bytes > 1) {
    if (!operand_aligned(p.a, p.a_alignment_bytes, p.lhs_dtype, bytes))
      return "needs a more aligned lhs, or a workspace for a copy";
    if (!operand_aligned(p.b, p.b_alignment_bytes, p.rhs_dtype, bytes))
      return "needs a more aligned rhs, or a workspace for a copy";
  }
  if (row.config.engine == EngineId::tma_wgmma)
    return arch::sm90::why_not_tma(p, row.config.layout);
  if (row.config.engine == EngineId::mfma) return why_not_windows(p);
  return nullptr;
}

/// Tiles that a call is expected to have. (tiles_at_most() counts a tile for every group, if it has
/// rows or not, and for rows of no group.)
inline offset_t likely_tiles(const TileConfig& tile, const Problem& p) noexcept {
  const offset_t cols = ceil_div(p.cols, offset_t{tile.block_n});
  if (p.variant != Variant::non_contracting)
    return saturating_product(saturating_product(p.slabs, ceil_div(p.rows, offset_t{tile.block_m})),
                              cols);
  const offset_t groups = max_of(min_of(p.slabs, p.rows), offset_t{1});
  const offset_t row_tiles = groups * ceil_div(ceil_div(p.rows, groups), offset_t{tile.block_m});
  return saturating_product(row_tiles, cols);
}

/// Steps of the pipeline that a depth worth splitting has at least, and a part of it: fewer do not
/// pay for the second launch, and for passing sums through memory. (bench/README.md, split depth)
inline constexpr offset_t least_steps = 48;
inline constexpr offset_t least_steps_of_part = 8;

/// Copies that a row needs of a problem's operands to take them: those that are not aligned, where
/// the workspace holds them. On Hopper a kernel for any alignment is at hand: with few rows it
/// reads the weights once, and a copy would read, write and read them again.
inline AlignedCopies copies_for(const KernelEntry& entry,
                                const Problem& p,
                                const Options& options) noexcept {
  const ConfigRow& row = config_row(entry.row);
  AlignedCopies copies;
  if (entry.copy_lines == nullptr || layout_of(p) == Layout::strided || !has_output(p))
    return copies;
  copies.gathers = p.gathers && row.config.engine == EngineId::mfma;
  copies.a = copies.gathers ||
             !operand_aligned(p.a, p.a_alignment_bytes, p.lhs_dtype, row.alignment_bytes);
  copies.b = !operand_aligned(p.b, p.b_alignment_bytes, p.rhs_dtype, row.alignment_bytes);
  constexpr offset_t few_rows = 128;
  const bool any_alignment = row.arch == Arch::sm90 && (bit_of(p.lhs_dtype) & half_floats) != 0;
  if (copies.b && any_alignment && p.variant != Variant::contracting &&
      p.mean_group_extent() < few_rows && options.config_row < 0)
    return {};
  if (bytes_of_copies(p, copies) > options.workspace_bytes) return {};
  return copies;
}

/// Into how many parts a row cuts the depth; 0: it would, but there is no reason to. As many as
/// find a multiprocessor free, have steps enough and fit into the workspace; a forced row's at
/// least two.
inline index_t parts_of(const KernelEntry& entry,
                        const Problem& p,
                        const Device& device,
                        const Options& options,
                        std::int64_t workspace_bytes) noexcept {
  const TileConfig& tile = config_row(entry.row).config;
  if (!tile.splits) return 1;
  if (options.whole_depth) return 0;
  const index_t least = options.config_row >= 0 ? 2 : 0;
  if (!has_output(p)) return least;
  const offset_t depth = p.variant == Variant::contracting ? p.mean_group_extent() : p.depth;
  const offset_t blocks = offset_t{entry.blocks_per_multiprocessor()} * device.multiprocessors;
  const offset_t by_blocks = blocks / max_of(likely_tiles(tile, p), offset_t{1});
  const offset_t steps = ceil_div(depth, offset_t{tile.block_k});
  const offset_t by_steps = steps < least_steps ? 1 : steps / least_steps_of_part;
  const offset_t by_bytes =
      workspace_bytes /
      saturating_product(elems_of_part(p), max_of(entry.partial_bytes, index_t{1}));
  const index_t parts = static_cast<index_t>(
      min_of(min_of(by_blocks, by_steps), min_of(by_bytes, offset_t{most_parts})));
  return parts >= 2 ? parts : least;
}

/// Rounds of tiles that a call has at most for its last one to matter; and parts, at most, into
/// which tiles of that round are cut. (bench/README.md, the last round)
inline constexpr offset_t most_rounds = 8;
inline constexpr index_t most_parts_of_last = 16;

/// Into how many parts a row may cut tiles of its last round; 1: it does not. How many they are
/// depends on the sizes, so the device decides; few deep tiles and a workspace make it worth
/// asking. Not of a shard: most of its tiles are rows of other shards' groups, without depth.
inline index_t parts_of_last(const KernelEntry& entry,
                             const Problem& p,
                             const Device& device,
                             const Options& options,
                             std::int64_t workspace_bytes) noexcept {
  const TileConfig& tile = config_row(entry.row).config;
  if (entry.cut_tile_bytes == 0 || !has_output(p) || p.variant != Variant::non_contracting ||
      p.slabs < p.group_count || options.whole_depth)
    return 1;
  const offset_t blocks = offset_t{entry.blocks_per_multiprocessor()} * device.multiprocessors;
  const offset_t tiles = likely_tiles(tile, p);
  const offset_t steps = ceil_div(p.depth, offset_t{tile.block_k});
  if (tiles <= blocks || tiles > most_rounds * blocks || steps < least_steps ||
      CutSums::bytes(blocks, entry.cut_tile_bytes) > workspace_bytes)
    return 1;
  return static_cast<index_t>(min_of(steps / least_steps_of_part, offset_t{most_parts_of_last}));
}

inline bool in_bucket(const ConfigRow& row, const Problem& p) noexcept {
  const offset_t extent = p.mean_group_extent();
  if (row.gathers && !p.gathers) return false;
  if (row.half_out && p.out_dtype != DType::bf16 && p.out_dtype != DType::f16) return false;
  return extent >= row.mean_extent_at_least && extent <= row.mean_extent_at_most;
}

inline Status finish_plan(Plan& plan, const Device& device) noexcept {
  const TileConfig& tile = config_row(plan.kernel.row).config;
  plan.order = tile_order_for(
      plan.problem.mean_group_extent(), plan.problem.cols, tile.supergroup, device.chiplets);
  const offset_t tiles =
      has_output(plan.problem) ? plan.kernel.tiles_at_most(arguments_of(plan.problem)) : 0;
  const offset_t all_tiles = plan.cuts_last ? tiles : tiles * plan.parts;
  const offset_t needed = plan.problem.has_fault ? max_of(all_tiles, offset_t{1}) : all_tiles;
  const index_t resident = plan.kernel.blocks_per_multiprocessor() * device.multiprocessors;
  if (resident <= 0)
    return {StatusCode::no_kernel,
            config_row(plan.kernel.row).name,
            0,
            1,
            "the device cannot hold one block of this kernel"};
  plan.blocks = static_cast<index_t>(min_of(needed, offset_t{resident}));
  return {};
}

}  // namespace detail

/// Chooses the first row of the config table that fits and whose kernel this program holds.
///
/// Errors: those of validate(), platform_not_compiled, no_device, unsupported_dtypes, no_kernel,
/// no_fast_kernel, config_not_applicable, workspace_too_small.
/// Cost: attribute queries, cached by device; no device work.
inline Result<Plan> make_plan(const Problem& problem,
                              const Options& options,
                              const KernelSet& set) noexcept {
  if (const Status status = validate(problem); !status.ok()) return status;
  if (set.device == nullptr)
    return Status{StatusCode::platform_not_compiled,
                  "options.platform",
                  static_cast<std::int64_t>(options.platform),
                  0,
                  "compile the caller with this platform's compiler, or link raggedgemm::compiled"};
  const Result<Device> device = set.device();
  if (!device.ok()) return device.status();
  if (set.count == 0)
    return Status{StatusCode::unsupported_dtypes,
                  "lhs, rhs, out",
                  static_cast<std::int64_t>(problem.out_dtype),
                  0,
                  "no kernel of this program multiplies these dtypes"};
  Plan plan;
  plan.problem = problem;
  plan.platform = set.platform;
  plan.arch = device.value().arch;
  bool some_fit = false;
  const KernelEntry* second_choice = nullptr;  // fits, but in another bucket
  for (index_t i = 0; i < set.count; ++i) {
    const KernelEntry& entry = set.entries[i];
    const ConfigRow& row = config_row(entry.row);
    if (options.config_row >= 0 && options.config_row != entry.row) continue;
    plan.copies = {};
    if (detail::why_not(row, problem, device.value()) != nullptr) {
      plan.copies = detail::copies_for(entry, problem, options);
      const Problem aligned = detail::with_copies(problem, plan.copies);
      if (!plan.copies.any() || detail::why_not(row, aligned, device.value()) != nullptr) continue;
    }
    if (options.selection == Selection::require_fast && !row.fast) continue;
    const std::int64_t left =
        options.workspace_bytes - detail::bytes_of_copies(problem, plan.copies);
    plan.parts = detail::parts_of(entry, problem, device.value(), options, left);
    if (plan.parts == 0) continue;
    some_fit = true;
    if (!entry.present()) continue;
    if (options.config_row >= 0 || detail::in_bucket(row, problem)) {
      plan.kernel = entry;
      if (plan.parts == 1)
        plan.parts = detail::parts_of_last(entry, problem, device.value(), options, left);
      plan.cuts_last = plan.parts > 1 && !row.config.splits;
      if (const Status status = detail::finish_plan(plan, device.value()); !status.ok())
        return status;
      return plan;
    }
    if (second_choice == nullptr && plan.parts == 1 && !plan.copies.any()) second_choice = &entry;
  }
  if (second_choice != nullptr) {
    plan.kernel = *second_choice;
    plan.parts = 1;
    plan.copies = {};
    if (const Status status = detail::finish_plan(plan, device.value()); !status.ok())
      return status;
    return plan;
  }
  if (some_fit)
    return Status{StatusCode::no_kernel,
                  name_of(device.value().arch),
                  0,
                  1,
                  "this binary holds no code for the device; rebuild for it (Hopper: "
                  "-gencode=arch=compute_90a,code=sm_90a; CDNA: --offload-arch)"};
  if (options.config_row >= 0)
    return Status{StatusCode::config_not_applicable,
                  "options.config_row",
                  options.config_row,
                  config_rows - 1,
                  "the row does not exist here or cannot run this problem; explain() says why"};
  if (options.selection == Selection::require_fast)
    return Status{StatusCode::no_fast_kernel,
                  "options.selection",
                  0,
                  1,
                  "only slow kernels fit this problem; explain() says why"};
  return Status{StatusCode::no_kernel, name_of(device.value().arch), 0, 1, "no row fits"};
}

/// What a plan does, in a few lines for people: the row chosen and why, the grid, the tile order,
/// and for every faster row ahead of it why it was passed over.
inline std::string explain(const Plan& plan, const KernelSet& set) {
  const Problem& p = plan.problem;
  const ConfigRow& chosen = config_row(plan.kernel.row);
  char line[512];
  std::snprintf(line,
                sizeof line,
                "%s %s·%s→%s, layout %s, rows %lld, cols %lld, depth %lld, slabs %lld\n",
                name_of(p.variant),
                name_of(p.lhs_dtype),
                name_of(p.rhs_dtype),
                name_of(p.out_dtype),
                name_of(layout_of(p)),
                static_cast<long long>(p.rows),
                static_cast<long long>(p.cols),
                static_cast<long long>(p.depth),
                static_cast<long long>(p.slabs));
  std::string text = line;
  std::snprintf(
      line,
      sizeof line,
      "  runs on %s (%s) with row %d %s: engine %s, tile %dx%dx%d, %d blocks, %s bands of "
      "%d, %d chiplets%s; provenance: %s\n",
      name_of(plan.platform),
      name_of(plan.arch),
      plan.kernel.row,
      chosen.name,
      name_of(chosen.config.engine),
      chosen.config.block_m,
      chosen.config.block_n,
      chosen.config.block_k,
      plan.blocks,
      plan.order.column_bands != 0 ? "column" : "row",
      plan.order.supergroup,
      plan.order.chiplets,
      chosen.fast ? "" : "; SLOW: no matrix instructions",
      chosen.provenance);
  text += line;
  if (plan.copies.any()) {
    std::snprintf(line,
                  sizeof line,
                  "  %s %s to lines of 16 bytes first; %lld bytes of workspace\n",
                  plan.copies.gathers ? "gathers" : "copies",
                  !plan.copies.b  ? "lhs"
                  : plan.copies.a ? "lhs and rhs"
                                  : "rhs",
                  static_cast<long long>(detail::bytes_of_copies(p, plan.copies)));
    text += line;
  }
  if (plan.parts > 1) {
    std::snprintf(line,
                  sizeof line,
                  "  depth%s in %s%d parts, added up by a second kernel; %lld bytes of workspace\n",
                  plan.cuts_last ? " of the last round's tiles" : "",
                  plan.cuts_last ? "up to " : "",
                  plan.parts,
                  static_cast<long long>(workspace_bytes(plan)));
    text += line;
  }
  if (chosen.config.engine == EngineId::tma_wgmma && !chosen.config.splits) {
    const char* const reason =
        p.scatters ? "scatters"
                   : arch::sm90::why_not_tma_store(
                         p.d, bytes_of(p.out_dtype), p.d_alignment_bytes, p.rows, p.cols, p.slabs);
    if (reason != nullptr) {
      std::snprintf(
          line, sizeof line, "  out is stored by the lanes, not the copy engine: %s\n", reason);
      text += line;
    }
  }
  const Result<Device> device = set.device != nullptr ? set.device() : Result<Device>(Device{});
  for (index_t row = 0; row < config_rows && device.ok(); ++row) {
    if (row == plan.kernel.row) continue;
    if (platform_of(config_row(row).arch) != plan.platform) continue;
    if (row > plan.kernel.row && chosen.fast) break;
    const char* reason = detail::why_not(config_row(row), p, device.value());
    if (reason == nullptr) {
      reason =
          "is not in this program (header-only use holds the core rows; link "
          "raggedgemm::compiled for all)";
      for (index_t i = 0; i < set.count; ++i) {
        if (set.entries[i].row != row) continue;
        reason = !set.entries[i].present() ? "has no code in this binary; rebuild with 90a"
                 : config_row(row).config.splits
                     ? "splits the depth: for fewer tiles or more depth, and options.workspace"
                     : "is for another group extent, output or lhs, or was not forced";
      }
    }
    std::snprintf(line, sizeof line, "  row %d %s %s\n", row, config_row(row).name, reason);
    text += line;
  }
  return text;
}

}  // namespace raggedgemm
