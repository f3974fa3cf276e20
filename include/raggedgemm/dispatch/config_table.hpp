// SPDX-License-Identifier: Apache-2.0
// The config table: which tile configs exist, what each one needs, when it is chosen, and why.
// A tuned config is one row here, with the benchmark that justifies it.
#pragma once

#include <array>
#include <cstdint>

#include "raggedgemm/dispatch/tile_config.hpp"
#include "raggedgemm/platform/arch.hpp"

namespace raggedgemm {

/// One row. Selection takes the first row, in table order, whose conditions all hold.
struct ConfigRow {
  const char* name;
  Arch arch;                      ///< what the kernel needs of the device
  std::uint32_t input_dtypes;     ///< bit set of DType: lhs and rhs, which must be equal …
  bool any_dtypes;                ///< … unless this says that every combination works
  std::uint32_t variants;         ///< bit set of Variant
  offset_t mean_extent_at_least;  ///< bucket of the mean rows (or depth) of a group
  offset_t mean_extent_at_most;
  TileConfig config;
  std::int32_t alignment_bytes;  ///< of operand pointers and of every stride that is not 1
  bool core;                     ///< instantiated in header-only use, too
  bool fast;                     ///< runs at the hardware's matrix rate (the host's vector rate)
  const char* provenance;        ///< the benchmark behind the row, "isa-model" or "untuned"
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

// clang-format off
inline constexpr std::array config_table{
    // Hopper: TMA + WGMMA.
    // Rows ragged: tiles of up to 128 rows for small groups, with more stages; else of up to 256.
    ConfigRow{"wgmma_nn_swapped_128x128x64", Arch::sm90, half_floats, false, bit_of(Variant::non_contracting), 0, 128,
              {.engine = EngineId::tma_wgmma, .block_m = 128, .block_n = 128, .block_k = 64, .stages = 6, .lanes = 384,
               .layout = Layout::nn, .supergroup = 8, .swapped = true},
              16, true, true, "bench/hopper_check"},
    ConfigRow{"wgmma_nt_swapped_128x128x64", Arch::sm90, half_floats, false, bit_of(Variant::non_contracting), 0, 128,
              {.engine = EngineId::tma_wgmma, .block_m = 128, .block_n = 128, .block_k = 64, .stages = 6, .lanes = 384,
               .layout = Layout::nt, .supergroup = 8, .swapped = true},
              16, true, true, "bench/hopper_check"},
    // Gathered lines enter shared memory by lanes, 32 bytes a clock: tiles with fewer of them a product.
    ConfigRow{"wgmma_nn_128x256x64_gather", Arch::sm90, half_floats, false, bit_of(Variant::non_contracting), 129, any_extent,
              {.engine = EngineId::tma_wgmma, .block_m = 128, .block_n = 256, .block_k = 64, .stages = 4, .lanes = 384,
               .layout = Layout::nn, .supergroup = 8},
              16, true, true, "bench/unaligned_check", false, false, true},
    ConfigRow{"wgmma_nt_128x256x64_gather", Arch::sm90, half_floats, false, bit_of(Variant::non_contracting), 129, any_extent,
              {.engine = EngineId::tma_wgmma, .block_m = 128, .block_n = 256, .block_k = 64, .stages = 4, .lanes = 384,
               .layout = Layout::nt, .supergroup = 8},
              16, true, true, "bench/unaligned_check", false, false, true},
    ConfigRow{"wgmma_tn_128x256x64_gather", Arch::sm90, half_floats, false, bit_of(Variant::contracting), 0, any_extent,
              {.engine = EngineId::tma_wgmma, .block_m = 128, .block_n = 256, .block_k = 64, .stages = 4, .lanes = 384,
               .layout = Layout::tn, .supergroup = 8},
              16, true, true, "bench/unaligned_check", false, false, true},
    ConfigRow{"wgmma_nn_swapped_256x128x64", Arch::sm90, half_floats, false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::tma_wgmma, .block_m = 256, .block_n = 128, .block_k = 64, .stages = 4, .lanes = 384,
               .layout = Layout::nn, .supergroup = 8, .swapped = true},
              16, true, true, "bench/hopper_check"},
    ConfigRow{"wgmma_nt_swapped_256x128x64", Arch::sm90, half_floats, false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::tma_wgmma, .block_m = 256, .block_n = 128, .block_k = 64, .stages = 4, .lanes = 384,
               .layout = Layout::nt, .supergroup = 8, .swapped = true},
              16, true, true, "bench/hopper_check"},
    // Depth ragged: the stores of short groups take as long as their multiplies, so one warpgroup's hide
    // the other's. Groups of 384 and more have steps enough to hide 16-bit stores in.
    ConfigRow{"wgmma_tn_128x256x64", Arch::sm90, half_floats, false, bit_of(Variant::contracting), 384, any_extent,
              {.engine = EngineId::tma_wgmma, .block_m = 128, .block_n = 256, .block_k = 64, .stages = 4, .lanes = 384,
               .layout = Layout::tn, .supergroup = 8},
              16, true, true, "bench/hopper_check", false, true},
    ConfigRow{"wgmma_tn_128x128x64", Arch::sm90, half_floats, false, bit_of(Variant::contracting), 0, any_extent,
              {.engine = EngineId::tma_wgmma, .block_m = 128, .block_n = 128, .block_k = 64, .stages = 5, .lanes = 384,
               .layout = Layout::tn, .supergroup = 8, .tiles_at_once = 2},
              16, true, true, "bench/hopper_check"},
    ConfigRow{"wgmma_nt_swapped_256x128x32_tf32", Arch::sm90, bit_of(DType::f32), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::tma_wgmma, .block_m = 256, .block_n = 128, .block_k = 32, .stages = 4, .lanes = 384,
               .layout = Layout::nt, .supergroup = 8, .swapped = true},
              16, true, true, "untuned", true},
    // 8 bits: twice the depth in a step. The sums of floats take registers of their own (adds_steps).
    ConfigRow{"wgmma_nt_swapped_128x128x128_fp8", Arch::sm90, bit_of(DType::e4m3fn) | bit_of(DType::e5m2), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::tma_wgmma, .block_m = 128, .block_n = 128, .block_k = 128, .stages = 6, .lanes = 384,
               .layout = Layout::nt, .supergroup = 8, .swapped = true},
              16, true, true, "bench/hopper_check"},
    ConfigRow{"wgmma_nt_swapped_256x128x128_s8", Arch::sm90, bit_of(DType::s8), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::tma_wgmma, .block_m = 256, .block_n = 128, .block_k = 128, .stages = 4, .lanes = 384,
               .layout = Layout::nt, .supergroup = 8, .swapped = true},
              16, true, true, "bench/hopper_check"},
    // Ampere and Ada; on Hopper what TMA cannot load: gathers, lines that are not 16-byte aligned.
    ConfigRow{"mma_nn_64x128x64", Arch::sm80, half_floats, false, bit_of(Variant::non_contracting), 0, 64,
              {.engine = EngineId::mma_sync, .block_m = 64, .block_n = 128, .block_k = 64, .stages = 3, .lanes = 128,
               .layout = Layout::nn, .supergroup = 8},
              2, true, true, "untuned"},
    ConfigRow{"mma_nt_64x128x64", Arch::sm80, half_floats, false, bit_of(Variant::non_contracting), 0, 64,
              {.engine = EngineId::mma_sync, .block_m = 64, .block_n = 128, .block_k = 64, .stages = 3, .lanes = 128,
               .layout = Layout::nt, .supergroup = 8},
              2, true, true, "untuned"},
    ConfigRow{"mma_nn_128x256x32", Arch::sm80, half_floats, false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mma_sync, .block_m = 128, .block_n = 256, .block_k = 32, .stages = 4, .lanes = 256,
               .layout = Layout::nn, .supergroup = 8},
              2, true, true, "untuned"},
    ConfigRow{"mma_nt_128x256x32", Arch::sm80, half_floats, false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mma_sync, .block_m = 128, .block_n = 256, .block_k = 32, .stages = 4, .lanes = 256,
               .layout = Layout::nt, .supergroup = 8},
              2, true, true, "untuned"},
    ConfigRow{"mma_tn_128x256x32", Arch::sm80, half_floats, false, bit_of(Variant::contracting), 0, any_extent,
              {.engine = EngineId::mma_sync, .block_m = 128, .block_n = 256, .block_k = 32, .stages = 4, .lanes = 256,
               .layout = Layout::tn, .supergroup = 8},
              2, true, true, "untuned"},
    // CDNA: MFMA. 256 x 256 for groups that fill it, two blocks of 128 x 128 a multiprocessor below, for
    // groups of few rows three or more of 32 x 128, whose loads of weights overlap. By bench/isa_report.py
    // the schedule of eight waves that interleave everything has the highest bound: its rows go first.
    ConfigRow{"mfma_nn_256x256x64", Arch::gfx942, half_floats, false, rows_ragged_or_batch, 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .lanes = 512,
               .layout = Layout::nn, .supergroup = 4},
              16, true, true, "isa-model"},
    ConfigRow{"mfma_nn_256x256x64_ping_pong", Arch::gfx942, half_floats, false, rows_ragged_or_batch, 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .lanes = 512,
               .layout = Layout::nn, .supergroup = 4, .ping_pong = true},
              16, false, true, "isa-model"},
    ConfigRow{"mfma_nn_256x256x64_4_waves", Arch::gfx942, half_floats, false, rows_ragged_or_batch, 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .lanes = 256,
               .layout = Layout::nn, .supergroup = 4},
              16, false, true, "isa-model"},
    ConfigRow{"mfma_nn_32x128x64", Arch::gfx942, half_floats, false, rows_ragged_or_batch, 0, 32,
              {.engine = EngineId::mfma, .block_m = 32, .block_n = 128, .block_k = 64, .lanes = 256,
               .layout = Layout::nn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nn_128x128x64", Arch::gfx942, half_floats, false, rows_ragged_or_batch, 0, 128,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 64, .lanes = 256,
               .layout = Layout::nn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nt_256x256x64", Arch::gfx942, half_floats, false, rows_ragged_or_batch, 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .lanes = 512,
               .layout = Layout::nt, .supergroup = 4},
              16, true, true, "isa-model"},
    ConfigRow{"mfma_nt_256x256x64_ping_pong", Arch::gfx942, half_floats, false, rows_ragged_or_batch, 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .lanes = 512,
               .layout = Layout::nt, .supergroup = 4, .ping_pong = true},
              16, false, true, "isa-model"},
    ConfigRow{"mfma_nt_256x256x64_4_waves", Arch::gfx942, half_floats, false, rows_ragged_or_batch, 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .lanes = 256,
               .layout = Layout::nt, .supergroup = 4},
              16, false, true, "isa-model"},
    ConfigRow{"mfma_nt_32x128x64", Arch::gfx942, half_floats, false, rows_ragged_or_batch, 0, 32,
              {.engine = EngineId::mfma, .block_m = 32, .block_n = 128, .block_k = 64, .lanes = 256,
               .layout = Layout::nt, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nt_128x128x64", Arch::gfx942, half_floats, false, rows_ragged_or_batch, 0, 128,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 64, .lanes = 256,
               .layout = Layout::nt, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_tn_256x256x64", Arch::gfx942, half_floats, false, bit_of(Variant::contracting), 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .lanes = 512,
               .layout = Layout::tn, .supergroup = 4},
              16, true, true, "untuned"},
    ConfigRow{"mfma_tn_128x128x64", Arch::gfx942, half_floats, false, bit_of(Variant::contracting), 0, 128,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 64, .lanes = 256,
               .layout = Layout::tn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_tn_256x256x64_batch", Arch::gfx942, half_floats, false, bit_of(Variant::batch), 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .lanes = 512,
               .layout = Layout::tn, .supergroup = 4},
              16, false, true, "untuned"},
    ConfigRow{"mfma_nn_256x256x64", Arch::gfx950, half_floats, false, rows_ragged_or_batch, 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .stages = 2, .lanes = 512,
               .layout = Layout::nn, .supergroup = 4, .direct = true},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nn_256x256x64_ping_pong", Arch::gfx950, half_floats, false, rows_ragged_or_batch, 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .stages = 2, .lanes = 512,
               .layout = Layout::nn, .supergroup = 4, .direct = true, .ping_pong = true},
              16, false, true, "isa-model"},
    ConfigRow{"mfma_nn_256x256x64_4_waves", Arch::gfx950, half_floats, false, rows_ragged_or_batch, 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .stages = 2, .lanes = 256,
               .layout = Layout::nn, .supergroup = 4, .direct = true},
              16, false, true, "isa-model"},
    ConfigRow{"mfma_nn_32x128x64", Arch::gfx950, half_floats, false, rows_ragged_or_batch, 0, 32,
              {.engine = EngineId::mfma, .block_m = 32, .block_n = 128, .block_k = 64, .lanes = 256,
               .layout = Layout::nn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nn_128x128x64", Arch::gfx950, half_floats, false, rows_ragged_or_batch, 0, 128,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 64, .lanes = 256,
               .layout = Layout::nn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nt_256x256x64", Arch::gfx950, half_floats, false, rows_ragged_or_batch, 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .stages = 2, .lanes = 512,
               .layout = Layout::nt, .supergroup = 4, .direct = true},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nt_256x256x64_ping_pong", Arch::gfx950, half_floats, false, rows_ragged_or_batch, 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .stages = 2, .lanes = 512,
               .layout = Layout::nt, .supergroup = 4, .direct = true, .ping_pong = true},
              16, false, true, "isa-model"},
    ConfigRow{"mfma_nt_256x256x64_4_waves", Arch::gfx950, half_floats, false, rows_ragged_or_batch, 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .stages = 2, .lanes = 256,
               .layout = Layout::nt, .supergroup = 4, .direct = true},
              16, false, true, "isa-model"},
    ConfigRow{"mfma_nt_32x128x64", Arch::gfx950, half_floats, false, rows_ragged_or_batch, 0, 32,
              {.engine = EngineId::mfma, .block_m = 32, .block_n = 128, .block_k = 64, .lanes = 256,
               .layout = Layout::nt, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nt_128x128x64", Arch::gfx950, half_floats, false, rows_ragged_or_batch, 0, 128,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 64, .lanes = 256,
               .layout = Layout::nt, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_tn_256x256x64", Arch::gfx950, half_floats, false, bit_of(Variant::contracting), 129, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .stages = 2, .lanes = 512,
               .layout = Layout::tn, .supergroup = 4, .direct = true},
              16, true, true, "untuned"},
    ConfigRow{"mfma_tn_128x128x64", Arch::gfx950, half_floats, false, bit_of(Variant::contracting), 0, 128,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 64, .lanes = 256,
               .layout = Layout::tn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_tn_256x256x64_batch", Arch::gfx950, half_floats, false, bit_of(Variant::batch), 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 64, .stages = 2, .lanes = 512,
               .layout = Layout::tn, .supergroup = 4, .direct = true},
              16, false, true, "untuned"},
    // 8-bit operands: tiles of the same bytes. Their only rows: groups of few rows take them, too.
    ConfigRow{"mfma_nn_256x256x128", Arch::gfx942, gfx942_bytes, false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 128, .lanes = 512,
               .layout = Layout::nn, .supergroup = 4},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nt_256x256x128", Arch::gfx942, gfx942_bytes, false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 128, .lanes = 512,
               .layout = Layout::nt, .supergroup = 4},
              16, true, true, "untuned"},
    ConfigRow{"mfma_tn_256x256x128", Arch::gfx942, gfx942_bytes, false, bit_of(Variant::contracting), 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 128, .lanes = 512,
               .layout = Layout::tn, .supergroup = 4},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nn_256x256x128", Arch::gfx950, gfx950_bytes, false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 128, .stages = 2, .lanes = 512,
               .layout = Layout::nn, .supergroup = 4},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nt_256x256x128", Arch::gfx950, gfx950_bytes, false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 128, .stages = 2, .lanes = 512,
               .layout = Layout::nt, .supergroup = 4, .direct = true},
              16, true, true, "untuned"},
    ConfigRow{"mfma_tn_256x256x128", Arch::gfx950, gfx950_bytes, false, bit_of(Variant::contracting), 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 128, .stages = 2, .lanes = 512,
               .layout = Layout::tn, .supergroup = 4},
              16, true, true, "untuned"},
    // f32 rounded to tf32: gfx942 only.
    ConfigRow{"mfma_nn_256x256x32_tf32", Arch::gfx942, bit_of(DType::f32), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 32, .lanes = 512,
               .layout = Layout::nn, .supergroup = 4},
              16, true, true, "untuned", true},
    ConfigRow{"mfma_nt_256x256x32_tf32", Arch::gfx942, bit_of(DType::f32), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 32, .lanes = 512,
               .layout = Layout::nt, .supergroup = 4},
              16, true, true, "untuned", true},
    ConfigRow{"mfma_tn_256x256x32_tf32", Arch::gfx942, bit_of(DType::f32), false, bit_of(Variant::contracting), 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 256, .block_n = 256, .block_k = 32, .lanes = 512,
               .layout = Layout::tn, .supergroup = 4},
              16, true, true, "untuned", true},
    // f32 and f64: at their rates 128 x 128 is enough to hide what the operands cost.
    ConfigRow{"mfma_nn_128x128x32", Arch::gfx942, bit_of(DType::f32), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 32, .lanes = 256,
               .layout = Layout::nn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nn_128x128x16", Arch::gfx942, bit_of(DType::f64), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 16, .lanes = 256,
               .layout = Layout::nn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nt_128x128x32", Arch::gfx942, bit_of(DType::f32), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 32, .lanes = 256,
               .layout = Layout::nt, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nt_128x128x16", Arch::gfx942, bit_of(DType::f64), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 16, .lanes = 256,
               .layout = Layout::nt, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_tn_128x128x32", Arch::gfx942, bit_of(DType::f32), false, bit_of(Variant::contracting), 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 32, .lanes = 256,
               .layout = Layout::tn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_tn_128x128x16", Arch::gfx942, bit_of(DType::f64), false, bit_of(Variant::contracting), 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 16, .lanes = 256,
               .layout = Layout::tn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nn_128x128x32", Arch::gfx950, bit_of(DType::f32), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 32, .lanes = 256,
               .layout = Layout::nn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nn_128x128x16", Arch::gfx950, bit_of(DType::f64), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 16, .lanes = 256,
               .layout = Layout::nn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nt_128x128x32", Arch::gfx950, bit_of(DType::f32), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 32, .lanes = 256,
               .layout = Layout::nt, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_nt_128x128x16", Arch::gfx950, bit_of(DType::f64), false, rows_ragged_or_batch, 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 16, .lanes = 256,
               .layout = Layout::nt, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_tn_128x128x32", Arch::gfx950, bit_of(DType::f32), false, bit_of(Variant::contracting), 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 32, .lanes = 256,
               .layout = Layout::tn, .supergroup = 8},
              16, true, true, "untuned"},
    ConfigRow{"mfma_tn_128x128x16", Arch::gfx950, bit_of(DType::f64), false, bit_of(Variant::contracting), 0, any_extent,
              {.engine = EngineId::mfma, .block_m = 128, .block_n = 128, .block_k = 16, .lanes = 256,
               .layout = Layout::tn, .supergroup = 8},
              16, true, true, "untuned"},
    // Any GPU: fused multiply-adds. Correct for everything, fast for nothing.
    ConfigRow{"simt_128x128x16", Arch::sm70, 0, true, all_variants, 33, any_extent,
              {.engine = EngineId::simple, .block_m = 128, .block_n = 128, .block_k = 16, .lanes = 256, .supergroup = 8},
              1, true, false, "untuned"},
    ConfigRow{"simt_16x128x32", Arch::sm70, 0, true, all_variants, 0, any_extent,
              {.engine = EngineId::simple, .block_m = 16, .block_n = 128, .block_k = 32, .lanes = 256},
              1, true, false, "untuned"},
    ConfigRow{"simt_128x128x16", Arch::gfx9, 0, true, all_variants, 65, any_extent,
              {.engine = EngineId::simple, .block_m = 128, .block_n = 128, .block_k = 16, .lanes = 256, .supergroup = 8},
              1, true, false, "untuned"},
    ConfigRow{"simt_16x128x32", Arch::gfx9, 0, true, all_variants, 0, any_extent,
              {.engine = EngineId::simple, .block_m = 16, .block_n = 128, .block_k = 32, .lanes = 256},
              1, true, false, "untuned"},
    // The host: tiles and panels sized for a 512 KiB L2.
    ConfigRow{"host_96x192x256", Arch::host, 0, true, all_variants, 0, any_extent,
              {.engine = EngineId::simple, .block_m = 96, .block_n = 192, .block_k = 256},
              1, true, true, "bench/README.md, host"},
};
// clang-format on

inline constexpr index_t config_rows = static_cast<index_t>(config_table.size());

constexpr const ConfigRow& config_row(index_t row) {
  return config_table[static_cast<std::size_t>(row)];
}

/// The config that the row's kernel is instantiated with. Rows of several chips of one platform may
/// differ in nothing else, and each kernel is wanted for its own chip only; so may a row for f32
/// and one that rounds it to tf32.
constexpr TileConfig tile_of(const ConfigRow& row) {
  TileConfig tile = row.config;
  if (tile.engine != EngineId::mfma) return tile;
  tile.arch = row.arch;
  tile.tf32 = row.tf32;
  return tile;
}

constexpr Platform platform_of(Arch arch) {
  switch (arch) {
    case Arch::host: return Platform::host;
    case Arch::sm70:
    case Arch::sm80:
    case Arch::sm90: return Platform::cuda;
    case Arch::gfx9:
    case Arch::gfx942:
    case Arch::gfx950: return Platform::hip;
  }
  return Platform::host;
}

/// Whether the row's kernel can be instantiated for these dtypes and this variant.
constexpr bool row_instantiates(const ConfigRow& row, Variant variant, DType lhs, DType rhs) {
  if ((row.variants & bit_of(variant)) == 0) return false;
  return row.any_dtypes || (lhs == rhs && (row.input_dtypes & bit_of(lhs)) != 0);
}

}  // namespace raggedgemm
