// SPDX-License-Identifier: Apache-2.0
// Plan: the config chosen for a problem, without pointers; and the bound call made from it.
#pragma once

#include <string>
#include <type_traits>

#include "raggedgemm/dispatch/config_table.hpp"
#include "raggedgemm/dispatch/kernel_entry.hpp"

namespace raggedgemm {

/// How a problem will run on one device: pointer-free and trivially copyable.
struct Plan {
  Problem problem;
  KernelEntry kernel;  ///< the kernel chosen, of this process
  Platform platform = Platform::host;
  Arch arch = Arch::host;  ///< of the device planned for
  index_t blocks = 0;      ///< grid size; 0: nothing to do
  TileOrder order;
};
static_assert(std::is_trivially_copyable_v<Plan>);

/// Pointers of a call, in the terms of Problem.
struct Pointers {
  const void* a = nullptr;
  const void* b = nullptr;
  void* d = nullptr;
  Groups groups;
};

/// A plan with pointers: everything a launch needs. Trivially copyable; a copy launches, too.
struct BoundCall {
  Arguments arguments;
  EngineData engine_data;
  KernelEntry kernel;
  index_t blocks = 0;
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

/// Device memory that a call of this plan needs: none, for every engine so far.
inline std::int64_t workspace_bytes(const Plan&) noexcept { return 0; }

/// Puts pointers into a plan (and, for Hopper, makes the tensor maps).
///
/// Requires: operands of the plan's problem, each at least as aligned as it says.
/// Errors: null_pointer, misaligned, plan_mismatch, vendor_error. Cost: no device work.
inline Result<BoundCall> bind(const Plan& plan, const Pointers& pointers) noexcept {
  const Problem& p = plan.problem;
  struct Operand {
    const char* name;
    const void* data;
    bool needed;
    std::int32_t alignment_bytes;
  };
  const bool contracting = p.variant == Variant::contracting;
  const bool has_slabs = p.variant == Variant::non_contracting || p.slabs > 0;
  const bool has_out = p.rows > 0 && p.cols > 0 && has_slabs;
  const Operand operands[] = {
      {"lhs", pointers.a, has_out && p.depth > 0, p.a_alignment_bytes},
      {"rhs",
       pointers.b,
       has_out && p.depth > 0 && (contracting || p.slabs > 0),
       p.b_alignment_bytes},
      {"out", pointers.d, has_out, p.d_alignment_bytes},
      {"group_sizes", pointers.groups.data, has_out && p.group_count > 0, 1}};
  for (const Operand& operand : operands) {
    if (operand.needed && operand.data == nullptr)
      return Status{StatusCode::null_pointer, operand.name, 0, 1, "the operand has elements"};
    if (operand.needed && detail::alignment_of(operand.data) < operand.alignment_bytes)
      return Status{StatusCode::misaligned,
                    operand.name,
                    detail::alignment_of(operand.data),
                    operand.alignment_bytes,
                    "bytes of alignment; make a plan for pointers aligned like this"};
  }
  if (pointers.groups.count != p.group_count)
    return Status{
        StatusCode::plan_mismatch, "group_sizes", pointers.groups.count, p.group_count, "entries"};
  BoundCall call;
  call.arguments = detail::arguments_of(p);
  call.arguments.a.data = pointers.a;
  call.arguments.b.data = pointers.b;
  call.arguments.d.data = pointers.d;
  call.arguments.groups = pointers.groups;
  call.arguments.order = plan.order;
  call.kernel = plan.kernel;
  call.blocks = plan.blocks;
  if (plan.blocks > 0) {
    const Status prepared = plan.kernel.prepare(call.arguments, call.engine_data);
    if (!prepared.ok()) return prepared;
  }
  return call;
}

/// Enqueues a bound call on a stream (the host: runs it). The epilogue is the one that the plan's
/// kernel was instantiated for. One launch, no allocation, no synchronisation.
inline Status run(const BoundCall& call, const void* epilogue, void* stream) noexcept {
  if (call.blocks == 0) return {};
  return call.kernel.launch(call.arguments, call.engine_data, epilogue, call.blocks, stream);
}

}  // namespace raggedgemm
