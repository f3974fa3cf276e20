// SPDX-License-Identifier: Apache-2.0
// Register vectors of CDNA and pointers into a block's shared memory.
#pragma once

#include <cstdint>

#include "raggedgemm/arch/simt/unrolled.hpp"
#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

using simt::unrolled;

#if RG_PLATFORM_HIP

template <index_t Count>
using DwordVector = std::uint32_t __attribute__((ext_vector_type(Count)));
using Dwords2 = DwordVector<2>;
using Dwords4 = DwordVector<4>;

/// What a lane holds of one operand for one slice: chunks of 16 bytes.
template <index_t Chunks>
using Fragment = DwordVector<4 * Chunks>;

/// What a lane holds of the result of a matrix instruction.
template <class Compute, index_t Elems>
using Result = Compute __attribute__((ext_vector_type(Elems)));

/// The `Part`th T of a fragment.
template <class T, index_t Part, class FragmentType>
RG_DEVICE RG_FORCE_INLINE T part_of(const FragmentType& fragment) {
  constexpr index_t dwords = index_t{sizeof(T)} / 4;
  constexpr index_t first = Part * dwords;
  if constexpr (sizeof(T) == sizeof(FragmentType)) {
    return __builtin_bit_cast(T, fragment);
  } else if constexpr (dwords == 1) {
    return __builtin_bit_cast(T, std::uint32_t{fragment[first]});
  } else {
    static_assert(dwords == 2, "parts are one dword, two, or the whole fragment");
    return __builtin_bit_cast(T, Dwords2{fragment[first], fragment[first + 1]});
  }
}

/// A byte of a block's shared memory, in the address space of its own: a generic pointer would make
/// flat loads.
using SharedByte = __attribute__((address_space(3))) unsigned char;

// RG_RESTRICT: without it the compiler (clang 22) takes a read for one of what loads to shared
// memory write, and waits for all of them.
RG_DEVICE RG_FORCE_INLINE Dwords4 shared_read(const SharedByte* RG_RESTRICT from) {
  return *reinterpret_cast<const __attribute__((address_space(3))) Dwords4*>(from);
}
/// Four 16-bit elements by TransposingRead.
RG_DEVICE RG_FORCE_INLINE Dwords2 shared_read_transposing(const SharedByte* RG_RESTRICT from) {
#if defined(__gfx950__)
  using Four = short __attribute__((ext_vector_type(4)));
  return __builtin_bit_cast(
      Dwords2,
      __builtin_amdgcn_ds_read_tr16_b64_v4i16((__attribute__((address_space(3))) Four*)from));
#else
  static_cast<void>(from);
  return {};
#endif
}
RG_DEVICE RG_FORCE_INLINE void shared_write(SharedByte* to, Dwords4 value) {
  *reinterpret_cast<__attribute__((address_space(3))) Dwords4*>(to) = value;
}

/// The compiler forgets where a value of one vector register came from: what depends on it is
/// computed behind this point, not hoisted out of a loop into registers that the loop has no room
/// for.
template <class T>
RG_DEVICE RG_FORCE_INLINE void forget(T& value) {
  asm volatile("" : "+v"(value));
}

/// At this point the value is in accumulator registers. No instruction where it is there anyway.
template <class T>
RG_DEVICE RG_FORCE_INLINE void keep_in_accumulators(T& value) {
  asm volatile("" : "+a"(value));
}

/// The address with some bits flipped.
RG_DEVICE RG_FORCE_INLINE SharedByte* flip(SharedByte* address, index_t bits) {
  return reinterpret_cast<SharedByte*>(reinterpret_cast<std::uintptr_t>(address) ^
                                       static_cast<std::uintptr_t>(bits));
}

#endif

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
