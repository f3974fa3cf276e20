// SPDX-License-Identifier: Apache-2.0
// Checks that the extents of a call's views agree with each other and with its options.
#pragma once

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/base/status.hpp"
#include "raggedgemm/problem/group_sizes.hpp"
#include "raggedgemm/problem/options.hpp"

namespace raggedgemm::detail {

inline Status same_extent(const char* operand, offset_t got, offset_t needed, const char* advice) {
  if (got == needed) return {};
  return {StatusCode::extent_mismatch, operand, got, needed, advice};
}

/// The product's extent along the ragged dimension: `plain` from lhs; with a gather, where lhs may
/// have any extent, what the options or else another operand say.
inline offset_t ragged_extent_of(offset_t plain, offset_t other, const Options& options) {
  if (options.lhs_index == nullptr) return plain;
  return options.ragged_extent >= 0 ? options.ragged_extent : other;
}

/// options.ragged_extent, if given, is the product's.
inline Status check_ragged_extent(offset_t extent, const Options& options) {
  if (options.ragged_extent < 0) return {};
  return same_extent(
      "options.ragged_extent", options.ragged_extent, extent, "must be the product's extent");
}

/// The rows of out are the product's, unless a scatter decides where those go.
inline Status check_out_rows(
    const char* name, offset_t got, offset_t needed, const char* advice, const Options& options) {
  return options.out_index != nullptr ? Status{} : same_extent(name, got, needed, advice);
}

/// Groups and slabs agree, or the slabs are a shard of the groups.
inline Status check_groups(const Groups& groups, offset_t slabs, const Options& options) {
  if (options.group_offset < 0)
    return same_extent(
        "group_sizes", groups.count, slabs, "entries must equal the number of slabs");
  if (slabs > groups.count - options.group_offset)
    return {StatusCode::group_offset_out_of_range,
            "options.group_offset",
            options.group_offset,
            groups.count - slabs,
            "the shard's groups must lie inside the group description"};
  return {};
}

/// First failure of several checks.
template <class... Checks>
Status first_error(const Checks&... checks) {
  Status result;
  (void)((checks.ok() ? true : (result = checks, false)) && ...);
  return result;
}

}  // namespace raggedgemm::detail
