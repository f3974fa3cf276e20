// SPDX-License-Identifier: Apache-2.0
// Element types by name: the run-time side of what numeric/ defines as C++ types.
// A new dtype is one line here and one file in numeric/.
#pragma once

#include <cstdint>

namespace raggedgemm {

/// Element type of an operand. Values are append-only.
enum class DType : std::int32_t { bf16 = 0, f16 = 1, f32 = 2 };

inline constexpr std::int32_t dtype_count = 3;

constexpr const char* name_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::bf16: return "bf16";
    case DType::f16: return "f16";
    case DType::f32: return "f32";
  }
  return "unknown";
}

constexpr std::int32_t bytes_of(DType dtype) noexcept { return dtype == DType::f32 ? 4 : 2; }

}  // namespace raggedgemm
