// SPDX-License-Identifier: Apache-2.0
// C++ element type → DType.
#pragma once

#include <type_traits>

#include "raggedgemm/numeric/convert.hpp"
#include "raggedgemm/problem/dtype.hpp"

namespace raggedgemm {

/// The DType of a C++ element type.
template <class T>
struct DTypeOf {
  static_assert(!std::is_same_v<T, T>,
                "element type must be raggedgemm::bf16, raggedgemm::fp16 or float; reinterpret a "
                "vendor's 16-bit pointer as one of these");
};
template <>
struct DTypeOf<bf16> {
  static constexpr DType value = DType::bf16;
};
template <>
struct DTypeOf<fp16> {
  static constexpr DType value = DType::f16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};

template <class T>
inline constexpr DType dtype_of = DTypeOf<std::remove_cv_t<T>>::value;

}  // namespace raggedgemm
