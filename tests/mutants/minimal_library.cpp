// SPDX-License-Identifier: Apache-2.0
// What tests of type-erased calls link here in place of raggedgemm::compiled: f32 for the host
// only, compiled from the headers of the mutant.

#include "raggedgemm/dispatch/compiled.hpp"
#include "raggedgemm/ragged_dot.hpp"

namespace raggedgemm::compiled {

KernelSet kernels(Platform platform, Variant variant, DType lhs, DType rhs, DType out) noexcept {
  using F32 = Types<float, float, float>;
  KernelSet none;
  none.platform = platform;
  if (platform != Platform::host) return none;
  none.device = &runtime::host::device;
  if (lhs != DType::f32 || rhs != DType::f32 || out != DType::f32) return none;
  switch (variant) {
    case Variant::non_contracting:
      return dispatch::kernels<Platform::host, kernel::NonContracting, F32, Identity, true>();
    case Variant::contracting:
      return dispatch::kernels<Platform::host, kernel::Contracting, F32, Identity, true>();
    case Variant::batch:
      return dispatch::kernels<Platform::host, kernel::Batch, F32, Identity, true>();
  }
  return none;
}

Platform default_platform() noexcept { return Platform::host; }

}  // namespace raggedgemm::compiled
