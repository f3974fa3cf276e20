// SPDX-License-Identifier: Apache-2.0
// The matrix instructions of gfx942 (MI300), by operand dtype: of each, the one with the highest
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
namespace arch::gfx942 {

/// What a block may use of shared memory.
inline constexpr index_t shared_capacity_bytes = 64 * 1024;

/// The chip's instruction for operands of type T.
///
/// | T | instruction | operations a clock and compute unit |
/// |---|---|---|
/// | bf16, fp16 | 32 x 32 x 8 | 2048 |
/// | fp8_e4m3fnuz, fp8_e5m2fnuz, s8 | 32 x 32 x 16 | 4096 |
/// | float, rounded to tf32 | 32 x 32 x 4 | 1024 |
/// | float, double | 32 x 32 x 2, 16 x 16 x 4 | 256 |
/// Source: AMD CDNA3 ISA, table of the matrix instructions' passes.
template <class T, bool Tf32 = false>
using InstructionFor = std::conditional_t<
    std::is_same_v<T, double>,
    cdna::Instruction<cdna::DoubleMatrixMap, 8>,
    std::conditional_t<std::is_same_v<T, float> && !Tf32,
                       cdna::Instruction<cdna::MatrixMap<32, 2>, 4>,
                       cdna::Instruction<cdna::MatrixMap<32, 16 / index_t{sizeof(T)}>, 8>>>;

#if RG_PLATFORM_HIP

/// D += A · B over a slice along the depth, in `instructions` parts. With `Tf32`, the hardware
/// rounds floats to ten bits of mantissa.
template <class A, class B, bool Tf32>
struct MatrixSlice : InstructionFor<A, Tf32> {
  using T = A;
  using Fragment = cdna::Fragment<1>;
  template <class Compute>
  using Result = cdna::Result<Compute, InstructionFor<A, Tf32>::Map::result_elems>;
  static_assert(std::is_same_v<T, bf16> || std::is_same_v<T, fp16> ||
                    std::is_same_v<T, fp8_e4m3fnuz> || std::is_same_v<T, fp8_e5m2fnuz> ||
                    std::is_same_v<T, std::int8_t> || std::is_same_v<T, float> ||
                    std::is_same_v<T, double>,
                "ConfigRow.input_dtypes must be types of gfx942's matrix instructions");
  static constexpr bool mixed = !std::is_same_v<A, B>;
  static_assert(!mixed || ((std::is_same_v<A, fp8_e4m3fnuz> || std::is_same_v<A, fp8_e5m2fnuz>)&&(
                              std::is_same_v<B, fp8_e4m3fnuz> || std::is_same_v<B, fp8_e5m2fnuz>)),
                "A and B must be of one type, or two of gfx942's fp8");

  /// Lanes hold A and B as cdna::SliceMap says and the result as the instruction's map says.
  template <index_t Part, class D>
  static RG_DEVICE RG_FORCE_INLINE D multiply(const Fragment& a, const Fragment& b, D d) {
#if defined(__gfx942__)
    using cdna::part_of;
    if constexpr (std::is_same_v<T, bf16>) {
      using Four = short __attribute__((ext_vector_type(4)));
      return __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(
          part_of<Four, Part>(a), part_of<Four, Part>(b), d, 0, 0, 0);
    } else if constexpr (std::is_same_v<T, fp16>) {
      using Four = _Float16 __attribute__((ext_vector_type(4)));
      return __builtin_amdgcn_mfma_f32_32x32x8f16(
          part_of<Four, Part>(a), part_of<Four, Part>(b), d, 0, 0, 0);
    } else if constexpr (mixed && std::is_same_v<A, fp8_e4m3fnuz>) {
      return __builtin_amdgcn_mfma_f32_32x32x16_fp8_bf8(
          part_of<long, Part>(a), part_of<long, Part>(b), d, 0, 0, 0);
    } else if constexpr (mixed) {
      return __builtin_amdgcn_mfma_f32_32x32x16_bf8_fp8(
          part_of<long, Part>(a), part_of<long, Part>(b), d, 0, 0, 0);
    } else if constexpr (std::is_same_v<T, fp8_e4m3fnuz>) {
      return __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(
          part_of<long, Part>(a), part_of<long, Part>(b), d, 0, 0, 0);
    } else if constexpr (std::is_same_v<T, fp8_e5m2fnuz>) {
      return __builtin_amdgcn_mfma_f32_32x32x16_bf8_bf8(
          part_of<long, Part>(a), part_of<long, Part>(b), d, 0, 0, 0);
    } else if constexpr (std::is_same_v<T, std::int8_t>) {
      return __builtin_amdgcn_mfma_i32_32x32x16_i8(
          part_of<long, Part>(a), part_of<long, Part>(b), d, 0, 0, 0);
    } else if constexpr (std::is_same_v<T, double>) {
      return __builtin_amdgcn_mfma_f64_16x16x4f64(
          part_of<double, Part>(a), part_of<double, Part>(b), d, 0, 0, 0);
    } else if constexpr (Tf32) {
      using Two = float __attribute__((ext_vector_type(2)));
      return __builtin_amdgcn_mfma_f32_32x32x4_xf32(
          part_of<Two, Part>(a), part_of<Two, Part>(b), d, 0, 0, 0);
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

}  // namespace arch::gfx942
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
