// SPDX-License-Identifier: Apache-2.0
// The copy engine, from the device: boxes of a tensor map into shared memory.
#pragma once

#include "raggedgemm/arch/sm90/barrier.hpp"
#include "raggedgemm/arch/sm90/tensor_map.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm90 {

#if RG_PLATFORM_CUDA

RG_DEVICE RG_FORCE_INLINE void prefetch_map(const OperandMap& operand) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&operand.map) : "memory");
}

/// Starts the copy of one box into shared memory (1024-byte aligned, 128-byte swizzle); `done`
/// counts its bytes. One lane calls it.
RG_DEVICE RG_FORCE_INLINE void load_box(void* shared,
                                        const OperandMap& operand,
                                        Barrier& done,
                                        index_t elem,
                                        index_t line,
                                        index_t chunk,
                                        index_t slab) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(shared_address(shared)),
      "l"(&operand.map),
      "r"(done.address()),
      "r"(elem),
      "r"(line),
      "r"(chunk),
      "r"(slab)
      : "memory");
}

#endif

}  // namespace arch::sm90
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
