// SPDX-License-Identifier: Apache-2.0
// C++ element type → DType.
#pragma once

#include <cstdint>
#include <type_traits>

#include "raggedgemm/numeric/convert.hpp"
#include "raggedgemm/problem/dtype.hpp"

namespace raggedgemm {

namespace detail {

template <DType Value>
struct DTypeIs {
  static constexpr DType value = Value;
};

}  // namespace detail

/// The DType of a C++ element type; DType::custom for a user's type that specialises Element.
template <class T>
struct DTypeOf : detail::DTypeIs<DType::custom> {
  static_assert(
      requires { typename Element<T>::compute; },
      "element type must be float, double, std::int8_t, std::int32_t, raggedgemm::bf16, "
      "fp16 or an fp8 type, or specialise raggedgemm::Element; reinterpret a vendor's "
      "pointer as one of these");
};
template <>
struct DTypeOf<bf16> : detail::DTypeIs<DType::bf16> {};
template <>
struct DTypeOf<fp16> : detail::DTypeIs<DType::f16> {};
template <>
struct DTypeOf<float> : detail::DTypeIs<DType::f32> {};
template <>
struct DTypeOf<double> : detail::DTypeIs<DType::f64> {};
template <>
struct DTypeOf<std::int8_t> : detail::DTypeIs<DType::s8> {};
template <>
struct DTypeOf<std::int32_t> : detail::DTypeIs<DType::s32> {};
template <>
struct DTypeOf<fp8_e4m3fn> : detail::DTypeIs<DType::e4m3fn> {};
template <>
struct DTypeOf<fp8_e5m2> : detail::DTypeIs<DType::e5m2> {};
template <>
struct DTypeOf<fp8_e4m3fnuz> : detail::DTypeIs<DType::e4m3fnuz> {};
template <>
struct DTypeOf<fp8_e5m2fnuz> : detail::DTypeIs<DType::e5m2fnuz> {};

template <class T>
inline constexpr DType dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

}  // namespace raggedgemm
