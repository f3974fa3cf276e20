// SPDX-License-Identifier: Apache-2.0
// Element types by name: the run-time side of what numeric/ defines as C++ types.
// A new dtype is one line here and one file in numeric/.
#pragma once

#include <cstdint>

namespace raggedgemm {

/// Element type of an operand. Values are append-only.
enum class DType : std::int32_t {
  bf16 = 0,
  f16 = 1,
  f32 = 2,
  f64 = 3,
  s8 = 4,
  s32 = 5,
  e4m3fn = 6,    ///< OCP fp8
  e5m2 = 7,      ///< OCP fp8
  e4m3fnuz = 8,  ///< gfx942's fp8
  e5m2fnuz = 9,  ///< gfx942's bf8
  custom = 10,   ///< a user's type, by a specialisation of Element; known to templates only
};

/// The dtypes that exist at run time: all but `custom`.
inline constexpr std::int32_t dtype_count = 10;

constexpr const char* name_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::bf16: return "bf16";
    case DType::f16: return "f16";
    case DType::f32: return "f32";
    case DType::f64: return "f64";
    case DType::s8: return "s8";
    case DType::s32: return "s32";
    case DType::e4m3fn: return "e4m3fn";
    case DType::e5m2: return "e5m2";
    case DType::e4m3fnuz: return "e4m3fnuz";
    case DType::e5m2fnuz: return "e5m2fnuz";
    case DType::custom: return "custom";
  }
  return "unknown";
}

constexpr std::int32_t bytes_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::f64: return 8;
    case DType::f32:
    case DType::s32: return 4;
    case DType::bf16:
    case DType::f16: return 2;
    case DType::s8:
    case DType::e4m3fn:
    case DType::e5m2:
    case DType::e4m3fnuz:
    case DType::e5m2fnuz:
    case DType::custom: return 1;
  }
  return 1;
}

constexpr bool is_integer(DType dtype) noexcept {
  return dtype == DType::s8 || dtype == DType::s32;
}

/// Any of the four 8-bit floats.
constexpr bool is_fp8(DType dtype) noexcept {
  return dtype == DType::e4m3fn || dtype == DType::e5m2 || dtype == DType::e4m3fnuz ||
         dtype == DType::e5m2fnuz;
}

}  // namespace raggedgemm
