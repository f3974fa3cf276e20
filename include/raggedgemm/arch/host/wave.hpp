// SPDX-License-Identifier: Apache-2.0
// The host's wave and work-group: one lane. Collectives of one lane are the identity, which is what
// lets the same kernel text run on a CPU.
#pragma once

#include <cstdint>

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::host {

struct Wave {
  static constexpr index_t lanes = 1;
  static index_t lane() { return 0; }
  static std::uint64_t ballot(bool predicate) { return predicate ? 1 : 0; }
  static index_t last_set(std::uint64_t) { return 0; }
  static index_t first_set(std::uint64_t) { return 0; }
  static void prefetch(const void*) {}
  static offset_t exclusive_sum(offset_t, offset_t) { return 0; }
  static offset_t inclusive_sum(offset_t value) { return value; }
  template <class T>
  static T broadcast(T value, index_t) {
    return value;
  }
};

}  // namespace arch::host
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
