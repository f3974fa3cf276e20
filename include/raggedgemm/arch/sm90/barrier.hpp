// SPDX-License-Identifier: Apache-2.0
// Hopper's barriers: the mbarrier in shared memory, named barriers of some warps, proxy fences, and
// the hand-over of registers between roles.
#pragma once

#include <cstdint>

#include "raggedgemm/arch/simt/shared_memory.hpp"
#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm90 {

#if RG_PLATFORM_CUDA

using simt::shared_address;

/// With RAGGEDGEMM_PLANT_DELAYS, a switch for tests of what the roles wait for: a warp sleeps a
/// microsecond before one in eight of its waits. Otherwise nothing. All lanes of a warp call it.
RG_DEVICE RG_FORCE_INLINE void plant_delay() {
#if defined(RAGGEDGEMM_PLANT_DELAYS)
  const std::uint32_t dice =
      (static_cast<std::uint32_t>(clock64()) + threadIdx.x / 32 * 977) * 2654435761U;
  if (__shfl_sync(0xFFFFFFFFU, dice, 0) >> 29 == 0) __nanosleep(1000);
  __syncwarp();  // the warp goes on together
#endif
}

/// A phase barrier in shared memory. A phase ends when `arrivals` arrivals and all announced bytes
/// have come in; phases alternate between parity 0 and 1. wait() acquires what the arriving lanes,
/// and the copy engine, wrote before.
class Barrier {
 public:
  RG_DEVICE RG_FORCE_INLINE void initialize(index_t arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(arrivals));
  }

  RG_DEVICE RG_FORCE_INLINE void arrive() {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory");
  }

  /// Arrives, and keeps the phase open until the copy engine has written `bytes` more.
  RG_DEVICE RG_FORCE_INLINE void arrive_and_expect(index_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address()),
                 "r"(bytes)
                 : "memory");
  }

  /// Returns when the phase of this parity has ended; a fresh barrier's phase 1 counts as ended.
  RG_DEVICE RG_FORCE_INLINE void wait(index_t parity) {
    plant_delay();
    asm volatile(
        "{\n"
        ".reg .pred ended;\n"
        "AGAIN:\n"
        "mbarrier.try_wait.parity.shared::cta.b64 ended, [%0], %1;\n"
        "@ended bra DONE;\n"
        "bra AGAIN;\n"
        "DONE:\n"
        "}" ::"r"(address()),
        "r"(parity)
        : "memory");
  }

  RG_DEVICE RG_FORCE_INLINE std::uint32_t address() const { return shared_address(&state_); }

 private:
  std::uint64_t state_;
};

/// Makes barrier initialisation visible to the copy engine; a block barrier must follow.
RG_DEVICE RG_FORCE_INLINE void fence_barrier_initialization() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Orders this lane's ordinary stores to shared memory before later reads of them by tensor cores
/// or copy engine; a barrier between the lanes must follow.
RG_DEVICE RG_FORCE_INLINE void fence_shared_for_async_proxy() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// A barrier of `lanes` lanes by number, 1 to 15 (0 is __syncthreads).
template <index_t Lanes>
RG_DEVICE RG_FORCE_INLINE void named_barrier(index_t number) {
  plant_delay();
  asm volatile("bar.sync %0, %1;" ::"r"(number), "n"(Lanes) : "memory");
}

/// Gives up registers above `Registers` a lane. All lanes of the warpgroup call it.
template <index_t Registers>
RG_DEVICE RG_FORCE_INLINE void release_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

/// Waits for and takes registers, up to `Registers` a lane. All lanes of the warpgroup call it.
template <index_t Registers>
RG_DEVICE RG_FORCE_INLINE void claim_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

#endif

}  // namespace arch::sm90
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
