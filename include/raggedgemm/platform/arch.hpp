// SPDX-License-Identifier: Apache-2.0
// The architectures that kernels are written for, and what a device of one looks like.
// A new architecture is one line in each of the three lists here and a folder in arch/.
#pragma once

#include <cstdint>

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/problem/options.hpp"

namespace raggedgemm {

/// What a kernel needs of the device. Ordered inside a platform: a device runs the kernels of its
/// own architecture and of those it extends.
enum class Arch : std::int32_t {
  host,    ///< any CPU
  sm70,    ///< any NVIDIA GPU from Volta on
  sm80,    ///< Ampere, Ada, and what came later
  sm90,    ///< Hopper (its kernels use sm_90a, which no other architecture runs)
  gfx9,    ///< any AMD GPU with 64-lane waves
  gfx942,  ///< MI300
  gfx950,  ///< MI350
};

constexpr const char* name_of(Arch arch) noexcept {
  switch (arch) {
    case Arch::host: return "host";
    case Arch::sm70: return "sm70";
    case Arch::sm80: return "sm80";
    case Arch::sm90: return "sm90";
    case Arch::gfx9: return "gfx9";
    case Arch::gfx942: return "gfx942";
    case Arch::gfx950: return "gfx950";
  }
  return "unknown";
}

/// Whether a device of architecture `device` runs kernels written for `kernel`.
constexpr bool runs_on(Arch kernel, Arch device) noexcept {
  switch (kernel) {
    case Arch::host: return device == Arch::host;
    case Arch::sm70: return device == Arch::sm70 || device == Arch::sm80 || device == Arch::sm90;
    case Arch::sm80: return device == Arch::sm80 || device == Arch::sm90;
    case Arch::sm90: return device == Arch::sm90;
    case Arch::gfx9:
      return device == Arch::gfx9 || device == Arch::gfx942 || device == Arch::gfx950;
    case Arch::gfx942: return device == Arch::gfx942;
    case Arch::gfx950: return device == Arch::gfx950;
  }
  return false;
}

/// A device, as queried from its runtime.
struct Device {
  Platform platform = Platform::host;
  Arch arch = Arch::host;
  index_t ordinal = 0;
  index_t multiprocessors = 1;    ///< multiprocessors, compute units, or host threads
  index_t chiplets = 1;           ///< dies with an L2 of their own that work-groups are dealt to
  std::int64_t shared_bytes = 0;  ///< the most that one block may have
  std::int64_t last_level_cache_bytes = 0;
  char name[96] = "";
};

}  // namespace raggedgemm
