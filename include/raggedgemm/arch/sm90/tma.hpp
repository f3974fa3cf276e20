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

RG_DEVICE RG_FORCE_INLINE void prefetch_map(const OutputMap& output) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&output.map) : "memory");
}

/// Starts the store of one box from shared memory; elements outside the output are not written. One
/// lane calls it, after a proxy fence of all lanes that wrote the box and a barrier. What `Streams`
/// goes from the L2 first: it is not read again soon.
template <bool Streams>
RG_DEVICE RG_FORCE_INLINE void store_box(
    const OutputMap& output, std::uint32_t shared, index_t col, index_t row, index_t slab) {
  if constexpr (Streams)
    asm volatile(
        "{\n"
        ".reg .b64 policy;\n"
        "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group.L2::cache_hint "
        "[%0, {%2, %3, %4}], [%1], policy;\n"
        "}" ::"l"(&output.map),
        "r"(shared),
        "r"(col),
        "r"(row),
        "r"(slab)
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(
            &output.map),
        "r"(shared),
        "r"(col),
        "r"(row),
        "r"(slab)
        : "memory");
}

/// Closes the calling lane's batch of stores.
RG_DEVICE RG_FORCE_INLINE void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until at most `Open` of the calling lane's batches still read shared memory.
template <index_t Open>
RG_DEVICE RG_FORCE_INLINE void wait_stores_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Open) : "memory");
}

/// Waits until all of the calling lane's stores are complete.
RG_DEVICE RG_FORCE_INLINE void wait_stores() {
  asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

#endif

}  // namespace arch::sm90
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
