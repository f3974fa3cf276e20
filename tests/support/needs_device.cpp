// SPDX-License-Identifier: Apache-2.0
// Linked into test programs that run kernels: compiled as the platform's language, it asks that
// platform's runtime for a device. The host is always there.

#include <string>

#include "raggedgemm/platform/runtime.hpp"

namespace support {
std::string skip_reason();
std::string skip_reason() {
  const auto device = raggedgemm::runtime::native::device();
  return device.ok() ? std::string() : device.status().message();
}
}  // namespace support
