// SPDX-License-Identifier: Apache-2.0
// bit_as: std::bit_cast that device code may call.
#pragma once

#include "raggedgemm/base/macros.hpp"

namespace raggedgemm {

/// The bits of `value` read as a `To` of the same size.
template <class To, class From>
RG_HOST_DEVICE constexpr To bit_as(const From& value) noexcept {
  static_assert(sizeof(To) == sizeof(From), "bit_as needs two types of the same size");
  return __builtin_bit_cast(To, value);
}

}  // namespace raggedgemm
