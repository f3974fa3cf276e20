// SPDX-License-Identifier: Apache-2.0
// The CDNA chip that this compiler pass is for. One kernel text serves gfx942 and gfx950; the pass
// picks the matrix instruction. Passes for other architectures have none.
#pragma once

#include "raggedgemm/arch/gfx942/matrix.hpp"
#include "raggedgemm/arch/gfx950/matrix.hpp"
#include "raggedgemm/platform/arch.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

#if defined(__gfx942__)
namespace native = arch::gfx942;
#else
// The host pass, too: nothing that it reads differs between the chips but the capacity, and a
// kernel of either chip must exist for it.
namespace native = arch::gfx950;
#endif

/// Whether this pass is the host's, or that of the chip that the kernel is for, with as much shared
/// memory.
constexpr bool compiled_here(Arch arch, std::size_t shared_bytes) {
#if !defined(__HIP_DEVICE_COMPILE__)
  const bool own = arch == Arch::gfx942 || arch == Arch::gfx950;
#elif defined(__gfx942__)
  const bool own = arch == Arch::gfx942;
#elif defined(__gfx950__)
  const bool own = arch == Arch::gfx950;
#else
  const bool own = false && arch == Arch::host;
#endif
  return own && shared_bytes <= static_cast<std::size_t>(native::shared_capacity_bytes);
}

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
