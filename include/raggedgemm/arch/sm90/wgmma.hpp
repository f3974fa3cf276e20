// SPDX-License-Identifier: Apache-2.0
// WGMMA: the warpgroup's matrix multiply, its operand descriptors and its ordering.
// One text for every width in steps of 32 columns and all types.
#pragma once

#include <cstdint>

#include "raggedgemm/arch/sm90/barrier.hpp"
#include "raggedgemm/problem/dtype.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm90 {

/// Which dimension of an operand tile is contiguous in shared memory.
enum class Major : std::int32_t { k, mn };

/// How an operand tile lies in shared memory, in rows of 128 bytes, swizzled: 64 16-bit elements or
/// 32 of f32. K-major: one row for each row of A (column of B), that deep. MN-major (16-bit only):
/// chunks of 64 rows of A (columns of B), each [64 deep][64]. 64 rows of A take 8 KiB.
/// Source: PTX ISA, "Matrix descriptor" and "Shared memory matrix layout"; the stride fields were
/// probed one by one on an H200 (spikes/hopper/README.md, "Facts").
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

/// The instruction's depth and types for an input type: f32 is multiplied as tf32.
template <DType T>
struct MultiplyName;
template <>
struct MultiplyName<DType::bf16> {
  static constexpr char text[] = "k16.f32.bf16.bf16";
};
template <>
struct MultiplyName<DType::f16> {
  static constexpr char text[] = "k16.f32.f16.f16";
};
template <>
struct MultiplyName<DType::f32> {
  static constexpr char text[] = "k8.f32.tf32.tf32";
};

/// Its operands for the order of A and B: 16-bit types may be MN-major.
template <DType T, Major A, Major B>
struct MultiplyOrder {
  static constexpr char text[] = {
      ',', A == Major::mn ? '1' : '0', ',', B == Major::mn ? '1' : '0', '\0'};
};
template <Major A, Major B>
struct MultiplyOrder<DType::f32, A, B> {
  static_assert(A == Major::k && B == Major::k, "tf32 operands must be contiguous along the depth");
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

#define RG_SM90_OPERANDS_32 \
  "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]), "+f"(acc[7]), \
  "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]), "+f"(acc[14]), "+f"(acc[15])
#define RG_SM90_OPERANDS_64 RG_SM90_OPERANDS_32, \
  "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]), "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), \
  "+f"(acc[24]), "+f"(acc[25]), "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31])
#define RG_SM90_OPERANDS_96 RG_SM90_OPERANDS_64, \
  "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]), "+f"(acc[38]), "+f"(acc[39]), \
  "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]), "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47])
#define RG_SM90_OPERANDS_128 RG_SM90_OPERANDS_96, \
  "+f"(acc[48]), "+f"(acc[49]), "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]), \
  "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]), "+f"(acc[62]), "+f"(acc[63])
#define RG_SM90_OPERANDS_160 RG_SM90_OPERANDS_128, \
  "+f"(acc[64]), "+f"(acc[65]), "+f"(acc[66]), "+f"(acc[67]), "+f"(acc[68]), "+f"(acc[69]), "+f"(acc[70]), "+f"(acc[71]), \
  "+f"(acc[72]), "+f"(acc[73]), "+f"(acc[74]), "+f"(acc[75]), "+f"(acc[76]), "+f"(acc[77]), "+f"(acc[78]), "+f"(acc[79])
#define RG_SM90_OPERANDS_192 RG_SM90_OPERANDS_160, \
  "+f"(acc[80]), "+f"(acc[81]), "+f"(acc[82]), "+f"(acc[83]), "+f"(acc[84]), "+f"(acc[85]), "+f"(acc[86]), "+f"(acc[87]), \
  "+f"(acc[88]), "+f"(acc[89]), "+f"(acc[90]), "+f"(acc[91]), "+f"(acc[92]), "+f"(acc[93]), "+f"(acc[94]), "+f"(acc[95])
#define RG_SM90_OPERANDS_224 RG_SM90_OPERANDS_192, \
  "+f"(acc[96]), "+f"(acc[97]), "+f"(acc[98]), "+f"(acc[99]), "+f"(acc[100]), "+f"(acc[101]), "+f"(acc[102]), "+f"(acc[103]), \
  "+f"(acc[104]), "+f"(acc[105]), "+f"(acc[106]), "+f"(acc[107]), "+f"(acc[108]), "+f"(acc[109]), "+f"(acc[110]), "+f"(acc[111])
#define RG_SM90_OPERANDS_256 RG_SM90_OPERANDS_224, \
  "+f"(acc[112]), "+f"(acc[113]), "+f"(acc[114]), "+f"(acc[115]), "+f"(acc[116]), "+f"(acc[117]), "+f"(acc[118]), "+f"(acc[119]), \
  "+f"(acc[120]), "+f"(acc[121]), "+f"(acc[122]), "+f"(acc[123]), "+f"(acc[124]), "+f"(acc[125]), "+f"(acc[126]), "+f"(acc[127])

// After the columns: the numbers of the operands behind the accumulator.
#define RG_SM90_MULTIPLY(COLS, A, B, ACCUMULATE, TYPES, ORDER)                                       \
  asm volatile(                                                                                     \
      "{\n.reg .pred p;\nsetp.ne.b32 p, %" #ACCUMULATE ", 0;\n"                                     \
      "wgmma.mma_async.sync.aligned.m64n" #COLS "%" #TYPES " {" RG_SM90_REGISTERS_##COLS "}, "      \
      "%" #A ", %" #B ", p, 1, 1%" #ORDER ";\n}"                                                    \
      : RG_SM90_OPERANDS_##COLS                                                                     \
      : "l"(a), "l"(b), "r"(static_cast<std::int32_t>(accumulate)),                                 \
        "C"(MultiplyName<T>::text), "C"(MultiplyOrder<T, MajorA, MajorB>::text))
// clang-format on

/// acc[64, Cols] = A[64, k] · B[k, Cols] (+ acc if `accumulate`) for a depth of 32 bytes, in the
/// accumulator's first Cols / 2 registers. `a` and `b` are descriptors. Asynchronous: acc is not to
/// be touched before multiply_wait.
template <index_t Cols, DType T, Major MajorA, Major MajorB, int Length>
RG_DEVICE RG_FORCE_INLINE void multiply(float (&acc)[Length],
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

/// Keeps the compiler from reading the accumulator above the wait that precedes this call.
template <int Length>
RG_DEVICE RG_FORCE_INLINE void settle(float (&acc)[Length]) {
  RG_UNROLL
  for (int i = 0; i < Length; ++i) asm volatile("" : "+f"(acc[i])::"memory");
}

#endif

}  // namespace arch::sm90
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
