// SPDX-License-Identifier: Apache-2.0
// The fault report of a call: what every kernel does once, whatever its engine.
#pragma once

#include "raggedgemm/problem/problem.hpp"
#include "raggedgemm/schedule/group_check.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace dispatch {

/// The extent of the ragged dimension: what the groups divide.
template <class VariantType>
RG_HOST_DEVICE offset_t ragged_extent(const Arguments& p) {
  return VariantType::variant == Variant::contracting ? p.depth
         : VariantType::variant == Variant::batch     ? p.slabs
                                                      : p.rows;
}

/// Fills in the fault report, where the call asks for one. All lanes of one wave call together.
RG_EXEC_CHECK_DISABLE
template <class VariantType, class Wave>
RG_HOST_DEVICE void report_fault(const Arguments& p) {
  if (p.fault != nullptr)
    check_groups<Wave>(p.groups, ragged_extent<VariantType>(p), p.instances, p.segments, p.fault);
}

}  // namespace dispatch
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
