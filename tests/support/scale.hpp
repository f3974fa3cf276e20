// SPDX-License-Identifier: Apache-2.0
// How much repetition a run can pay. RAGGEDGEMM_TEST_SCALE=emulator is for a device that executes
// every lane in software: each kind of case and each config row stays, with fewer repeats, random
// trials and element types of one shape, and smaller extents where nothing but time depends on
// them.
#pragma once

#include <cstdlib>
#include <string>

#include "support/catch.hpp"

namespace support {

inline bool emulated() {
  static const bool is_emulator = [] {
    const char* const scale = std::getenv("RAGGEDGEMM_TEST_SCALE");
    const std::string name = scale == nullptr ? "" : scale;
    if (!name.empty() && name != "emulator") FAIL("RAGGEDGEMM_TEST_SCALE may be 'emulator' only");
    return name == "emulator";
  }();
  return is_emulator;
}

/// `full`, or what an emulated device can pay instead.
template <class T>
T scaled(const T& full, const T& on_emulator) {
  return emulated() ? on_emulator : full;
}

}  // namespace support
