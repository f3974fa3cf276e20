// SPDX-License-Identifier: Apache-2.0
// Linked into test programs that run on any machine.

#include <string>

namespace support {
std::string skip_reason();
std::string skip_reason() { return {}; }
}  // namespace support
