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

/// Name of a field: `field`, `base.field` or, for a dimension of a list, `base.at.field`.
struct FieldName {
  const char* base;
  index_t at;
  const char* field;
};

/// The fields of a plan, visited in one place so that writing and reading cannot differ.
template <class P, class Visitor>
void visit_plan(P& plan, Visitor& visit) {
  auto& p = plan.problem;
  const auto one = [&visit](const char* field, auto& value) {
    visit(FieldName{nullptr, -1, field}, value);
  };
  one("variant", p.variant);
  one("lhs", p.lhs_dtype);
  one("rhs", p.rhs_dtype);
  one("out", p.out_dtype);
  one("rows", p.rows);
  one("cols", p.cols);
  one("depth", p.depth);
  one("slabs", p.slabs);
  one("groups", p.group_count);
  one("group_kind", p.group_kind);
  const auto strides = [&visit](const char* base, auto& s) {
    visit(FieldName{base, -1, "slab"}, s.slab);
    visit(FieldName{base, -1, "row"}, s.row);
    visit(FieldName{base, -1, "col"}, s.col);
  };
  strides("a", p.a);
  strides("b", p.b);
  strides("d", p.d);
  strides("c", p.c);
  const auto outer = [&visit](const char* base, auto& dims) {
    visit(FieldName{base, -1, "rank"}, dims.rank);
    for (index_t i = 0; i < dims.rank && i < OuterDims::max_rank; ++i) {
      visit(FieldName{base, i, "extent"}, dims.extent[i]);
      visit(FieldName{base, i, "a"}, dims.stride[i].a);
      visit(FieldName{base, i, "b"}, dims.stride[i].b);
      visit(FieldName{base, i, "d"}, dims.stride[i].d);
      visit(FieldName{base, i, "c"}, dims.stride[i].c);
      visit(FieldName{base, i, "groups"}, dims.stride[i].groups);
    }
  };
  outer("instances", p.instances);
  outer("segments", p.segments);
  one("a_align", p.a_alignment_bytes);
  one("b_align", p.b_alignment_bytes);
  one("d_align", p.d_alignment_bytes);
  one("allow_tf32", p.allow_tf32);
  one("alpha", p.alpha);
  one("beta", p.beta);
  one("tail", p.tail);
  one("has_c", p.has_c);
  one("has_group_alpha", p.has_group_alpha);
  one("gathers", p.gathers);
  one("lhs_extent", p.lhs_extent);
  one("scatters", p.scatters);
  one("out_extent", p.out_extent);
  one("group_offset", p.group_offset);
  one("has_fault", p.has_fault);
  one("platform", plan.platform);
  one("arch", plan.arch);
  one("blocks", plan.blocks);
  one("parts", plan.parts);
  one("cuts_last", plan.cuts_last);
  one("copies_a", plan.copies.a);
  one("copies_b", plan.copies.b);
  one("copies_gather", plan.copies.gathers);
  one("column_bands", plan.order.column_bands);
  one("supergroup", plan.order.supergroup);
  one("chiplets", plan.order.chiplets);
}

// Plain functions on two types, so that the fifty fields cost a call each and no more.

/// Writes " name=" into the buffer; returns its length, cut at the end of the buffer.
inline std::size_t write_name(const FieldName& name, char* buffer, std::size_t bytes) {
  int length = 0;
  if (name.base == nullptr)
    length = std::snprintf(buffer, bytes, " %s=", name.field);
  else if (name.at < 0)
    length = std::snprintf(buffer, bytes, " %s.%s=", name.base, name.field);
  else
    length = std::snprintf(buffer, bytes, " %s.%d.%s=", name.base, name.at, name.field);
  return min_of(static_cast<std::size_t>(length), bytes - 1);
}

/// The value of a field in the text, or nullptr.
inline const char* find_value(const std::string& text, const FieldName& name) {
  char key[64];
  const std::size_t length = write_name(name, key, sizeof key);
  const std::size_t at = text.find(key);
  return at == std::string::npos ? nullptr : text.c_str() + at + length;
}

struct PlanWriter {
  std::string& text;

  void append(const FieldName& name, const char* value) {
    char key[64];
    text.append(key, write_name(name, key, sizeof key));
    text += value;
  }
  void write(const FieldName& name, long long value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%lld", value);
    append(name, digits);
  }
  void write_double(const FieldName& name, double value) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%a", value);
    append(name, digits);
  }

  template <class T>
  void operator()(const FieldName& name, const T& value) {
    if constexpr (std::is_floating_point_v<T>)
      write_double(name, value);
    else
      write(name, static_cast<long long>(value));
  }
};

struct PlanReader {
  const std::string& text;
  bool whole = true;  ///< every field was there, one number, that its type holds

  static bool ends(const char* begin, const char* end) {
    return end != begin && *begin != ' ' && (*end == ' ' || *end == '\0');
  }
  long long read(const FieldName& name) {
    const char* const found = find_value(text, name);
    char* end = nullptr;
    errno = 0;
    const long long value = found != nullptr ? std::strtoll(found, &end, 10) : 0;
    whole = whole && found != nullptr && errno == 0 && ends(found, end);
    return value;
  }
  double read_double(const FieldName& name) {
    const char* const found = find_value(text, name);
    char* end = nullptr;
    const double value = found != nullptr ? std::strtod(found, &end) : 0;
    whole = whole && found != nullptr && ends(found, end);
    return value;
  }

  template <class T>
  void operator()(const FieldName& name, T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      value = read_double(name);
    } else {
      const long long number = read(name);
      value = static_cast<T>(number);
      whole = whole && static_cast<long long>(value) == number;
    }
  }
};

/// Of a plan, far above what any device holds at once.
inline constexpr index_t most_blocks = 1 << 20;

/// Whether every field of a fixed range is inside it; validate() looks at the others.
inline bool enums_in_range(const Plan& plan) {
  const Problem& p = plan.problem;
  const auto in_range = [](auto value, std::int32_t count) {
    return static_cast<std::int32_t>(value) >= 0 && static_cast<std::int32_t>(value) < count;
  };
  return in_range(p.variant, variant_count) && in_range(p.lhs_dtype, dtype_count + 1) &&
         in_range(p.rhs_dtype, dtype_count + 1) && in_range(p.out_dtype, dtype_count + 1) &&
         in_range(p.group_kind, 4) && in_range(p.tail, 3) && p.group_offset >= 0 &&
         plan.blocks >= 0 && plan.blocks <= most_blocks && plan.parts > 0 &&
         plan.parts <= most_parts && (!plan.cuts_last || plan.blocks > 0) &&
         plan.order.supergroup > 0 && plan.order.chiplets > 0;
}

}  // namespace detail

/// The first word of a plan's text; changes whenever the fields do.
inline constexpr const char* plan_format = "raggedgemm-plan-4";

/// A plan as one line of text. Doubles are written in hexadecimal, so nothing is lost.
inline std::string to_text(const Plan& plan) {
  std::string text = plan_format;
  text += " row=";
  text += plan.kernel.row >= 0 ? config_row(plan.kernel.row).name : "none";
  detail::PlanWriter writer{text};
  detail::visit_plan(plan, writer);
  return text;
}

/// The plan of a text, with the kernel of the same row among `set`.
///
/// Requires: the kernels of `set` are for the epilogue that will be passed; they cannot say so.
/// Errors: plan_mismatch (another format, a field missing or out of its range, a set of another
/// platform, variant or dtypes), those of validate(), no_kernel (this program does not hold the
/// row, or not for this device).
inline Result<Plan> plan_from_text(const std::string& text, const KernelSet& set) {
  if (text.compare(0, std::strlen(plan_format), plan_format) != 0 ||
      text[std::strlen(plan_format)] != ' ')
    return Status{StatusCode::plan_mismatch, "plan text", 0, 1, "not a plan of this version"};
  Plan plan;
  detail::PlanReader reader{text};
  detail::visit_plan(plan, reader);
  if (!reader.whole || !detail::enums_in_range(plan))
    return Status{StatusCode::plan_mismatch, "plan text", 0, 1, "a field is missing or damaged"};
  const char* row_name = detail::find_value(text, {nullptr, -1, "row"});
  if (row_name == nullptr)
    return Status{StatusCode::plan_mismatch, "plan text", 0, 1, "a field is missing or damaged"};
  if (plan.platform != set.platform)
    return Status{StatusCode::plan_mismatch,
                  "plan platform",
                  static_cast<std::int64_t>(plan.platform),
                  static_cast<std::int64_t>(set.platform),
                  "the plan is for another platform"};
  if (!set.is_for(plan.problem))
    return Status{StatusCode::plan_mismatch,
                  "plan variant, lhs, rhs, out",
                  static_cast<std::int64_t>(plan.problem.variant),
                  static_cast<std::int64_t>(set.variant),
                  "the kernels are for another variant or other dtypes"};
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
    const bool splits = config_row(entry.row).config.splits;
    if (plan.cuts_last && (splits || entry.cut_tile_bytes == 0))
      return Status{
          StatusCode::plan_mismatch, "plan cuts_last", 1, 0, "the row does not cut its last tiles"};
    const bool in_parts = splits || plan.cuts_last;
    if (in_parts != (plan.parts > 1))
      return Status{StatusCode::plan_mismatch,
                    "plan parts",
                    plan.parts,
                    in_parts ? 2 : 1,
                    "two at least in a row that splits the depth, or that of its last tiles; one "
                    "in others"};
    if ((plan.copies.any() &&
         (entry.copy_lines == nullptr || layout_of(plan.problem) == Layout::strided)) ||
        (plan.copies.gathers && !(plan.copies.a && plan.problem.gathers)))
      return Status{StatusCode::plan_mismatch,
                    "plan copies",
                    1,
                    0,
                    "the row takes no copies of the operands"};
    plan.kernel = entry;
    return plan;
  }
  return Status{StatusCode::no_kernel, "plan row", 0, 1, "this program does not hold its kernel"};
}

}  // namespace raggedgemm
