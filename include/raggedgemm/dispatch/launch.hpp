// SPDX-License-Identifier: Apache-2.0
// From a config row to a kernel: the instantiation of an engine, its launch, and the table of
// entries that a program holds. Including this header instantiates kernel bodies.
#pragma once

#include <array>
#include <atomic>
#include <type_traits>
#include <utility>

#include "raggedgemm/arch/host/block.hpp"
#include "raggedgemm/dispatch/config_table.hpp"
#include "raggedgemm/dispatch/fault.hpp"
#include "raggedgemm/dispatch/gpu_kernels.hpp"
#include "raggedgemm/dispatch/kernel_entry.hpp"
#include "raggedgemm/engine/simple.hpp"
#include "raggedgemm/kernel/batch.hpp"
#include "raggedgemm/kernel/contracting.hpp"
#include "raggedgemm/kernel/non_contracting.hpp"
#include "raggedgemm/numeric/types_of.hpp"
#include "raggedgemm/platform/runtime.hpp"
#include "raggedgemm/schedule/tile_source.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace dispatch {

template <Variant V>
struct VariantTypeOf;
template <>
struct VariantTypeOf<Variant::non_contracting> {
  using type = kernel::NonContracting;
};
template <>
struct VariantTypeOf<Variant::contracting> {
  using type = kernel::Contracting;
};
template <>
struct VariantTypeOf<Variant::batch> {
  using type = kernel::Batch;
};

/// The decode of a variant. A new variant is a kernel/ header, a specialisation here and table
/// bits.
template <Variant V>
using variant_type = typename VariantTypeOf<V>::type;

/// The host: blocks are threads, tiles are dealt by a shared counter.
template <class Config, class VariantType, class TypesType, class EpilogueType>
struct HostKernel {
  using Block = arch::host::Block<typename TypesType::compute,
                                  Config::value.block_m,
                                  Config::value.block_n,
                                  Config::value.block_k,
                                  Config::value.lanes>;
  using Engine = engine::Simple<Block, Config, VariantType, TypesType>;

  static bool present() noexcept { return true; }
  static index_t blocks_per_multiprocessor() noexcept { return 1; }
  static Status prepare(const Arguments&, EngineData&) noexcept { return {}; }

  static Status launch(const Arguments& arguments,
                       const EngineData&,
                       const void* epilogue,
                       index_t blocks,
                       void*) noexcept {
    report_fault<VariantType, arch::host::Wave>(arguments);
    Job job{arguments, *static_cast<const EpilogueType*>(epilogue), {0}, {false}};
    runtime::host::ThreadPool::instance().run(blocks, &Job::run, &job);
    if (job.out_of_memory.load())
      return {StatusCode::vendor_error, "host tile memory", 0, std::int64_t{Block::shared_bytes}};
    return {};
  }

 private:
  struct Job {
    const Arguments& arguments;
    const EpilogueType& epilogue;
    std::atomic<offset_t> next_tile;
    std::atomic<bool> out_of_memory;

    static void run(void* context, index_t) {
      Job& job = *static_cast<Job*>(context);
      void* const tile_memory = runtime::host::scratch(Block::shared_bytes);
      if (tile_memory == nullptr) {
        job.out_of_memory.store(true);
        return;
      }
      SharedCounter tiles(job.next_tile);
      Engine::run(job.arguments, job.epilogue, tiles, tile_memory);
    }
  };
};

template <Platform Where, class Config, class VariantType, class TypesType, class EpilogueType>
struct KernelOn;

template <class Config, class VariantType, class TypesType, class EpilogueType>
struct KernelOn<Platform::host, Config, VariantType, TypesType, EpilogueType> {
  using type = HostKernel<Config, VariantType, TypesType, EpilogueType>;
};

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP
template <class Config, class VariantType, class TypesType, class EpilogueType>
struct KernelOn<runtime::gpu::platform, Config, VariantType, TypesType, EpilogueType> {
  using type = std::conditional_t<Config::value.splits,
                                  SplitGpuKernel<Config, VariantType, TypesType, EpilogueType>,
                                  GpuKernel<Config, VariantType, TypesType, EpilogueType>>;
};
#endif

/// The entry of one row; instantiates its kernel.
template <Platform Where, index_t Row, class VariantType, class TypesType, class EpilogueType>
KernelEntry kernel_entry() noexcept {
  constexpr TileConfig tile = tile_of(config_row(Row));
  using Kernel = typename KernelOn<Where, config<tile>, VariantType, TypesType, EpilogueType>::type;
  KernelEntry entry;
  entry.row = Row;
  entry.present = &Kernel::present;
  entry.blocks_per_multiprocessor = &Kernel::blocks_per_multiprocessor;
  entry.tiles_at_most = &VariantType::template tiles_at_most<tile.block_m, tile.block_n>;
  if (tile.splits) entry.partial_bytes = index_t{sizeof(typename TypesType::compute)};
  if constexpr (requires { Kernel::Engine::cut_tile_bytes; })
    entry.cut_tile_bytes = Kernel::Engine::cut_tile_bytes;
  entry.prepare = &Kernel::prepare;
#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP
  if (config_row(Row).alignment_bytes >= 16) entry.copy_lines = &copy_lines;
#endif
  entry.launch = &Kernel::launch;
  return entry;
}

/// Whether `Row` exists for this platform, variant and dtypes; `AllRows` is for
/// raggedgemm::compiled.
template <Platform Where, index_t Row, class VariantType, class TypesType, bool AllRows>
constexpr bool has_row() {
  constexpr ConfigRow row = config_row(Row);
  return platform_of(row.arch) == Where && (AllRows || row.core) &&
         row_instantiates(row,
                          VariantType::variant,
                          dtype_of<typename TypesType::lhs>,
                          dtype_of<typename TypesType::rhs>);
}

template <Platform Where, class VariantType, class TypesType, class EpilogueType, bool AllRows>
struct KernelEntries {
  std::array<KernelEntry, static_cast<std::size_t>(config_rows)> list{};
  index_t count = 0;

  template <index_t... Rows>
  explicit KernelEntries(std::integer_sequence<index_t, Rows...>) {
    (add<Rows>(), ...);
  }
  template <index_t Row>
  void add() {
    if constexpr (has_row<Where, Row, VariantType, TypesType, AllRows>())
      list[static_cast<std::size_t>(count++)] =
          kernel_entry<Where, Row, VariantType, TypesType, EpilogueType>();
  }
};

/// All kernels for a platform, variant, dtypes and epilogue, in table order.
template <Platform Where, class VariantType, class TypesType, class EpilogueType, bool AllRows>
KernelSet kernels() noexcept {
  static const KernelEntries<Where, VariantType, TypesType, EpilogueType, AllRows> entries(
      std::make_integer_sequence<index_t, config_rows>{});
  KernelSet set;
  set.entries = entries.list.data();
  set.count = entries.count;
  set.platform = Where;
  set.variant = VariantType::variant;
  set.lhs_dtype = dtype_of<typename TypesType::lhs>;
  set.rhs_dtype = dtype_of<typename TypesType::rhs>;
  set.out_dtype = dtype_of<typename TypesType::out>;
  if constexpr (Where == Platform::host) {
    set.device = &runtime::host::device;
  } else {
#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP
    set.device = &runtime::gpu::device;
#endif
  }
  return set;
}

}  // namespace dispatch
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
