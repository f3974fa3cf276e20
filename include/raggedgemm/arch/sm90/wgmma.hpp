// SPDX-License-Identifier: Apache-2.0
// WGMMA: the warpgroup's matrix multiply, its operand descriptors and its ordering.
// One text for every width in steps of 32 columns and all types.
#pragma once

#include <cstdint>
#include <type_traits>

#include "raggedgemm/arch/sm90/barrier.hpp"
#include "raggedgemm/problem/dtype.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm90 {

/// Which dimension of an operand tile is contiguous in shared memory.
enum class Major : std::int32_t { k, mn };

/// How an operand tile lies in shared memory, in rows of 128 bytes, swizzled: 64 16-bit elements,
/// 32 of f32 or 128 of 8 bits. K-major: one row for each row of A (column of B), that deep.
/// MN-major (16-bit only): chunks of 64 rows of A (columns of B), each [64 deep][64]. 64 rows of A
/// take 8 KiB. Source: PTX ISA, "Matrix descriptor" and "Shared memory matrix layout"; the stride
/// fields were probed one by one on an H200.
struct OperandLayout {
  static constexpr index_t chunk_bytes = 64 * 64 * 2;

  /// Descriptor of the operand at a shared address: swizzle mode 1 (128 bytes) in bits 62-63; bits
  /// 32-45 the bytes from one 8-row (8-deep) group to the next, 1024; bits 16-29 for MN-major the
  /// bytes from chunk to chunk, ignored for K-major; all in units of 16 bytes.
  static RG_HOST_DEVICE constexpr std::uint64_t descriptor(Major major, std::uint32_t address) {
    const std::uint64_t group = 1024 / 16;
    const std::uint64_t chunk = major == Major::mn ? chunk_bytes / 16 : 1;
    return std::uint64_t{1} << 62 | group << 32 | chunk << 16 | (address & 0x3FFFFU) >> 4;
  }

  /// What one instruction's depth, 32 bytes (16 elements of 16 bits), adds to a descriptor.
  static RG_HOST_DEVICE constexpr std::uint64_t depth_step(Major major) {
    return major == Major::mn ? 16 * 128 / 16 : 32 / 16;
  }
  /// What a step of 64 rows of A adds.
  static RG_HOST_DEVICE constexpr std::uint64_t rows64_step() { return chunk_bytes / 16; }
};

#if RG_PLATFORM_CUDA

/// Before the first multiply of a batch: registers and shared memory are as the lanes left them.
RG_DEVICE RG_FORCE_INLINE void multiply_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Closes the batch of multiplies issued so far.
RG_DEVICE RG_FORCE_INLINE void multiply_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until at most `Open` batches are still running.
template <index_t Open>
RG_DEVICE RG_FORCE_INLINE void multiply_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Open) : "memory");
}

/// The instruction's depth and types for those of A and B: f32 is multiplied as tf32, s8 into s32.
template <DType A, DType B>
struct MultiplyName;
template <>
struct MultiplyName<DType::bf16, DType::bf16> {
  static constexpr char text[] = "k16.f32.bf16.bf16";
};
template <>
struct MultiplyName<DType::f16, DType::f16> {
  static constexpr char text[] = "k16.f32.f16.f16";
};
template <>
struct MultiplyName<DType::f32, DType::f32> {
  static constexpr char text[] = "k8.f32.tf32.tf32";
};

template <>
struct MultiplyName<DType::e4m3fn, DType::e4m3fn> {
  static constexpr char text[] = "k32.f32.e4m3.e4m3";
};
template <>
struct MultiplyName<DType::e5m2, DType::e5m2> {
  static constexpr char text[] = "k32.f32.e5m2.e5m2";
};
template <>
struct MultiplyName<DType::e4m3fn, DType::e5m2> {
  static constexpr char text[] = "k32.f32.e4m3.e5m2";
};
template <>
struct MultiplyName<DType::e5m2, DType::e4m3fn> {
  static constexpr char text[] = "k32.f32.e5m2.e4m3";
};
template <>
struct MultiplyName<DType::s8, DType::s8> {
  static constexpr char text[] = "k32.s32.s8.s8";
};

/// Its last operands: factors of A and B, which are 1, for floats; and for 16-bit types their
/// order, which may be MN-major.
template <DType T, Major A, Major B, index_t Bytes = bytes_of(T), bool Integer = is_integer(T)>
struct MultiplyOrder {
  static_assert(A == Major::k && B == Major::k,
                "operands of other than 16 bits must be contiguous along the depth");
  static constexpr char text[] = ",1,1";
};
template <DType T, Major A, Major B>
struct MultiplyOrder<T, A, B, 2, false> {
  static constexpr char text[] = {
      ',', '1', ',', '1', ',', A == Major::mn ? '1' : '0', ',', B == Major::mn ? '1' : '0', '\0'};
};
template <DType T, Major A, Major B>
struct MultiplyOrder<T, A, B, 1, true> {
  static_assert(A == Major::k && B == Major::k,
                "operands of other than 16 bits must be contiguous along the depth");
  static constexpr char text[] = "";
};

// The instruction's registers and operands by its columns: every 32 columns add 16 registers.
// Written out because asm text is a literal.
// clang-format off
#define RG_SM90_REGISTERS_32 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define RG_SM90_REGISTERS_64 RG_SM90_REGISTERS_32 ", " "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define RG_SM90_REGISTERS_96 RG_SM90_REGISTERS_64 ", " "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define RG_SM90_REGISTERS_128 RG_SM90_REGISTERS_96 ", " "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define RG_SM90_REGISTERS_160 RG_SM90_REGISTERS_128 ", " "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define RG_SM90_REGISTERS_192 RG_SM90_REGISTERS_160 ", " "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define RG_SM90_REGISTERS_224 RG_SM90_REGISTERS_192 ", " "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define RG_SM90_REGISTERS_256 RG_SM90_REGISTERS_224 ", " "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

#define RG_SM90_OPERANDS_32(C) \
  C(acc[0]), C(acc[1]), C(acc[2]), C(acc[3]), C(acc[4]), C(acc[5]), C(acc[6]), C(acc[7]), \
  C(acc[8]), C(acc[9]), C(acc[10]), C(acc[11]), C(acc[12]), C(acc[13]), C(acc[14]), C(acc[15])
#define RG_SM90_OPERANDS_64(C) RG_SM90_OPERANDS_32(C), \
  C(acc[16]), C(acc[17]), C(acc[18]), C(acc[19]), C(acc[20]), C(acc[21]), C(acc[22]), C(acc[23]), \
  C(acc[24]), C(acc[25]), C(acc[26]), C(acc[27]), C(acc[28]), C(acc[29]), C(acc[30]), C(acc[31])
#define RG_SM90_OPERANDS_96(C) RG_SM90_OPERANDS_64(C), \
  C(acc[32]), C(acc[33]), C(acc[34]), C(acc[35]), C(acc[36]), C(acc[37]), C(acc[38]), C(acc[39]), \
  C(acc[40]), C(acc[41]), C(acc[42]), C(acc[43]), C(acc[44]), C(acc[45]), C(acc[46]), C(acc[47])
#define RG_SM90_OPERANDS_128(C) RG_SM90_OPERANDS_96(C), \
  C(acc[48]), C(acc[49]), C(acc[50]), C(acc[51]), C(acc[52]), C(acc[53]), C(acc[54]), C(acc[55]), \
  C(acc[56]), C(acc[57]), C(acc[58]), C(acc[59]), C(acc[60]), C(acc[61]), C(acc[62]), C(acc[63])
#define RG_SM90_OPERANDS_160(C) RG_SM90_OPERANDS_128(C), \
  C(acc[64]), C(acc[65]), C(acc[66]), C(acc[67]), C(acc[68]), C(acc[69]), C(acc[70]), C(acc[71]), \
  C(acc[72]), C(acc[73]), C(acc[74]), C(acc[75]), C(acc[76]), C(acc[77]), C(acc[78]), C(acc[79])
#define RG_SM90_OPERANDS_192(C) RG_SM90_OPERANDS_160(C), \
  C(acc[80]), C(acc[81]), C(acc[82]), C(acc[83]), C(acc[84]), C(acc[85]), C(acc[86]), C(acc[87]), \
  C(acc[88]), C(acc[89]), C(acc[90]), C(acc[91]), C(acc[92]), C(acc[93]), C(acc[94]), C(acc[95])
#define RG_SM90_OPERANDS_224(C) RG_SM90_OPERANDS_192(C), \
  C(acc[96]), C(acc[97]), C(acc[98]), C(acc[99]), C(acc[100]), C(acc[101]), C(acc[102]), C(acc[103]), \
  C(acc[104]), C(acc[105]), C(acc[106]), C(acc[107]), C(acc[108]), C(acc[109]), C(acc[110]), C(acc[111])
#define RG_SM90_OPERANDS_256(C) RG_SM90_OPERANDS_224(C), \
  C(acc[112]), C(acc[113]), C(acc[114]), C(acc[115]), C(acc[116]), C(acc[117]), C(acc[118]), C(acc[119]), \
  C(acc[120]), C(acc[121]), C(acc[122]), C(acc[123]), C(acc[124]), C(acc[125]), C(acc[126]), C(acc[127])

// After the columns: the numbers of the operands behind the accumulator.
#define RG_SM90_MULTIPLY_INTO(REGISTER, COLS, A, B, ACCUMULATE, TYPES, ORDER)                        \
  asm volatile(                                                                                     \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %" #ACCUMULATE ", 0;\n"                                     \
      "wgmma.mma_async.sync.aligned.m64n" #COLS "%" #TYPES " {" RG_SM90_REGISTERS_##COLS "}, "      \
      "%" #A ", %" #B ", p%" #ORDER ";\n}"                                                          \
      : RG_SM90_OPERANDS_##COLS(REGISTER)                                                           \
      : "l"(a), "l"(b), "r"(static_cast<std::int32_t>(accumulate)),                                 \
        "C"(MultiplyName<TypeA, TypeB>::text), "C"(MultiplyOrder<TypeA, MajorA, MajorB>::text))
#define RG_SM90_MULTIPLY(...)                                                                       \
  if constexpr (std::is_same_v<Accumulator, std::int32_t>)                                          \
    RG_SM90_MULTIPLY_INTO("+r", __VA_ARGS__);                                                       \
  else                                                                                              \
    RG_SM90_MULTIPLY_INTO("+f", __VA_ARGS__)
// clang-format on

/// acc[64, Cols] = A[64, k] · B[k, Cols] (+ acc if `accumulate`) for a depth of 32 bytes, in the
/// accumulator's first Cols / 2 registers. `a` and `b` are descriptors. Asynchronous: acc is not to
/// be touched before multiply_wait.
template <index_t Cols,
          DType TypeA,
          DType TypeB,
          Major MajorA,
          Major MajorB,
          class Accumulator,
          int Length>
RG_DEVICE RG_FORCE_INLINE void multiply(Accumulator (&acc)[Length],
                                        std::uint64_t a,
                                        std::uint64_t b,
                                        bool accumulate) {
  static_assert(Cols % 32 == 0 && Cols <= 2 * Length && Cols <= 256,
                "Cols must be a multiple of 32 that the accumulator holds");
  if constexpr (Cols == 32) {
    RG_SM90_MULTIPLY(32, 16, 17, 18, 19, 20);
  } else if constexpr (Cols == 64) {
    RG_SM90_MULTIPLY(64, 32, 33, 34, 35, 36);
  } else if constexpr (Cols == 96) {
    RG_SM90_MULTIPLY(96, 48, 49, 50, 51, 52);
  } else if constexpr (Cols == 128) {
    RG_SM90_MULTIPLY(128, 64, 65, 66, 67, 68);
  } else if constexpr (Cols == 160) {
    RG_SM90_MULTIPLY(160, 80, 81, 82, 83, 84);
  } else if constexpr (Cols == 192) {
    RG_SM90_MULTIPLY(192, 96, 97, 98, 99, 100);
  } else if constexpr (Cols == 224) {
    RG_SM90_MULTIPLY(224, 112, 113, 114, 115, 116);
  } else {
    RG_SM90_MULTIPLY(256, 128, 129, 130, 131, 132);
  }
}

#undef RG_SM90_REGISTERS_32
#undef RG_SM90_OPERANDS_32
#undef RG_SM90_REGISTERS_64
#undef RG_SM90_OPERANDS_64
#undef RG_SM90_REGISTERS_96
#undef RG_SM90_OPERANDS_96
#undef RG_SM90_REGISTERS_128
#undef RG_SM90_OPERANDS_128
#undef RG_SM90_REGISTERS_160
#undef RG_SM90_OPERANDS_160
#undef RG_SM90_REGISTERS_192
#undef RG_SM90_OPERANDS_192
#undef RG_SM90_REGISTERS_224
#undef RG_SM90_OPERANDS_224
#undef RG_SM90_REGISTERS_256
#undef RG_SM90_OPERANDS_256
#undef RG_SM90_MULTIPLY
#undef RG_SM90_MULTIPLY_INTO

/// Keeps the compiler from reading the accumulator above the wait that precedes this call.
template <int Length>
RG_DEVICE RG_FORCE_INLINE void settle(float (&acc)[Length]) {
  RG_UNROLL
  for (int i = 0; i < Length; ++i) asm volatile("" : "+f"(acc[i])::"memory");
}
template <int Length>
RG_DEVICE RG_FORCE_INLINE void settle(std::int32_t (&acc)[Length]) {
  RG_UNROLL
  for (int i = 0; i < Length; ++i) asm volatile("" : "+r"(acc[i])::"memory");
}

#endif

}  // namespace arch::sm90
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
