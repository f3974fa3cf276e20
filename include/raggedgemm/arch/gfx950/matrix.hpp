// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of gfx950 (MI350), by operand dtype: of each, the one with the highest
// rate and the largest tile.
#pragma once

#include <type_traits>

#include "raggedgemm/arch/cdna/matrix_map.hpp"
#include "raggedgemm/arch/cdna/vector.hpp"
#include "raggedgemm/numeric/bf16.hpp"
#include "raggedgemm/numeric/fp16.hpp"
#include "raggedgemm/numeric/fp8.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::gfx950 {

/// What a block may use of shared memory.
inline constexpr index_t shared_capacity_bytes = 160 * 1024;

template <class T>
inline constexpr bool is_fp8 = std::is_same_v<T, fp8_e4m3fn> || std::is_same_v<T, fp8_e5m2>;

/// The chip's instruction for operands of type T. It has none for tf32.
///
/// | T | instruction | operations a clock and compute unit |
/// |---|---|---|
/// | bf16, fp16 | 32 x 32 x 16 | 4096 |
/// | fp8_e4m3fn, fp8_e5m2 | 32 x 32 x 64, of those with a choice of formats | 8192 |
/// | s8 | 32 x 32 x 32 | 8192 |
/// | float | 32 x 32 x 2 | 256 |
/// | double | 16 x 16 x 4 | 128 |
/// gfx942's 32 x 32 x 16 for fp8 has half the rate here. Source: AMD CDNA4 ISA, table of the matrix
/// instructions' passes.
template <class T>
using InstructionFor = std::conditional_t<
    std::is_same_v<T, double>,
    cdna::Instruction<cdna::DoubleMatrixMap, 8>,
    std::conditional_t<
        std::is_same_v<T, float>,
        cdna::Instruction<cdna::MatrixMap<32, 2>, 4>,
        std::conditional_t<is_fp8<T>,
                           cdna::Instruction<cdna::MatrixMap<32, 64>, 32>,
                           cdna::Instruction<cdna::MatrixMap<32, 32 / index_t{sizeof(T)}>, 16>>>>;

#if RG_PLATFORM_HIP

/// D += A · B over a slice along the depth, in `instructions` parts.
template <class A, class B, bool Tf32>
struct MatrixSlice : InstructionFor<A> {
  using T = A;
  using Fragment = cdna::Fragment<InstructionFor<T>::chunks>;
  template <class Compute>
  using Result = cdna::Result<Compute, InstructionFor<T>::Map::result_elems>;
  static_assert(!Tf32, "ConfigRow.tf32 must be false: gfx950 has no matrix instruction for tf32");
  static_assert(std::is_same_v<T, bf16> || std::is_same_v<T, fp16> || is_fp8<T> ||
                    std::is_same_v<T, std::int8_t> || std::is_same_v<T, float> ||
                    std::is_same_v<T, double>,
                "ConfigRow.input_dtypes must be types of gfx950's matrix instructions");
  static_assert(std::is_same_v<A, B> || (is_fp8<A> && is_fp8<B>),
                "A and B must be of one type, or two of gfx950's fp8");

  /// Lanes hold A and B as cdna::SliceMap says and the result as the instruction's map says.
  template <index_t Part, class D>
  static RG_DEVICE RG_FORCE_INLINE D multiply(const Fragment& a, const Fragment& b, D d) {
#if defined(__gfx950__)
    using cdna::part_of;
    if constexpr (std::is_same_v<T, bf16>) {
      using Eight = __bf16 __attribute__((ext_vector_type(8)));
      return __builtin_amdgcn_mfma_f32_32x32x16_bf16(
          part_of<Eight, Part>(a), part_of<Eight, Part>(b), d, 0, 0, 0);
    } else if constexpr (std::is_same_v<T, fp16>) {
      using Eight = _Float16 __attribute__((ext_vector_type(8)));
      return __builtin_amdgcn_mfma_f32_32x32x16_f16(
          part_of<Eight, Part>(a), part_of<Eight, Part>(b), d, 0, 0, 0);
    } else if constexpr (is_fp8<T>) {
      using Eight = int __attribute__((ext_vector_type(8)));
      constexpr int format_a = std::is_same_v<A, fp8_e4m3fn> ? 0 : 1;
      constexpr int format_b = std::is_same_v<B, fp8_e4m3fn> ? 0 : 1;
      // Scales of constant zero: the compiler takes the instruction without scales.
      return __builtin_amdgcn_mfma_scale_f32_32x32x64_f8f6f4(
          part_of<Eight, Part>(a), part_of<Eight, Part>(b), d, format_a, format_b, 0, 0, 0, 0);
    } else if constexpr (std::is_same_v<T, std::int8_t>) {
      using Four = int __attribute__((ext_vector_type(4)));
      return __builtin_amdgcn_mfma_i32_32x32x32_i8(
          part_of<Four, Part>(a), part_of<Four, Part>(b), d, 0, 0, 0);
    } else if constexpr (std::is_same_v<T, double>) {
      return __builtin_amdgcn_mfma_f64_16x16x4f64(
          part_of<double, Part>(a), part_of<double, Part>(b), d, 0, 0, 0);
    } else {
      return __builtin_amdgcn_mfma_f32_32x32x2f32(
          part_of<float, Part>(a), part_of<float, Part>(b), d, 0, 0, 0);
    }
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
