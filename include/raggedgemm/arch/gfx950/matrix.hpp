// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of gfx950 (MI350): 32 x 32 x 16, bf16 and f16, f32 accumulators.
#pragma once

#include <type_traits>

#include "raggedgemm/arch/cdna/matrix_map.hpp"
#include "raggedgemm/arch/cdna/vector.hpp"
#include "raggedgemm/numeric/bf16.hpp"
#include "raggedgemm/numeric/fp16.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::gfx950 {

using InstructionMap = cdna::MatrixMap<16>;

/// What a block may use of shared memory.
inline constexpr index_t shared_capacity_bytes = 160 * 1024;

#if RG_PLATFORM_HIP

/// D += A · B over a slice of 16 along the depth, in `instructions` parts.
template <class T>
struct MatrixSlice {
  static_assert(sizeof(T) == 2, "MatrixSlice is for bf16 and fp16 operands");
  static constexpr index_t instructions = 1;
  using BrainFloats = __bf16 __attribute__((ext_vector_type(8)));
  using HalfFloats = _Float16 __attribute__((ext_vector_type(8)));

  /// Lanes hold A and B as cdna::SliceMap says and the result as InstructionMap says.
  template <index_t Part>
  static RG_DEVICE RG_FORCE_INLINE cdna::Floats16 multiply(cdna::Dwords4 a,
                                                           cdna::Dwords4 b,
                                                           cdna::Floats16 d) {
#if defined(__gfx950__)
    if constexpr (std::is_same_v<T, bf16>)
      return __builtin_amdgcn_mfma_f32_32x32x16_bf16(
          __builtin_bit_cast(BrainFloats, a), __builtin_bit_cast(BrainFloats, b), d, 0, 0, 0);
    else
      return __builtin_amdgcn_mfma_f32_32x32x16_f16(
          __builtin_bit_cast(HalfFloats, a), __builtin_bit_cast(HalfFloats, b), d, 0, 0, 0);
#else
    static_cast<void>(a);
    static_cast<void>(b);
    return d;
#endif
  }
};

#endif

}  // namespace arch::gfx950
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
