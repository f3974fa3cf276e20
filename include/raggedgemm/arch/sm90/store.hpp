// SPDX-License-Identifier: Apache-2.0
// Stores that must be one instruction: pairs to shared memory, chunks to global memory.
#pragma once

#include "raggedgemm/arch/sm90/barrier.hpp"
#include "raggedgemm/base/chunk.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm90 {

#if RG_PLATFORM_CUDA

/// Writes two neighbours; as a plain store, nvcc 13.0 made two with bank conflicts of half of them.
RG_DEVICE RG_FORCE_INLINE void store_shared_pair(float* to, float first, float second) {
  asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(shared_address(to)), "f"(first), "f"(second)
               : "memory");
}

/// Requires: `to` is 16-byte aligned.
template <class T, int Width>
RG_DEVICE RG_FORCE_INLINE void store_aligned(T* to, const Chunk<T, Width>& chunk) {
  struct alignas(16) Packet {
    Chunk<T, Width> chunk;
  };
  static_assert(sizeof(Packet) == sizeof(T) * Width, "Chunk must be a multiple of 16 bytes");
  *reinterpret_cast<Packet*>(to) = Packet{chunk};
}

#endif

}  // namespace arch::sm90
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
