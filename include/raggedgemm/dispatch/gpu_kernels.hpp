// SPDX-License-Identifier: Apache-2.0
// The kernels of GPUs: every __global__ function of the library, and how each is launched.
#pragma once

#include <atomic>
#include <type_traits>

#include "raggedgemm/arch/simt/block.hpp"
#include "raggedgemm/arch/simt/dependent_launch.hpp"
#include "raggedgemm/arch/simt/shared_memory.hpp"
#include "raggedgemm/dispatch/fault.hpp"
#include "raggedgemm/dispatch/kernel_entry.hpp"
#include "raggedgemm/engine/copy_lines.hpp"
#include "raggedgemm/engine/simple.hpp"
#include "raggedgemm/engine/sum_parts.hpp"
#include "raggedgemm/kernel/split.hpp"
#include "raggedgemm/numeric/types_of.hpp"
#include "raggedgemm/platform/runtime.hpp"
#include "raggedgemm/schedule/tile_source.hpp"
#if RG_PLATFORM_CUDA
#include "raggedgemm/engine/mma_sync.hpp"
#include "raggedgemm/engine/tma_wgmma.hpp"
#endif
#if RG_PLATFORM_HIP
#include "raggedgemm/engine/mfma.hpp"
#endif

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace dispatch {

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP

#if RG_PLATFORM_HIP
using GpuWave = arch::simt::Wave<64>;  // CDNA
#else
using GpuWave = arch::simt::Wave<32>;
#endif

/// The simple engine as a GPU kernel.
template <class Config, class VariantType, class TypesType, class EpilogueType>
struct GpuSimple {
  using Block = arch::simt::Block<typename TypesType::compute,
                                  Config::value.block_m,
                                  Config::value.block_n,
                                  Config::value.block_k,
                                  Config::value.lanes>;
  struct Prepared {};
  static constexpr bool compiled_here = true;
  static constexpr bool begins_early = false;
  static constexpr index_t lanes = Config::value.lanes;
  static constexpr std::size_t shared_bytes = Block::shared_bytes;

  static Status prepare(const Arguments&, Prepared&) noexcept { return {}; }
  static RG_DEVICE void run(const Arguments& arguments,
                            const Prepared&,
                            const EpilogueType& epilogue,
                            unsigned char* shared) {
    RoundRobin tiles(blockIdx.x, gridDim.x);
    engine::Simple<Block, Config, VariantType, TypesType>::run(arguments, epilogue, tiles, shared);
  }
};

template <EngineId Engine, class Config, class VariantType, class TypesType, class EpilogueType>
struct GpuEngine;

template <class Config, class VariantType, class TypesType, class EpilogueType>
struct GpuEngine<EngineId::simple, Config, VariantType, TypesType, EpilogueType> {
  using type = GpuSimple<Config, VariantType, TypesType, EpilogueType>;
};

#if RG_PLATFORM_CUDA
template <class Config, class VariantType, class TypesType, class EpilogueType>
struct GpuEngine<EngineId::tma_wgmma, Config, VariantType, TypesType, EpilogueType> {
  using type = engine::TmaWgmma<Config, VariantType, TypesType, EpilogueType>;
};
template <class Config, class VariantType, class TypesType, class EpilogueType>
struct GpuEngine<EngineId::mma_sync, Config, VariantType, TypesType, EpilogueType> {
  using type = engine::MmaSync<Config, VariantType, TypesType, EpilogueType>;
};
#endif

#if RG_PLATFORM_HIP
template <class Config, class VariantType, class TypesType, class EpilogueType>
struct GpuEngine<EngineId::mfma, Config, VariantType, TypesType, EpilogueType> {
  using type = engine::Mfma<Config, VariantType, TypesType, EpilogueType>;
};
#endif

/// Every kernel of the library. `Engine::compiled_here` is false in a pass for an architecture
/// that the engine has no code for.
template <class Engine, class VariantType, class EpilogueType>
RG_KERNEL void RG_LAUNCH_BOUNDS(Engine::lanes)
    ragged_kernel(const RG_GRID_CONSTANT Arguments arguments,
                  const RG_GRID_CONSTANT typename Engine::Prepared prepared,
                  const RG_GRID_CONSTANT EpilogueType epilogue) {
  if constexpr (Engine::compiled_here) {
    if constexpr (Engine::begins_early) {
      arch::simt::let_next_kernel_begin();
      arch::simt::wait_for_kernel_before();
    }
    if (blockIdx.x == 0 && threadIdx.x < static_cast<unsigned>(GpuWave::lanes))
      report_fault<VariantType, GpuWave>(arguments);
    Engine::run(arguments, prepared, epilogue, arch::simt::shared_memory());
  } else {
    arch::simt::missing_kernel();
  }
}

template <class TypesType, class EpilogueType>
RG_KERNEL void RG_LAUNCH_BOUNDS(256)
    sum_cut_tiles_kernel(const RG_GRID_CONSTANT Arguments arguments,
                         const RG_GRID_CONSTANT EpilogueType epilogue,
                         index_t tile_m,
                         index_t tile_n) {
  engine::SumCutTiles<TypesType, EpilogueType>::run(arguments, epilogue, tile_m, tile_n);
}

template <class Config, class VariantType, class TypesType, class EpilogueType>
struct GpuKernel {
  using Engine =
      typename GpuEngine<Config::value.engine, Config, VariantType, TypesType, EpilogueType>::type;
  using Prepared = typename Engine::Prepared;
  static_assert(sizeof(Prepared) <= sizeof(EngineData::bytes),
                "EngineData must hold what the engine prepares on the host");

  static const void* function() noexcept {
    return reinterpret_cast<const void*>(&ragged_kernel<Engine, VariantType, EpilogueType>);
  }

  static bool present() noexcept { return facts().present; }
  static index_t blocks_per_multiprocessor() noexcept { return facts().blocks; }

  static Status prepare(const Arguments& arguments, EngineData& data) noexcept {
    const bool has_groups = arguments.groups.kind != GroupKind::none && arguments.groups.count > 0;
    if (const Status status = runtime::gpu::check_readable(
            "group_sizes", has_groups ? arguments.groups.data : nullptr);
        !status.ok())
      return status;
    return Engine::prepare(arguments, *reinterpret_cast<Prepared*>(data.bytes));
  }

  static Status launch(const Arguments& arguments,
                       const EngineData& data,
                       const void* epilogue,
                       index_t blocks,
                       void* stream) noexcept {
    void* parameters[] = {const_cast<Arguments*>(&arguments),
                          const_cast<unsigned char*>(data.bytes),
                          const_cast<void*>(epilogue)};
    const auto launch_it =
        Engine::begins_early ? &runtime::gpu::launch_dependent : &runtime::gpu::launch;
    const Status launched =
        launch_it(function(), blocks, Engine::lanes, Engine::shared_bytes, parameters, stream);
    if constexpr (requires { requires Engine::cuts_tiles; })
      if (launched.ok() && arguments.partials.cutting_blocks > 0)
        return add_up_cut_tiles(arguments, epilogue, stream);
    return launched;
  }

 private:
  struct Facts {
    bool present = false;
    index_t blocks = 0;
  };

  static Status add_up_cut_tiles(const Arguments& arguments,
                                 const void* epilogue,
                                 void* stream) noexcept {
    using Kernel = engine::SumCutTiles<TypesType, EpilogueType>;
    index_t tile_m = Config::value.block_m;
    index_t tile_n = Config::value.block_n;
    void* parameters[] = {
        const_cast<Arguments*>(&arguments), const_cast<void*>(epilogue), &tile_m, &tile_n};
    return runtime::gpu::launch_dependent(
        reinterpret_cast<const void*>(&sum_cut_tiles_kernel<TypesType, EpilogueType>),
        Kernel::blocks_for(arguments.partials.cutting_blocks),
        Kernel::lanes,
        0,
        parameters,
        stream);
  }

  /// What the runtime says of this kernel on the current device; asked once a device.
  static Facts facts() noexcept {
    constexpr index_t cached_devices = 64;
    // 0: not asked; else 1 + 2·blocks + present
    static std::atomic<std::int32_t> cache[cached_devices];
    const Result<Device> device = runtime::gpu::device();
    if (!device.ok()) return {};
    const index_t slot = device.value().ordinal;
    if (slot < cached_devices) {
      const std::int32_t known = cache[slot].load(std::memory_order_acquire);
      if (known != 0) return {(known - 1) % 2 != 0, (known - 1) / 2};
    }
    const std::int64_t static_bytes = runtime::gpu::static_shared_bytes(function());
    Facts facts;
    facts.present = static_bytes >= 0 && static_bytes < arch::simt::missing_kernel_mark_bytes;
    if (facts.present)
      facts.blocks = runtime::gpu::occupancy(function(), Engine::lanes, Engine::shared_bytes);
    if (slot < cached_devices)
      cache[slot].store(1 + 2 * facts.blocks + (facts.present ? 1 : 0), std::memory_order_release);
    return facts;
  }
};

template <class VariantType, class TypesType, class EpilogueType>
RG_KERNEL void RG_LAUNCH_BOUNDS(256)
    sum_parts_kernel(const RG_GRID_CONSTANT Arguments arguments,
                     const RG_GRID_CONSTANT EpilogueType epilogue) {
  engine::SumParts<GpuWave, VariantType, TypesType, EpilogueType>::run(arguments, epilogue);
}

/// Two kernels: the row's, which leaves the sums of parts of the depth in the workspace, and the
/// one that adds them up.
template <class Config, class VariantType, class TypesType, class EpilogueType>
struct SplitGpuKernel {
  using Sum = typename TypesType::compute;
  using Parts = GpuKernel<Config,
                          kernel::Split<VariantType, Config::value.block_k>,
                          Types<typename TypesType::lhs, typename TypesType::rhs, Sum>,
                          PartialSum>;
  using Finish = engine::SumParts<GpuWave, VariantType, TypesType, EpilogueType>;

  static bool present() noexcept { return Parts::present(); }
  static index_t blocks_per_multiprocessor() noexcept { return Parts::blocks_per_multiprocessor(); }
  static Status prepare(const Arguments& arguments, EngineData& data) noexcept {
    return Parts::prepare(arguments, data);
  }

  static Status launch(const Arguments& arguments,
                       const EngineData& data,
                       const void* epilogue,
                       index_t blocks,
                       void* stream) noexcept {
    const PartialSum none;
    if (const Status status = Parts::launch(arguments, data, &none, blocks, stream); !status.ok())
      return status;
    constexpr offset_t most_blocks = 2048;
    const offset_t tiles =
        VariantType::template tiles_at_most<Finish::block_m, Finish::block_n>(arguments);
    if (arguments.cols == 0 || tiles == 0) return {};  // a fault report, no output
    void* parameters[] = {const_cast<Arguments*>(&arguments), const_cast<void*>(epilogue)};
    return runtime::gpu::launch_dependent(
        reinterpret_cast<const void*>(&sum_parts_kernel<VariantType, TypesType, EpilogueType>),
        static_cast<index_t>(min_of(tiles, most_blocks)),
        Finish::lanes,
        0,
        parameters,
        stream);
  }
};

template <class Wave>
RG_KERNEL void RG_LAUNCH_BOUNDS(256) copy_lines_kernel(const RG_GRID_CONSTANT CopyLines copy) {
  engine::CopyLinesKernel<Wave>::run(copy);
}

/// Enqueues the copy. Blocks enough to keep the memory busy share its items.
inline Status copy_lines(const CopyLines& copy, void* stream) noexcept {
  using Kernel = engine::CopyLinesKernel<GpuWave>;
  constexpr offset_t blocks_of_multiprocessor = 8;
  const Result<Device> device = runtime::gpu::device();
  if (!device.ok()) return device.status();
  const offset_t blocks =
      min_of(Kernel::items(copy), blocks_of_multiprocessor * device.value().multiprocessors);
  if (blocks == 0) return {};
  void* parameters[] = {const_cast<CopyLines*>(&copy)};
  return runtime::gpu::launch(reinterpret_cast<const void*>(&copy_lines_kernel<GpuWave>),
                              static_cast<index_t>(blocks),
                              Kernel::lanes,
                              0,
                              parameters,
                              stream);
}

#endif

}  // namespace dispatch
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
