// SPDX-License-Identifier: Apache-2.0
// Loops that are unrolled at compile time, for register arrays.
#pragma once

#include <utility>

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::simt {

/// An index as a type. Unlike std::integral_constant it converts in device code of every compiler.
template <index_t Value>
struct Constant {
  static constexpr index_t value = Value;
  RG_HOST_DEVICE constexpr operator index_t() const { return Value; }
};

/// f(Constant<0>), …, f(Constant<Count - 1>).
///
/// `#pragma unroll` gives up on large nests, and register arrays that it leaves with run-time
/// indices go to memory.
template <class F, index_t... Indices>
RG_HOST_DEVICE RG_FORCE_INLINE void unrolled(std::integer_sequence<index_t, Indices...>,
                                             const F& f) {
  (f(Constant<Indices>{}), ...);
}
template <index_t Count, class F>
RG_HOST_DEVICE RG_FORCE_INLINE void unrolled(const F& f) {
  unrolled(std::make_integer_sequence<index_t, Count>{}, f);
}

}  // namespace arch::simt
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
