// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of gfx942 (MI300): 32 x 32 x 8, bf16 and f16, f32 accumulators.
#pragma once

#include <type_traits>

#include "raggedgemm/arch/cdna/matrix_map.hpp"
#include "raggedgemm/arch/cdna/vector.hpp"
#include "raggedgemm/numeric/bf16.hpp"
#include "raggedgemm/numeric/fp16.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::gfx942 {

using InstructionMap = cdna::MatrixMap<8>;

/// What a block may use of shared memory.
inline constexpr index_t shared_capacity_bytes = 64 * 1024;

#if RG_PLATFORM_HIP

/// D += A · B over a slice of 16 along the depth, in `instructions` parts.
template <class T>
struct MatrixSlice {
  static_assert(sizeof(T) == 2, "MatrixSlice is for bf16 and fp16 operands");
  static constexpr index_t instructions = 2;
  using BrainFloats = short __attribute__((ext_vector_type(4)));
  using HalfFloats = _Float16 __attribute__((ext_vector_type(4)));

  /// Lanes hold A and B as cdna::SliceMap says and the result as InstructionMap says.
  template <index_t Part>
  static RG_DEVICE RG_FORCE_INLINE cdna::Floats16 multiply(cdna::Dwords4 a,
                                                           cdna::Dwords4 b,
                                                           cdna::Floats16 d) {
#if defined(__gfx942__)
    const cdna::Dwords2 a_half = Part == 0 ? a.xy : a.zw;
    const cdna::Dwords2 b_half = Part == 0 ? b.xy : b.zw;
    if constexpr (std::is_same_v<T, bf16>)
      return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(__builtin_bit_cast(BrainFloats, a_half),
                                                      __builtin_bit_cast(BrainFloats, b_half),
                                                      d,
                                                      0,
                                                      0,
                                                      0);
    else
      return __builtin_amdgcn_mfma_f32_32x32x8f16(__builtin_bit_cast(HalfFloats, a_half),
                                                  __builtin_bit_cast(HalfFloats, b_half),
                                                  d,
                                                  0,
                                                  0,
                                                  0);
#else
    static_cast<void>(a);
    static_cast<void>(b);
    return d;
#endif
  }
};

#endif

}  // namespace arch::gfx942
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
