// SPDX-License-Identifier: Apache-2.0
// KernelEntry: one kernel of this program, behind plain function pointers. What selection chooses
// from, and all that a caller without kernel bodies needs to see.
#pragma once

#include <cstdint>

#include "raggedgemm/base/status.hpp"
#include "raggedgemm/platform/arch.hpp"
#include "raggedgemm/problem/problem.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {

/// What an engine prepares on the host for a bound call (tensor maps); opaque, trivially copyable.
struct alignas(64) EngineData {
  unsigned char bytes[1152] = {};
};

/// One kernel: a config row instantiated for a variant, dtypes and an epilogue.
struct KernelEntry {
  index_t row = -1;  ///< of config_table
  /// Whether this binary holds the kernel's code for the calling thread's current device.
  bool (*present)() noexcept = nullptr;
  /// Blocks of it that one multiprocessor holds; 0: it cannot run here. Cached by device.
  index_t (*blocks_per_multiprocessor)() noexcept = nullptr;
  offset_t (*tiles_at_most)(const Arguments&) noexcept = nullptr;  ///< without parts of the depth
  index_t partial_bytes = 0;  ///< of an element of the partial sums, where the kernel has them
  /// Of the sums of a tile, where tiles of the last round may be cut; else 0.
  index_t cut_tile_bytes = 0;
  Status (*prepare)(const Arguments&, EngineData&) noexcept = nullptr;
  /// Copies an operand first, where a plan says so; null where the kernel takes any alignment.
  Status (*copy_lines)(const CopyLines&, void* stream) noexcept = nullptr;
  Status (*launch)(const Arguments&,
                   const EngineData&,
                   const void* epilogue,
                   index_t blocks,
                   void* stream) noexcept = nullptr;
};

/// The kernels of a program that could run one kind of problem, and how to query its device.
struct KernelSet {
  const KernelEntry* entries = nullptr;
  index_t count = 0;
  Platform platform = Platform::host;
  Result<Device> (*device)() noexcept = nullptr;
  Variant variant = Variant::non_contracting;  ///< what the kernels multiply
  DType lhs_dtype = DType::f32;
  DType rhs_dtype = DType::f32;
  DType out_dtype = DType::f32;

  /// Whether the kernels are of the problem's variant and dtypes.
  [[nodiscard]] constexpr bool is_for(const Problem& p) const noexcept {
    return p.variant == variant && p.lhs_dtype == lhs_dtype && p.rhs_dtype == rhs_dtype &&
           p.out_dtype == out_dtype;
  }
};

}  // namespace raggedgemm
