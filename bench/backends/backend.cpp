// SPDX-License-Identifier: Apache-2.0
// Backends by name.
// The names are those of the command line, the tables and the result files.
#include "backends/backend.hpp"

namespace raggedgemm::bench {

const char* name_of(BackendId id) {
  switch (id) {
    case BackendId::native: return "native";
    case BackendId::loop: return "loop";
    case BackendId::padded_max: return "padded:max";
    case BackendId::padded_m: return "padded:M";
  }
  return "unknown";
}

bool parse_backend(const std::string& name, BackendId& id) {
  for (const BackendId candidate : all_backends) {
    if (name != name_of(candidate)) continue;
    id = candidate;
    return true;
  }
  return false;
}

std::unique_ptr<Backend> make_backend(BackendId id, index_t config_row) {
  switch (id) {
    case BackendId::native: return make_native(config_row);
    case BackendId::loop: return make_loop();
    case BackendId::padded_max: return make_padded(false);
    case BackendId::padded_m: return make_padded(true);
  }
  return nullptr;
}

}  // namespace raggedgemm::bench
