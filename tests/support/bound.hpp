// SPDX-License-Identifier: Apache-2.0
// Error bounds of a dot product, derived from the number of terms and the rounding units.
#pragma once

#include <cmath>
#include <type_traits>

#include "raggedgemm/numeric/convert.hpp"
#include "raggedgemm/platform/arch.hpp"

namespace support {

/// Half the distance from 1 to the next value: the relative error of one rounding to nearest.
template <class T>
inline constexpr double unit_roundoff = 0x1p-24;
template <>
inline constexpr double unit_roundoff<raggedgemm::bf16> = 0x1p-8;
template <>
inline constexpr double unit_roundoff<raggedgemm::fp16> = 0x1p-11;

/// Half the distance between neighbours near zero: the absolute error of a subnormal result.
template <class T>
inline constexpr double half_smallest = 0x1p-150;
template <>
inline constexpr double half_smallest<raggedgemm::bf16> = 0x1p-134;
template <>
inline constexpr double half_smallest<raggedgemm::fp16> = 0x1p-25;

/// γ_n = n·u / (1 − n·u), u = 2^-24: a sum of n products in f32, in any order (Higham, Accuracy and
/// Stability of Numerical Algorithms, section 3.1; products of 16-bit inputs are exact in f32).
inline double gamma_of(double terms) {
  const double nu = terms * 0x1p-24;
  return nu / (1 - nu);
}

/// |out − ref| <= γ_n·Σ|a·b| + u_out·|ref| + half of the smallest result. `terms` counts every
/// f32 operation on the way of a value: products, sums, alpha, beta, an epilogue's.
template <class Out>
double error_bound(double terms, double absdot, double reference) {
  const double accumulated = gamma_of(terms) * absdot;
  return accumulated + unit_roundoff<Out> * (std::fabs(reference) + accumulated) +
         half_smallest<Out>;
}

/// What the sums of 8-bit floats may lack besides, relative to Σ|a·b|: Hopper's tensor cores add
/// the products of one step (128 of them) with some 14 bits.
template <class In>
double sum_roundoff(raggedgemm::Arch arch) {
  const bool is_fp8 = sizeof(In) == 1 && !std::is_integral_v<In>;
  return is_fp8 && arch == raggedgemm::Arch::sm90 ? 0x1p-11 : 0;
}

}  // namespace support
