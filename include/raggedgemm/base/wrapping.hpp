// SPDX-License-Identifier: Apache-2.0
// Arithmetic of accumulators: that of the type, except that signed integers wrap.
#pragma once

#include <cstdint>
#include <type_traits>

#include "raggedgemm/base/macros.hpp"

namespace raggedgemm::detail {

template <class T>
inline constexpr bool wraps = std::is_integral_v<T>&& std::is_signed_v<T> &&
                              sizeof(T) >= sizeof(int);  // else promoted

/// a + b. Signed integers wrap modulo 2^bits, where the operator would be undefined.
template <class T>
RG_HOST_DEVICE constexpr T add(T a, T b) {
  if constexpr (wraps<T>) {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Bits>(a) + static_cast<Bits>(b));
  } else {
    a += b;
    return a;
  }
}

/// a·b, which wraps like add().
template <class T>
RG_HOST_DEVICE constexpr T multiply(T a, T b) {
  if constexpr (wraps<T>) {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Bits>(a) * static_cast<Bits>(b));
  } else {
    return a * b;
  }
}

/// c + a·b, which wraps like add(); floats may be fused as the compiler sees fit.
template <class T>
RG_HOST_DEVICE constexpr T multiply_add(T a, T b, T c) {
  return add(c, multiply(a, b));
}

/// A double as a signed integer: cut towards zero and at the ends of the range, 0 for NaN.
template <class T>
RG_HOST_DEVICE constexpr T to_integer(double value) {
  // numeric_limits' functions are of the host only.
  constexpr T most = static_cast<T>((std::uint64_t{1} << (8 * sizeof(T) - 1)) - 1);
  constexpr T least = -most - 1;
  if (value != value) return 0;
  if (value <= static_cast<double>(least)) return least;
  if (value >= static_cast<double>(most)) return most;
  return static_cast<T>(value);
}

}  // namespace raggedgemm::detail
