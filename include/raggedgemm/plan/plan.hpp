// SPDX-License-Identifier: Apache-2.0
// Plan: the config chosen for a problem, without pointers; and the bound call made from it.
#pragma once

#include <cstdint>
#include <string>
#include <type_traits>

#include "raggedgemm/dispatch/config_table.hpp"
#include "raggedgemm/dispatch/kernel_entry.hpp"
#include "raggedgemm/plan/aligned_copies.hpp"
#include "raggedgemm/schedule/cut_order.hpp"

namespace raggedgemm {

/// Of the depth of a call, at most.
inline constexpr index_t most_parts = 32;

/// How a problem will run on one device: pointer-free and trivially copyable.
struct Plan {
  Problem problem;
  KernelEntry kernel;  ///< the kernel chosen, of this process
  Platform platform = Platform::host;
  Arch arch = Arch::host;  ///< of the device planned for
  index_t blocks = 0;      ///< grid size; 0: nothing to do
  index_t parts = 1;       ///< of the depth, each with sums of its own in the workspace
  bool cuts_last = false;  ///< only tiles of the last round are cut, in `parts` at most
  AlignedCopies copies;    ///< of operands, made in the workspace before the product
  TileOrder order;
};
static_assert(std::is_trivially_copyable_v<Plan>);

/// Pointers of a call, in the terms of Problem.
struct Pointers {
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
  Groups groups;
  const void* c = nullptr;  ///< null: d
  const float* group_alpha = nullptr;
  const std::int32_t* lhs_index = nullptr;
  const std::int32_t* out_index = nullptr;
  Fault* fault = nullptr;
  void* workspace = nullptr;
};

/// A plan with pointers: everything a launch needs. Trivially copyable; a copy launches, too.
struct BoundCall {
  Arguments arguments;
  EngineData engine_data;
  KernelEntry kernel;
  index_t blocks = 0;
  CopyLines copies[2];  ///< made first
  index_t copy_count = 0;
};
static_assert(std::is_trivially_copyable_v<BoundCall>);

namespace detail {

/// The largest power of two up to 16 that divides the address.
inline std::int32_t alignment_of(const void* pointer) noexcept {
  const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(pointer);
  std::int32_t alignment = 16;
  while (alignment > 1 && address % static_cast<std::uintptr_t>(alignment) != 0) alignment /= 2;
  return alignment;
}

inline Arguments arguments_of(const Problem& p) noexcept {
  Arguments arguments;
  arguments.a.stride = p.a;
  arguments.b.stride = p.b;
  arguments.d.stride = p.d;
  arguments.c.stride = p.c;
  arguments.group_offset = p.group_offset;
  arguments.lhs_extent = p.lhs_extent;
  arguments.out_extent = static_cast<std::uint32_t>(min_of(p.out_extent, offset_t{1} << 31));
  arguments.groups.count = p.group_count;
  arguments.groups.kind = p.group_kind;
  arguments.rows = p.rows;
  arguments.cols = p.cols;
  arguments.depth = p.depth;
  arguments.slabs = p.slabs;
  arguments.instances = p.instances;
  arguments.segments = p.segments;
  arguments.alpha = p.alpha;
  arguments.beta = p.beta;
  arguments.tail = p.tail;
  return arguments;
}

}  // namespace detail

/// Fills in what a problem and its pointers take from the options, and the pointers' alignment.
inline void complete(Problem& p, Pointers& pointers, const Options& options) noexcept {
  p.group_count = pointers.groups.count;
  p.group_kind = pointers.groups.kind;
  p.a_alignment_bytes = detail::alignment_of(pointers.a);
  p.b_alignment_bytes = detail::alignment_of(pointers.b);
  p.d_alignment_bytes = detail::alignment_of(pointers.d);
  p.allow_tf32 = options.allow_tf32;
  p.alpha = options.alpha;
  p.beta = options.beta;
  p.tail = options.tail;
  p.has_c = options.c.data != nullptr;
  if (!p.has_c) p.c = p.d;
  p.has_group_alpha = options.group_alpha != nullptr;
  p.gathers = options.lhs_index != nullptr;
  p.scatters = options.out_index != nullptr;
  p.group_offset = options.group_offset > 0 ? options.group_offset : 0;
  p.has_fault = options.fault != nullptr;
  pointers.c = options.c.data;
  pointers.group_alpha = options.group_alpha;
  pointers.lhs_index = options.lhs_index;
  pointers.out_index = options.out_index;
  pointers.fault = options.fault;
  pointers.workspace = options.workspace;
}

namespace detail {

/// Elements of the sums of one part of the depth.
inline offset_t elems_of_part(const Problem& p) noexcept {
  const offset_t slabs = p.variant == Variant::non_contracting ? 1 : p.slabs;
  return saturating_product(saturating_product(slabs, p.rows), p.cols);
}

}  // namespace detail

/// Device memory that a call of this plan needs: for copies of operands, for partial sums where it
/// splits the depth, of all tiles or of those of the last round; else none.
inline std::int64_t workspace_bytes(const Plan& plan) noexcept {
  const std::int64_t copies = detail::bytes_of_copies(plan.problem, plan.copies);
  std::int64_t sums = 0;
  if (plan.cuts_last)
    sums = CutSums::bytes(plan.blocks, plan.kernel.cut_tile_bytes);
  else if (plan.parts > 1)
    sums = detail::saturating_product(detail::elems_of_part(plan.problem),
                                      offset_t{plan.parts} * plan.kernel.partial_bytes);
  return copies > INT64_MAX - sums ? INT64_MAX : copies + sums;
}

/// Whether the options bring what the plan needs. Errors: workspace_too_small.
inline Status check_workspace(const Plan& plan, const Options& options) noexcept {
  const std::int64_t needed = workspace_bytes(plan);
  if (needed <= options.workspace_bytes) return {};
  return {StatusCode::workspace_too_small,
          "options.workspace_bytes",
          options.workspace_bytes,
          needed,
          "bytes; without a forced row no call needs any"};
}

/// Puts pointers into a plan (and, for Hopper, makes the tensor maps).
///
/// Requires: operands of the plan's problem, each at least as aligned as it says and as its
/// elements. Errors: null_pointer, misaligned, plan_mismatch, vendor_error. Cost: no device work.
inline Result<BoundCall> bind(const Plan& plan, const Pointers& pointers) noexcept {
  const Problem& p = plan.problem;
  struct Operand {
    const char* name;
    const void* data;
    bool needed;
    std::int32_t alignment_bytes;
  };
  const bool contracting = p.variant == Variant::contracting;
  const bool has_out = has_output(p);
  const bool has_depth = p.depth > 0 && p.segments.count() > 0;
  const bool has_lhs = has_depth && !(p.gathers && p.lhs_extent == 0);
  // A prefix dimension of extent 0 leaves no row of the group description.
  const bool has_group_rows = p.instances.group_rows() > 0 && p.segments.group_rows() > 0;
  const auto given = [has_out](const void* pointer) { return has_out && pointer != nullptr; };
  constexpr std::int32_t word = 4;  // bytes of a float and of an index
  const Operand operands[] = {
      {"lhs", pointers.a, has_out && has_lhs, max_of(p.a_alignment_bytes, bytes_of(p.lhs_dtype))},
      {"rhs",
       pointers.b,
       has_out && has_depth && (contracting || p.slabs > 0),
       max_of(p.b_alignment_bytes, bytes_of(p.rhs_dtype))},
      {"out", pointers.d, has_out, max_of(p.d_alignment_bytes, bytes_of(p.out_dtype))},
      {"group_sizes",
       pointers.groups.data,
       p.group_count > 0 && has_group_rows && (has_out || p.has_fault),
       bytes_of(pointers.groups.type)},
      {"options.c", pointers.c, given(pointers.c), bytes_of(p.out_dtype)},
      {"options.group_alpha", pointers.group_alpha, given(pointers.group_alpha), word},
      {"options.lhs_index", pointers.lhs_index, given(pointers.lhs_index), word},
      {"options.out_index", pointers.out_index, given(pointers.out_index), word},
      {"options.fault", pointers.fault, pointers.fault != nullptr, 8},
      {"options.workspace", pointers.workspace, workspace_bytes(plan) > 0, 16}};
  for (const Operand& operand : operands) {
    if (operand.needed && operand.data == nullptr)
      return Status{StatusCode::null_pointer, operand.name, 0, 1, "the call reads or writes it"};
    if (operand.needed && detail::alignment_of(operand.data) < operand.alignment_bytes)
      return Status{StatusCode::misaligned,
                    operand.name,
                    detail::alignment_of(operand.data),
                    operand.alignment_bytes,
                    "bytes of alignment: those of an element, or what the plan was made for"};
  }
  if (pointers.groups.count != p.group_count)
    return Status{
        StatusCode::plan_mismatch, "group_sizes", pointers.groups.count, p.group_count, "entries"};
  struct Optional {
    const char* name;
    bool given;
    bool planned;
  };
  for (const Optional& o :
       {Optional{"options.c", pointers.c != nullptr, p.has_c},
        Optional{"options.group_alpha", pointers.group_alpha != nullptr, p.has_group_alpha},
        Optional{"options.lhs_index", pointers.lhs_index != nullptr, p.gathers},
        Optional{"options.out_index", pointers.out_index != nullptr, p.scatters},
        Optional{"options.fault", pointers.fault != nullptr, p.has_fault}})
    if (o.given != o.planned)
      return Status{StatusCode::plan_mismatch, o.name, o.given, o.planned, "given or not"};
  BoundCall call;
  call.arguments = detail::arguments_of(p);
  call.arguments.a.data = pointers.a;
  call.arguments.b.data = pointers.b;
  call.arguments.d.data = pointers.d;
  call.arguments.c.data = pointers.c != nullptr ? pointers.c : pointers.d;
  call.arguments.group_alpha = pointers.group_alpha;
  call.arguments.lhs_index = pointers.lhs_index;
  call.arguments.out_index = pointers.out_index;
  call.arguments.fault = pointers.fault;
  call.arguments.groups = pointers.groups;
  if (!has_group_rows) call.arguments.groups.kind = GroupKind::none;  // nothing to read
  if (!has_out) call.arguments.cols = 0;                              // a fault report at most
  call.arguments.order = plan.order;
  unsigned char* free_space = static_cast<unsigned char*>(pointers.workspace);
  const auto copy = [&](auto& operand, const detail::OperandLines& lines, DType dtype) {
    CopyLines& made = call.copies[call.copy_count++];
    made = detail::copy_of(lines, dtype, operand.data, free_space);
    operand.data = free_space;
    operand.stride = lines.copied();
    free_space += lines.bytes(dtype);
    return &made;
  };
  if (plan.copies.a && has_out && has_depth) {
    const detail::OperandLines lines = detail::lines_of_a(p, plan.copies.gathers);
    CopyLines* const made = copy(call.arguments.a, lines, p.lhs_dtype);
    if (plan.copies.gathers) {
      made->index = pointers.lhs_index;
      made->index_extent = p.lhs_extent;
      made->index_of_slabs = p.variant == Variant::batch;
      call.arguments.lhs_index = nullptr;
    }
  }
  if (plan.copies.b && has_out && has_depth) {
    CopyLines* const made = copy(call.arguments.b, detail::lines_of_b(p), p.rhs_dtype);
    if (p.variant == Variant::non_contracting && p.b.slab != 0) {
      made->groups = call.arguments.groups;
      made->group_offset = p.group_offset;
      made->ragged_extent = p.rows;
    }
  }
  call.arguments.partials = {
      free_space,
      plan.parts,
      detail::elems_of_part(p),
      p.variant == Variant::non_contracting ? 0 : detail::saturating_product(p.rows, p.cols),
      plan.cuts_last ? plan.blocks : 0};
  call.kernel = plan.kernel;
  call.blocks = plan.blocks;
  if (plan.blocks > 0) {
    const Status prepared = plan.kernel.prepare(call.arguments, call.engine_data);
    if (!prepared.ok()) return prepared;
  }
  return call;
}

/// Enqueues a bound call on a stream (the host: runs it). The epilogue is the one that the plan's
/// kernel was instantiated for. One launch (more where the plan copies operands or
/// splits the depth), no allocation, no synchronisation.
inline Status run(const BoundCall& call, const void* epilogue, void* stream) noexcept {
  if (call.blocks == 0) return {};
  for (index_t i = 0; i < call.copy_count; ++i)
    if (const Status status = call.kernel.copy_lines(call.copies[i], stream); !status.ok())
      return status;
  return call.kernel.launch(call.arguments, call.engine_data, epilogue, call.blocks, stream);
}

}  // namespace raggedgemm
