// SPDX-License-Identifier: Apache-2.0
// The registry of element types: C++ type ↔ DType, exact widening and the one final rounding.
// A new element type is a file of its own and one specialisation here (a user's, in user code).
#pragma once

#include <type_traits>

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/numeric/bf16.hpp"
#include "raggedgemm/numeric/fp16.hpp"

namespace raggedgemm {

/// What the library asks of an element type `T`: `compute` is the type that products accumulate in,
/// `widen` is exact, `round` is the single rounding of a result (to nearest, ties to even).
template <class T>
struct Element;

template <>
struct Element<float> {
  using compute = float;
  RG_HOST_DEVICE static constexpr float widen(float value) { return value; }
  RG_HOST_DEVICE static constexpr float round(float value) { return value; }
};

template <>
struct Element<bf16> {
  using compute = float;
  RG_HOST_DEVICE static constexpr float widen(bf16 value) { return to_float(value); }
  RG_HOST_DEVICE static constexpr bf16 round(float value) { return to_bf16(value); }
};

template <>
struct Element<fp16> {
  using compute = float;
  RG_HOST_DEVICE static constexpr float widen(fp16 value) { return to_float(value); }
  RG_HOST_DEVICE static constexpr fp16 round(float value) { return to_fp16(value); }
};

/// The three element types of a multiplication.
template <class Lhs, class Rhs, class Out>
struct Types {
  using lhs = Lhs;
  using rhs = Rhs;
  using out = Out;
  using compute =
      std::common_type_t<typename Element<Lhs>::compute, typename Element<Rhs>::compute>;
};

}  // namespace raggedgemm
