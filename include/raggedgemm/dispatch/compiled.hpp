// SPDX-License-Identifier: Apache-2.0
// What raggedgemm::compiled offers: its kernels, by plain function calls. Declarations only, so a
// .cpp that links it compiles no kernel body and includes no vendor header.
#pragma once

#include "raggedgemm/dispatch/kernel_entry.hpp"

namespace raggedgemm::compiled {

/// The kernels of the library for a platform, variant and dtypes; an empty set with no device query
/// where the library was not built for the platform.
KernelSet kernels(Platform platform, Variant variant, DType lhs, DType rhs, DType out) noexcept;

/// The platform that the library was built for: CUDA, HIP, or the host when neither.
Platform default_platform() noexcept;

}  // namespace raggedgemm::compiled
