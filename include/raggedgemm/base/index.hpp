// SPDX-License-Identifier: Apache-2.0
// Index types and the little integer arithmetic that every layer needs.
// index_t counts inside a tile; offset_t is any element offset from a global pointer (past 2^31).
#pragma once

#include <cstdint>

#include "raggedgemm/base/macros.hpp"

namespace raggedgemm {

using index_t = std::int32_t;
using offset_t = std::int64_t;

/// ceil(a / b) for a >= 0, b > 0.
template <class Int>
RG_HOST_DEVICE constexpr Int ceil_div(Int a, Int b) {
  return (a + b - 1) / b;
}

/// The least multiple of b that is >= a, for a >= 0, b > 0.
template <class Int>
RG_HOST_DEVICE constexpr Int round_up(Int a, Int b) {
  return ceil_div(a, b) * b;
}

template <class Int>
RG_HOST_DEVICE constexpr Int min_of(Int a, Int b) {
  return b < a ? b : a;
}

template <class Int>
RG_HOST_DEVICE constexpr Int max_of(Int a, Int b) {
  return a < b ? b : a;
}

}  // namespace raggedgemm
