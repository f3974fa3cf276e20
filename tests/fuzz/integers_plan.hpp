// SPDX-License-Identifier: Apache-2.0
// The integer mode's checks of plans: their text, whole and damaged, and canonicalise with garbage.
#pragma once

#include <cstring>

#include "fuzz/built.hpp"
#include "raggedgemm/plan/plan.hpp"
#include "raggedgemm/plan/select.hpp"
#include "raggedgemm/plan/serialise.hpp"
#include "raggedgemm/platform/runtime_host.hpp"

namespace fuzz {
namespace integers {

/// A kernel set for the problem with the host's row and no kernel.
inline rg::KernelSet plan_kernels(const rg::Problem& p) {
  static rg::KernelEntry entry = [] {
    rg::KernelEntry e;
    e.row = host_config_row();
    e.present = []() noexcept { return true; };
    e.blocks_per_multiprocessor = []() noexcept { return index_t{1}; };
    e.tiles_at_most = [](const rg::Arguments&) noexcept { return offset_t{1}; };
    e.prepare = [](const rg::Arguments&, rg::EngineData&) noexcept { return rg::Status(); };
    return e;
  }();
  rg::KernelSet set;
  set.entries = &entry;
  set.count = 1;
  set.device = &rg::runtime::host::device;
  set.variant = p.variant;
  set.lhs_dtype = p.lhs_dtype;
  set.rhs_dtype = p.rhs_dtype;
  set.out_dtype = p.out_dtype;
  return set;
}

inline void check_plan_text(Input& in) {
  rg::Plan plan;
  plan.kernel = plan_kernels({}).entries[0];
  rg::Problem& p = plan.problem;
  const auto extent = [&] { return in.one_in(8) ? in.hostile(100) : in.between(0, 300); };
  p.variant = static_cast<Variant>(in.byte() % 3);
  p.lhs_dtype = p.rhs_dtype = static_cast<rg::DType>(in.byte() % rg::dtype_count);
  p.rows = extent();
  p.cols = extent();
  p.depth = extent();
  p.slabs = extent();
  p.group_count = p.slabs;
  for (rg::Strides* strides : {&p.a, &p.b, &p.d, &p.c})
    *strides = {in.hostile(1), in.hostile(1), in.hostile(1)};
  for (rg::OuterDims* dims : {&p.instances, &p.segments}) {
    const std::int64_t rank = in.between(0, 6);
    for (std::int64_t i = 0; i < rank; ++i)
      dims->append(in.between(0, 5),
                   {in.hostile(1), in.hostile(1), in.hostile(1), in.hostile(1), in.hostile(1)});
  }
  std::uint64_t bits = in.word();
  std::memcpy(&p.alpha, &bits, sizeof bits);
  p.beta = in.pick({0.0, 0.1, -1e300, 1.0});
  p.has_c = in.one_in(2);
  p.gathers = in.one_in(2);
  p.lhs_extent = extent();
  p.scatters = in.one_in(2);
  p.out_extent = extent();
  p.has_fault = in.one_in(2);
  p.group_offset = in.one_in(2) ? in.hostile(3) & std::numeric_limits<std::int64_t>::max() : 0;
  plan.blocks = static_cast<index_t>(in.byte());
  plan.order = {static_cast<index_t>(in.byte() % 2), 8, 1};
  std::string text = rg::to_text(plan);
  const rg::Result<rg::Plan> read = rg::plan_from_text(text, plan_kernels(p));
  const rg::Status valid = rg::validate(p);
  if (read.ok() != valid.ok())
    fail("plan_from_text says " + read.status().message() + ", validate says " + valid.message() +
         ": " + text);
  if (read.ok())
    require(rg::to_text(read.value()) == text, "a plan's text changes when it is read");

  // A text that lost, gained or changed characters is refused, or is a plan with ranks in bounds.
  for (int edits = static_cast<int>(in.between(1, 3)); edits > 0; --edits) {
    const std::size_t at =
        static_cast<std::size_t>(in.between(0, static_cast<std::int64_t>(text.size()) - 1));
    const char what = in.pick({'9', '-', ' ', '0', '=', 'x', '7', '\0'});
    switch (in.byte() % 4) {
      case 0: text.erase(at, static_cast<std::size_t>(in.between(1, 20))); break;
      case 1: text.insert(at, 1, what); break;
      default: text[at] = what; break;
    }
    if (text.empty()) break;
  }
  const rg::Result<rg::Plan> spoiled = rg::plan_from_text(text, plan_kernels(p));
  if (spoiled.ok()) {
    const rg::Problem& q = spoiled.value().problem;
    for (const rg::OuterDims* dims : {&q.instances, &q.segments})
      require(dims->rank >= 0 && dims->rank <= rg::OuterDims::max_rank,
              "a plan's rank is out of bounds");
  } else {
    require(*spoiled.status().operand() != '\0', "a Status without an operand");
  }
}

inline void check_canonicalise(Input& in) {
  const bool wild = in.one_in(4);  // extents and strides of any size
  const auto extent = [&] { return wild && in.one_in(4) ? in.hostile(5) : in.between(0, 4); };
  rg::Tensor lhs;
  rg::Tensor rhs;
  rg::MutableTensor out;
  const auto fill = [&](auto& t) {
    t.rank = static_cast<index_t>(in.one_in(32) ? in.between(-2, 12) : in.between(0, 5));
    for (index_t d = 0; d < rg::max_rank; ++d) {
      t.extent[d] = extent();
      t.stride[d] = wild ? in.hostile(3) : in.between(0, 20);
    }
  };
  fill(lhs);
  fill(rhs);
  fill(out);
  rg::DimensionNumbers dims;
  for (rg::DimList* list : {&dims.lhs_contracting,
                            &dims.rhs_contracting,
                            &dims.lhs_batch,
                            &dims.rhs_batch,
                            &dims.lhs_ragged,
                            &dims.rhs_group}) {
    list->count = static_cast<index_t>(in.one_in(24) ? in.between(-3, 12) : in.between(0, 2));
    for (index_t i = 0; i < rg::max_rank; ++i)
      list->dim[i] = static_cast<index_t>(in.one_in(16) ? in.hostile(3) : in.between(0, 4));
  }
  if (!in.one_in(8)) dims.lhs_ragged.count = 1;
  rg::GroupTensor groups;
  groups.groups.kind = static_cast<GroupKind>(in.byte() % 4);
  groups.rank = static_cast<index_t>(in.one_in(8) ? in.between(-1, 10) : in.between(1, 3));
  for (offset_t& e : groups.extent) e = extent();
  rg::Options options;
  if (in.one_in(4)) options.group_offset = in.hostile(2);
  if (in.one_in(8)) options.tail = Tail::compute;
  static constexpr std::int32_t index[1] = {};  // never read
  if (in.one_in(3)) options.lhs_index = index;
  if (in.one_in(3)) options.out_index = index;
  if (in.one_in(8)) options.ragged_extent = extent();
  // Extents that agree, now and then, so that the later checks are reached.
  if (!in.one_in(4)) {
    for (index_t i = 0; i < 2; ++i) {
      const auto agree = [&](const rg::DimList& a, const rg::DimList& b) {
        if (i < a.count && i < b.count && a[i] >= 0 && a[i] < rg::max_rank && b[i] >= 0 &&
            b[i] < rg::max_rank)
          rhs.extent[b[i]] = lhs.extent[a[i]];
      };
      dims.rhs_batch.count = dims.lhs_batch.count;
      dims.rhs_contracting.count = dims.lhs_contracting.count;
      agree(dims.lhs_batch, dims.rhs_batch);
      agree(dims.lhs_contracting, dims.rhs_contracting);
    }
    if (dims.rhs_group.count == 1 && dims.rhs_group[0] >= 0 && dims.rhs_group[0] < rg::max_rank)
      rhs.extent[dims.rhs_group[0]] = groups.group_count();
  }
  rg::Result<rg::Problem> problem = rg::canonicalise(lhs, rhs, groups, out, dims, options);
  if (problem.status().code() == rg::StatusCode::extent_mismatch &&
      std::string(problem.status().operand()).rfind("out", 0) == 0) {
    // The output that it asks for, one extent after the other.
    for (int i = 0; i < 40 && problem.status().code() == rg::StatusCode::extent_mismatch; ++i) {
      if (std::string(problem.status().operand()) == "out rank") {
        require(problem.status().needed() <= 16, "a result of rank 16");
        if (problem.status().needed() > rg::max_rank) break;
        out.rank = static_cast<index_t>(problem.status().needed());
      } else {
        for (index_t d = 0; d < out.rank; ++d)
          if (out.extent[d] == problem.status().got()) {
            out.extent[d] = problem.status().needed();
            break;
          }
      }
      problem = rg::canonicalise(lhs, rhs, groups, out, dims, options);
    }
  }
  if (!problem.ok()) {
    require(*problem.status().operand() != '\0', "a Status without an operand");
    return;
  }
  const rg::Problem& p = problem.value();
  require(p.instances.rank <= rg::OuterDims::max_rank && p.segments.rank <= rg::OuterDims::max_rank,
          "canonicalise makes too many outer dimensions");
  (void)rg::validate(p);
  (void)rg::layout_of(p);
  if (wild) return;
  offset_t elems = 1;
  for (index_t d = 0; d < out.rank; ++d) elems *= out.extent[d];
  const offset_t slabs = p.variant == Variant::non_contracting ? 1 : p.slabs;
  const offset_t out_rows = p.scatters ? p.out_extent : p.rows;
  require(out_rows * p.cols * slabs * p.instances.count() == elems,
          "canonicalise changes the number of output elements");
  offset_t depth = 1;
  for (index_t i = 0; i < dims.lhs_contracting.count; ++i)
    depth *= rhs.extent[dims.rhs_contracting[i]];
  require(p.depth * p.segments.count() == depth || (depth == 0 && p.depth == 0),
          "canonicalise changes the depth");
}

}  // namespace integers
}  // namespace fuzz
