// SPDX-License-Identifier: Apache-2.0
// Plans as text: one line of key=value pairs, for logs and for caches that outlive a process.
// Pointers are never written; reading finds the kernel of the same config row in this program.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

#include "raggedgemm/plan/plan.hpp"

namespace raggedgemm {
namespace detail {

/// The fields of a plan, visited in one place so that writing and reading cannot differ.
template <class P, class Visitor>
void visit_plan(P& plan, Visitor&& visit) {
  auto& p = plan.problem;
  visit("variant", p.variant);
  visit("lhs", p.lhs_dtype);
  visit("rhs", p.rhs_dtype);
  visit("out", p.out_dtype);
  visit("rows", p.rows);
  visit("cols", p.cols);
  visit("depth", p.depth);
  visit("slabs", p.slabs);
  visit("groups", p.group_count);
  visit("group_kind", p.group_kind);
  const auto strides = [&](const char* name, auto& s) {
    const std::string base(name);
    visit((base + ".slab").c_str(), s.slab);
    visit((base + ".row").c_str(), s.row);
    visit((base + ".col").c_str(), s.col);
  };
  strides("a", p.a);
  strides("b", p.b);
  strides("d", p.d);
  strides("c", p.c);
  const auto outer = [&](const char* name, auto& dims) {
    const std::string base(name);
    visit((base + ".rank").c_str(), dims.rank);
    for (index_t i = 0; i < dims.rank && i < OuterDims::max_rank; ++i) {
      const std::string at = base + "." + std::to_string(i);
      visit((at + ".extent").c_str(), dims.extent[i]);
      visit((at + ".a").c_str(), dims.stride[i].a);
      visit((at + ".b").c_str(), dims.stride[i].b);
      visit((at + ".d").c_str(), dims.stride[i].d);
      visit((at + ".c").c_str(), dims.stride[i].c);
      visit((at + ".groups").c_str(), dims.stride[i].groups);
    }
  };
  outer("instances", p.instances);
  outer("segments", p.segments);
  visit("a_align", p.a_alignment_bytes);
  visit("b_align", p.b_alignment_bytes);
  visit("d_align", p.d_alignment_bytes);
  visit("alpha", p.alpha);
  visit("beta", p.beta);
  visit("tail", p.tail);
  visit("has_c", p.has_c);
  visit("has_group_alpha", p.has_group_alpha);
  visit("gathers", p.gathers);
  visit("lhs_extent", p.lhs_extent);
  visit("scatters", p.scatters);
  visit("group_offset", p.group_offset);
  visit("platform", plan.platform);
  visit("arch", plan.arch);
  visit("blocks", plan.blocks);
  visit("column_bands", plan.order.column_bands);
  visit("supergroup", plan.order.supergroup);
  visit("chiplets", plan.order.chiplets);
}

/// Value of `key` in the text, or nullptr.
inline const char* find_value(const std::string& text, const char* key) {
  const std::string wanted = std::string(" ") + key + "=";
  const std::size_t at = text.find(wanted);
  return at == std::string::npos ? nullptr : text.c_str() + at + wanted.size();
}

/// Reads a value up to the next space; false for anything but one number that its type holds.
template <class T>
bool read_value(const char* found, T& value) {
  char* end = nullptr;
  bool fits = true;
  if constexpr (std::is_floating_point_v<T>) {
    value = std::strtod(found, &end);
  } else {
    errno = 0;
    const long long number = std::strtoll(found, &end, 10);
    value = static_cast<T>(number);
    fits = errno == 0 && static_cast<long long>(value) == number;
  }
  return fits && end != found && *found != ' ' && (*end == ' ' || *end == '\0');
}

/// Whether every field of a fixed range is inside it; validate() looks at the others.
inline bool enums_in_range(const Plan& plan) {
  const Problem& p = plan.problem;
  const auto in_range = [](auto value, std::int32_t count) {
    return static_cast<std::int32_t>(value) >= 0 && static_cast<std::int32_t>(value) < count;
  };
  return in_range(p.variant, variant_count) && in_range(p.lhs_dtype, dtype_count + 1) &&
         in_range(p.rhs_dtype, dtype_count + 1) && in_range(p.out_dtype, dtype_count + 1) &&
         in_range(p.group_kind, 4) && in_range(p.tail, 3) && p.group_offset >= 0 &&
         plan.blocks >= 0 && plan.order.supergroup > 0 && plan.order.chiplets > 0;
}

}  // namespace detail

/// The first word of a plan's text; changes whenever the fields do.
inline constexpr const char* plan_format = "raggedgemm-plan-1";

/// A plan as one line of text. Doubles are written in hexadecimal, so nothing is lost.
inline std::string to_text(const Plan& plan) {
  std::string text = plan_format;
  text += " row=";
  text += plan.kernel.row >= 0 ? config_row(plan.kernel.row).name : "none";
  detail::visit_plan(plan, [&text](const char* key, const auto& value) {
    char buffer[96];
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>)
      std::snprintf(buffer, sizeof buffer, " %s=%a", key, static_cast<double>(value));
    else
      std::snprintf(buffer, sizeof buffer, " %s=%lld", key, static_cast<long long>(value));
    text += buffer;
  });
  return text;
}

/// The plan of a text, with the kernel of the same row among `set`.
///
/// Requires: `set` holds the kernels of the plan's variant, dtypes and epilogue; it cannot say so.
/// Errors: plan_mismatch (another format, a field missing or out of its range, another platform),
/// those of validate(), no_kernel (this program does not hold the row, or not for this device).
inline Result<Plan> plan_from_text(const std::string& text, const KernelSet& set) {
  if (text.compare(0, std::strlen(plan_format), plan_format) != 0 ||
      text[std::strlen(plan_format)] != ' ')
    return Status{StatusCode::plan_mismatch, "plan text", 0, 1, "not a plan of this version"};
  Plan plan;
  bool whole = true;
  detail::visit_plan(plan, [&](const char* key, auto& value) {
    const char* const found = detail::find_value(text, key);
    whole = whole && found != nullptr && detail::read_value(found, value);
  });
  if (!whole || !detail::enums_in_range(plan))
    return Status{StatusCode::plan_mismatch, "plan text", 0, 1, "a field is missing or damaged"};
  const char* row_name = detail::find_value(text, "row");
  if (row_name == nullptr)
    return Status{StatusCode::plan_mismatch, "plan text", 0, 1, "a field is missing or damaged"};
  if (plan.platform != set.platform)
    return Status{StatusCode::plan_mismatch,
                  "plan platform",
                  static_cast<std::int64_t>(plan.platform),
                  static_cast<std::int64_t>(set.platform),
                  "the plan is for another platform"};
  for (const OuterDims* dims : {&plan.problem.instances, &plan.problem.segments})
    if (dims->rank < 0 || dims->rank > OuterDims::max_rank)
      return Status{StatusCode::plan_mismatch,
                    "plan rank",
                    dims->rank,
                    OuterDims::max_rank,
                    "the text is damaged"};
  if (const Status status = validate(plan.problem); !status.ok()) return status;
  for (index_t i = 0; i < set.count; ++i) {
    const KernelEntry& entry = set.entries[i];
    const char* name = config_row(entry.row).name;
    const std::size_t length = std::strlen(name);
    if (std::strncmp(row_name, name, length) != 0 || row_name[length] != ' ') continue;
    if (!entry.present()) continue;  // another architecture's row may have the same name
    plan.kernel = entry;
    return plan;
  }
  return Status{StatusCode::no_kernel, "plan row", 0, 1, "this program does not hold its kernel"};
}

}  // namespace raggedgemm
