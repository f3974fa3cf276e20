// SPDX-License-Identifier: Apache-2.0
// The element types that the bench measures: bf16, f16 and f32, the same for all three operands.
// From the run-time name to the C++ type, in one place.
#pragma once

#include <array>

#include "raggedgemm/numeric/convert.hpp"
#include "raggedgemm/problem/dtype.hpp"

namespace raggedgemm::bench {

inline constexpr std::array bench_dtypes{DType::bf16, DType::f16, DType::f32};

/// visit(T{}) with the C++ type of `dtype`, which is one of bench_dtypes.
template <class Visit>
auto visit_dtype(DType dtype, const Visit& visit) {
  if (dtype == DType::bf16) return visit(bf16{});
  if (dtype == DType::f16) return visit(fp16{});
  return visit(float{});
}

}  // namespace raggedgemm::bench
