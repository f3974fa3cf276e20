// SPDX-License-Identifier: Apache-2.0
// ConfigRow: what a row of the config table says, and the sets that its fields are made of.
#pragma once

#include <cstdint>

#include "raggedgemm/dispatch/tile_config.hpp"
#include "raggedgemm/platform/arch.hpp"

namespace raggedgemm {

/// One row. Selection takes the first row, in table order, whose conditions all hold.
struct ConfigRow {
  const char* name;
  Arch arch;                      ///< what the kernel needs of the device
  std::uint32_t input_dtypes;     ///< bit set of DType: lhs and rhs, equal or two of fp8 …
  bool any_dtypes;                ///< … unless this says that every combination works
  std::uint32_t variants;         ///< bit set of Variant
  offset_t mean_extent_at_least;  ///< bucket of the mean rows (or depth) of a group
  offset_t mean_extent_at_most;
  TileConfig config;
  std::int32_t alignment_bytes;  ///< of operand pointers and of every stride that is not 1
  bool core;                     ///< instantiated in header-only use, too
  bool fast;                     ///< runs at the hardware's matrix rate (the host's vector rate)
  const char* provenance;        ///< the benchmark, "isa-model" (bench/isa_report.py) or "untuned"
  bool tf32 = false;             ///< rounds f32 operands to tf32: for Options::allow_tf32
  bool half_out = false;         ///< chosen for 16-bit outputs only
  bool gathers = false;          ///< chosen for gathered lhs only
};

constexpr std::uint32_t bit_of(DType dtype) { return 1U << static_cast<std::uint32_t>(dtype); }
constexpr std::uint32_t bit_of(Variant v) { return 1U << static_cast<std::uint32_t>(v); }

inline constexpr std::uint32_t all_variants = 7;
inline constexpr std::uint32_t rows_ragged_or_batch =
    bit_of(Variant::non_contracting) | bit_of(Variant::batch);
inline constexpr std::uint32_t half_floats = bit_of(DType::bf16) | bit_of(DType::f16);
inline constexpr std::uint32_t gfx942_bytes =
    bit_of(DType::e4m3fnuz) | bit_of(DType::e5m2fnuz) | bit_of(DType::s8);
inline constexpr std::uint32_t gfx950_bytes =
    bit_of(DType::e4m3fn) | bit_of(DType::e5m2) | bit_of(DType::s8);
inline constexpr offset_t any_extent = offset_t{1} << 40;

}  // namespace raggedgemm
