// SPDX-License-Identifier: Apache-2.0
// The CDNA chips by name. A kernel is for one of them (its config says which); passes for others
// compile an empty body.
#pragma once

#include "raggedgemm/arch/gfx942/matrix.hpp"
#include "raggedgemm/arch/gfx950/matrix.hpp"
#include "raggedgemm/platform/arch.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

template <Arch Chip>
struct Native;

template <>
struct Native<Arch::gfx942> {
  static constexpr index_t shared_capacity_bytes = gfx942::shared_capacity_bytes;
#if RG_PLATFORM_HIP
  template <class A, class B, bool Tf32>
  using Slice = gfx942::MatrixSlice<A, B, Tf32>;
#endif
};

template <>
struct Native<Arch::gfx950> {
  static constexpr index_t shared_capacity_bytes = gfx950::shared_capacity_bytes;
#if RG_PLATFORM_HIP
  template <class A, class B, bool Tf32>
  using Slice = gfx950::MatrixSlice<A, B, Tf32>;
#endif
};

/// Whether this pass is the host's, or that of the chip.
constexpr bool compiled_here(Arch chip) {
#if !defined(__HIP_DEVICE_COMPILE__)
  return chip == Arch::gfx942 || chip == Arch::gfx950;
#elif defined(__gfx942__)
  return chip == Arch::gfx942;
#elif defined(__gfx950__)
  return chip == Arch::gfx950;
#else
  static_cast<void>(chip);
  return false;
#endif
}

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
