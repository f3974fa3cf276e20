// SPDX-License-Identifier: Apache-2.0
// Ampere's instructions: asynchronous copies to shared memory, fragment reads, the matrix multiply,
// and the shift of bytes between words.
#pragma once

#include <cstdint>
#include <type_traits>

#include "raggedgemm/arch/simt/shared_memory.hpp"
#include "raggedgemm/arch/simt/unrolled.hpp"
#include "raggedgemm/base/index.hpp"
#include "raggedgemm/numeric/bf16.hpp"
#include "raggedgemm/numeric/fp16.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm80 {

using simt::Constant;
using simt::unrolled;

/// 16 bytes, in registers.
struct Words {
  std::uint32_t word[4];
};

#if RG_PLATFORM_CUDA

using simt::shared_address;

/// Begins to copy the first `bytes` of 16 from global to shared memory; the others become zero and
/// are not read. Both addresses are multiples of 16. What follows in memory is asked for, too.
RG_DEVICE RG_FORCE_INLINE void copy_async(std::uint32_t to, const void* from, index_t bytes) {
  asm volatile(
      "cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
      : "memory");
}

/// The same for 16 bytes that exist or do not: a number of bytes that varies costs some
/// instructions.
RG_DEVICE RG_FORCE_INLINE void copy_async_or_clear(std::uint32_t to,
                                                   const void* from,
                                                   bool exists) {
  asm volatile(
      "{\n"
      ".reg .pred missing;\n"
      "setp.eq.b32 missing, %2, 0;\n"
      "cp.async.cg.shared.global.L2::128B [%0], [%1], 16, missing;\n"
      "}" ::"r"(to),
      "l"(from),
      "r"(static_cast<std::int32_t>(exists))
      : "memory");
}

/// The same through L1, for what several lanes copy.
RG_DEVICE RG_FORCE_INLINE void copy_async_near(std::uint32_t to, const void* from, index_t bytes) {
  asm volatile(
      "cp.async.ca.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
      : "memory");
}

/// Closes the batch of copies begun so far.
RG_DEVICE RG_FORCE_INLINE void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most `Open` batches of this lane are under way.
template <index_t Open>
RG_DEVICE RG_FORCE_INLINE void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(Open) : "memory");
}

RG_DEVICE RG_FORCE_INLINE void store_words(std::uint32_t to, const Words& w) {
  asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to),
               "r"(w.word[0]),
               "r"(w.word[1]),
               "r"(w.word[2]),
               "r"(w.word[3])
               : "memory");
}

RG_DEVICE RG_FORCE_INLINE Words read_words(std::uint32_t from) {
  Words w;
  asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
               : "=r"(w.word[0]), "=r"(w.word[1]), "=r"(w.word[2]), "=r"(w.word[3])
               : "r"(from)
               : "memory");
  return w;
}

/// Bytes `shift` … shift + 15 of `low` and `high`, one after the other; `shift` is even and below
/// 16.
RG_DEVICE RG_FORCE_INLINE Words shifted(const Words& low, const Words& high, std::uint32_t shift) {
  std::uint32_t by_two[6];
  std::uint32_t by_one[5];
  const bool two = (shift & 8U) != 0;
  const bool one = (shift & 4U) != 0;
  unrolled<6>([&](auto i) {
    const std::uint32_t far = i + 2 < 4 ? low.word[(i + 2) % 4] : high.word[(i + 2) % 4];
    const std::uint32_t near = i < 4 ? low.word[i % 4] : high.word[i % 4];
    by_two[i] = two ? far : near;
  });
  unrolled<5>([&](auto i) { by_one[i] = one ? by_two[i + 1] : by_two[i]; });
  Words out;
  unrolled<4>(
      [&](auto i) { out.word[i] = __funnelshift_r(by_one[i], by_one[i + 1], (shift & 2U) * 8U); });
  return out;
}

/// Reads four 8 x 8 matrices of 16-bit elements: lane l gives the address of line l % 8 of matrix
/// l / 8 and gets elements (l / 4, l % 4 * 2) and the next of each matrix, or of its transpose.
/// Source: PTX ISA, "ldmatrix".
template <bool Transposed>
RG_DEVICE RG_FORCE_INLINE Words load_matrices(std::uint32_t address) {
  Words m;
  if constexpr (Transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m.word[0]), "=r"(m.word[1]), "=r"(m.word[2]), "=r"(m.word[3])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m.word[0]), "=r"(m.word[1]), "=r"(m.word[2]), "=r"(m.word[3])
                 : "r"(address)
                 : "memory");
  return m;
}

/// d += A · B over a depth of 16, in the registers of InstructionMap.
template <class T>
RG_DEVICE RG_FORCE_INLINE void multiply(float (&d)[4],
                                        const Words& a,
                                        std::uint32_t b_low,
                                        std::uint32_t b_high) {
  static_assert(std::is_same_v<T, bf16> || std::is_same_v<T, fp16>,
                "ConfigRow.input_dtypes must be bf16 or f16 for mma_sync");
  if constexpr (std::is_same_v<T, bf16>)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b_low), "r"(b_high));
  else
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b_low), "r"(b_high));
}

/// The compiler keeps the object in (local) memory, not in registers that a main loop has no room
/// for.
template <class T>
RG_DEVICE RG_FORCE_INLINE void keep_in_memory(T& object) {
  asm volatile("" ::"l"(&object) : "memory");
}

#endif

}  // namespace arch::sm80
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
