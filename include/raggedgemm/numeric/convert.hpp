// SPDX-License-Identifier: Apache-2.0
// The registry of element types: exact widening, the accumulator rule and the one final rounding.
// A new element type is a file of its own and one specialisation here (a user's, in user code).
#pragma once

#include <cstdint>
#include <type_traits>

#include "raggedgemm/base/bit_cast.hpp"
#include "raggedgemm/numeric/bf16.hpp"
#include "raggedgemm/numeric/fp16.hpp"
#include "raggedgemm/numeric/fp8.hpp"

namespace raggedgemm {

/// What the library asks of an element type `T`: `compute` is the type that its products
/// accumulate in, `widen` is exact, `round` is the single rounding of a result. A user's
/// specialisation makes a type usable in every call (examples/custom_dtype.cpp); its compute type
/// is trivially copyable, zero when value-initialised and as all-zero bytes, and has +=, * and a
/// conversion from float.
template <class T>
struct Element;

namespace detail {

/// A double as a float that a further rounding to fewer bits rounds as it would the double: towards
/// zero, with the last bit set if anything was cut off (round to odd).
RG_HOST_DEVICE constexpr float to_odd_float(double value) noexcept {
  const float nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || nearest != nearest) return nearest;
  std::uint32_t bits = bit_as<std::uint32_t>(nearest);
  const bool away = (static_cast<double>(nearest) > value) == (value > 0);
  if (away) --bits;  // towards zero; infinity becomes the largest float
  return bit_as<float>(bits | 1U);
}

/// An element type of at most 16 bits that converts through float.
template <class T>
struct SmallFloat {
  using compute = float;
  RG_HOST_DEVICE static constexpr float widen(T value) { return to_float(value); }
};

}  // namespace detail

template <>
struct Element<float> {
  using compute = float;
  RG_HOST_DEVICE static constexpr float widen(float value) { return value; }
  RG_HOST_DEVICE static constexpr float round(float value) { return value; }
  RG_HOST_DEVICE static constexpr float round(double value) { return static_cast<float>(value); }
};

template <>
struct Element<double> {
  using compute = double;
  RG_HOST_DEVICE static constexpr double widen(double value) { return value; }
  RG_HOST_DEVICE static constexpr double round(double value) { return value; }
};

template <>
struct Element<bf16> : detail::SmallFloat<bf16> {
  RG_HOST_DEVICE static constexpr bf16 round(float value) { return to_bf16(value); }
  RG_HOST_DEVICE static constexpr bf16 round(double value) {
    return to_bf16(detail::to_odd_float(value));
  }
};

template <>
struct Element<fp16> : detail::SmallFloat<fp16> {
  RG_HOST_DEVICE static constexpr fp16 round(float value) { return to_fp16(value); }
  RG_HOST_DEVICE static constexpr fp16 round(double value) {
    return to_fp16(detail::to_odd_float(value));
  }
};

template <int M, int B, bool Fnuz>
struct Element<Fp8<M, B, Fnuz>> : detail::SmallFloat<Fp8<M, B, Fnuz>> {
  using Format = Fp8<M, B, Fnuz>;
  RG_HOST_DEVICE static constexpr Format round(float value) { return to_fp8<Format>(value); }
  RG_HOST_DEVICE static constexpr Format round(double value) {
    return to_fp8<Format>(detail::to_odd_float(value));
  }
};

/// s8 products accumulate in s32, exactly up to a depth of 131,071; results wrap (mod 2^8).
template <>
struct Element<std::int8_t> {
  using compute = std::int32_t;
  RG_HOST_DEVICE static constexpr std::int32_t widen(std::int8_t value) { return value; }
  RG_HOST_DEVICE static constexpr std::int8_t round(std::int32_t value) {
    return static_cast<std::int8_t>(static_cast<std::uint8_t>(static_cast<std::uint32_t>(value)));
  }
};

template <>
struct Element<std::int32_t> {
  using compute = std::int32_t;
  RG_HOST_DEVICE static constexpr std::int32_t widen(std::int32_t value) { return value; }
  RG_HOST_DEVICE static constexpr std::int32_t round(std::int32_t value) { return value; }
};

/// The one rounding of an accumulator: integers reach float formats through double, which is exact.
template <class Out, class Compute>
RG_HOST_DEVICE constexpr Out round_to(Compute value) {
  if constexpr (std::is_same_v<Compute, std::int32_t> && !std::is_integral_v<Out>)
    return Element<Out>::round(static_cast<double>(value));
  else
    return Element<Out>::round(value);
}

/// The three element types of a multiplication. Products accumulate in the wider of what the two
/// operands ask for: float for all floats of up to 32 bits, double, or s32.
template <class Lhs, class Rhs, class Out>
struct Types {
  using lhs = Lhs;
  using rhs = Rhs;
  using out = Out;
  using compute =
      std::common_type_t<typename Element<Lhs>::compute, typename Element<Rhs>::compute>;
  static_assert(!std::is_integral_v<Out> || !std::is_floating_point_v<compute>,
                "out must be a float where lhs or rhs is one: sums of floats have no defined "
                "rounding to s8 or s32");
};

}  // namespace raggedgemm
