// SPDX-License-Identifier: Apache-2.0
// check_groups: finds the first fault of a group description, for the optional fault report.
// One wave reads every entry once; results of the call do not depend on it.
#pragma once

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/problem/group_sizes.hpp"
#include "raggedgemm/problem/options.hpp"
#include "raggedgemm/problem/outer_dims.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {

/// Fault of one group with these bounds, whose clamped predecessors sum to `before`.
RG_HOST_DEVICE inline Fault fault_of(GroupKind kind,
                                     const Groups::Bounds& bounds,
                                     offset_t group,
                                     offset_t before,
                                     offset_t extent) {
  Fault fault;
  fault.group = group;
  fault.value = bounds.upper;
  if (bounds.upper < bounds.lower) {
    fault.code =
        kind == GroupKind::sizes ? FaultCode::negative_size : FaultCode::decreasing_offsets;
  } else if (Groups::size_between(bounds, extent + 1) > extent - before) {
    fault.code = FaultCode::sum_exceeds_extent;
    fault.value = before + Groups::size_between(bounds, offset_t{1} << 62);
  }
  return fault;
}

/// Writes the first fault, or FaultCode::none. The rows of the description are those of the
/// instances, one after the other, each with those of the segments. All lanes of one wave call
/// together.
RG_EXEC_CHECK_DISABLE
template <class Wave>
RG_HOST_DEVICE void check_groups(const Groups& description,
                                 offset_t extent,
                                 const OuterDims& instances,
                                 const OuterDims& segments,
                                 Fault* report) {
  const offset_t segment_rows = segments.group_rows();
  const offset_t rows =
      description.kind == GroupKind::none ? 0 : instances.group_rows() * segment_rows;
  RG_NO_UNROLL
  for (offset_t row = 0; row < rows; ++row) {
    Groups groups = description;
    groups.first_entry +=
        instances.group_row(row / segment_rows) + segments.group_row(row % segment_rows);
    offset_t sum = 0;
    RG_NO_UNROLL
    for (offset_t window = 0; window < groups.count; window += Wave::lanes) {
      const offset_t group = window + Wave::lane();
      const bool in_range = group < groups.count;
      const Groups::Bounds bounds = in_range ? groups.bounds(group) : Groups::Bounds{};
      const offset_t size = Groups::size_between(bounds, extent);
      const offset_t end = Wave::inclusive_sum(size);
      const offset_t before = min_of(sum + end - size, extent);
      const Fault fault = in_range ? fault_of(groups.kind, bounds, group, before, extent) : Fault{};
      const std::uint64_t faulty = Wave::ballot(fault.code != FaultCode::none);
      if (faulty != 0) {
        if (fault.code != FaultCode::none && Wave::lane() == Wave::first_set(faulty)) {
          *report = fault;
          report->group += row * groups.count;
        }
        return;
      }
      sum = min_of(sum + Wave::broadcast(end, Wave::lanes - 1), extent);
    }
  }
  if (Wave::lane() == 0) *report = Fault{};
}

}  // namespace RG_PLATFORM
}  // namespace raggedgemm
