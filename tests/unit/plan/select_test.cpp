// SPDX-License-Identifier: Apache-2.0
// Selection and plans: which row a problem gets, what explain() says of it, every refusal, and
// plans used again with other pointers. Devices that are not here are described by hand.

#include "raggedgemm/plan/select.hpp"

#include <string>
#include <vector>

#include "raggedgemm/ragged_dot.hpp"
#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Kernels of every table row of a platform, of which none can be launched.
std::vector<KernelEntry> rows_of(Platform platform, bool (*present)() noexcept) {
  std::vector<KernelEntry> entries;
  for (index_t row = 0; row < config_rows; ++row) {
    if (platform_of(config_row(row).arch) != platform) continue;
    KernelEntry entry;
    entry.row = row;
    entry.present = present;
    entry.blocks_per_multiprocessor = []() noexcept { return index_t{2}; };
    entry.tiles_at_most = [](const Arguments& a) noexcept { return a.rows; };
    if (config_row(row).config.splits) entry.partial_bytes = 4;
    if (config_row(row).alignment_bytes >= 16)
      entry.copy_lines = [](const CopyLines&, void*) noexcept { return Status{}; };
    entries.push_back(entry);
  }
  return entries;
}

template <Platform Where, Arch What>
Result<Device> fake_device() noexcept {
  Device device;
  device.platform = Where;
  device.arch = What;
  device.multiprocessors = 100;
  device.chiplets = Where == Platform::hip ? 8 : 1;
  device.shared_bytes = 227 * 1024;
  return device;
}

KernelSet set_of(const std::vector<KernelEntry>& entries,
                 Platform platform,
                 Result<Device> (*device)() noexcept) {
  KernelSet set;
  set.entries = entries.data();
  set.count = static_cast<index_t>(entries.size());
  set.platform = platform;
  set.device = device;
  return set;
}

bool yes() noexcept { return true; }
bool no() noexcept { return false; }

/// A well-aligned dense bf16 problem.
Problem dense(offset_t m, offset_t k, offset_t n, offset_t g) {
  Problem p;
  p.lhs_dtype = p.rhs_dtype = p.out_dtype = DType::bf16;
  p.rows = m;
  p.depth = k;
  p.cols = n;
  p.slabs = p.group_count = g;
  p.group_kind = GroupKind::sizes;
  p.a = {0, k, 1};
  p.b = {k * n, n, 1};
  p.d = {0, n, 1};
  p.a_alignment_bytes = p.b_alignment_bytes = p.d_alignment_bytes = 16;
  return p;
}

TEST_CASE("Selection takes a matrix-core row for an aligned problem and falls back when it is not",
          "[plan][host]") {
  const auto cuda_rows = rows_of(Platform::cuda, yes);
  const auto hip_rows = rows_of(Platform::hip, yes);
  const KernelSet sets[] = {
      set_of(cuda_rows, Platform::cuda, fake_device<Platform::cuda, Arch::sm90>),
      set_of(hip_rows, Platform::hip, fake_device<Platform::hip, Arch::gfx942>),
      set_of(hip_rows, Platform::hip, fake_device<Platform::hip, Arch::gfx950>)};
  for (const KernelSet& set : sets) {
    const Device device = set.device().value();
    INFO(name_of(device.arch));
    const Result<Plan> plan = make_plan(dense(8192, 512, 1024, 8), {}, set);
    REQUIRE(plan.ok());
    const ConfigRow& row = config_row(plan.value().kernel.row);
    CHECK(row.fast);
    CHECK(row.arch == device.arch);
    CHECK(plan.value().blocks == 200);  // two a multiprocessor
    CHECK(plan.value().order.chiplets == device.chiplets);
    CHECK(contains(explain(plan.value(), set), row.name));

    // Without alignment: CUDA has another matrix-core row, HIP none.
    const bool has_any_alignment = set.platform == Platform::cuda;
    Problem odd = dense(8192, 515, 1024, 8);  // a pitch of 1030 bytes
    Problem shifted = dense(8192, 512, 1024, 8);
    shifted.b_alignment_bytes = 2;
    for (const bool lhs : {true, false}) {
      const Problem& p = lhs ? odd : shifted;
      const Result<Plan> unaligned = make_plan(p, {}, set);
      REQUIRE(unaligned.ok());
      CHECK(config_row(unaligned.value().kernel.row).fast == has_any_alignment);
      const std::string text = explain(unaligned.value(), set);
      CHECK(contains(text, "SLOW") != has_any_alignment);
      CHECK(contains(text, row.name));  // says why the first row was passed over
      CHECK(contains(text, lhs ? "needs a more aligned lhs" : "needs a more aligned rhs"));
      const Status fast = make_plan(p, {.selection = Selection::require_fast}, set).status();
      CHECK(fast.ok() == has_any_alignment);
      if (has_any_alignment) continue;
      CHECK(fast.code() == StatusCode::no_fast_kernel);
      CHECK(std::string(fast.operand()) == "options.selection");
    }

    Problem mixed = dense(8192, 512, 1024, 8);
    mixed.rhs_dtype = DType::f16;
    CHECK(make_plan(mixed, {.selection = Selection::require_fast}, set).status().code() ==
          StatusCode::no_fast_kernel);
  }
}

TEST_CASE("A gather of lhs takes a matrix-core row on CUDA", "[plan][host]") {
  const auto cuda_rows = rows_of(Platform::cuda, yes);
  for (const auto device :
       {fake_device<Platform::cuda, Arch::sm80>, fake_device<Platform::cuda, Arch::sm90>}) {
    const KernelSet set = set_of(cuda_rows, Platform::cuda, device);
    for (const offset_t rows : {1024, 8192})
      for (const Variant variant :
           {Variant::non_contracting, Variant::contracting, Variant::batch}) {
        Problem p = dense(rows, 512, 1024, 32);
        p.variant = variant;
        p.gathers = true;
        p.lhs_extent = 300;
        if (variant == Variant::contracting) {
          p = dense(512, rows, 1024, 32);
          p.variant = variant;
          p.gathers = true;
          p.lhs_extent = 300;
          p.a = {0, 1, 512};
          p.b = {0, 1024, 1};
          p.d = {512 * 1024, 1024, 1};
        }
        if (variant == Variant::batch) {
          p.a.slab = rows * 512;
          p.d.slab = rows * 1024;
        }
        INFO(name_of(variant));
        const Result<Plan> plan = make_plan(p, {.selection = Selection::require_fast}, set);
        REQUIRE(plan.ok());
        const bool by_wgmma = device().value().arch == Arch::sm90 && variant != Variant::batch;
        CHECK(config_row(plan.value().kernel.row).config.engine ==
              (by_wgmma ? EngineId::tma_wgmma : EngineId::mma_sync));
        if (device().value().arch == Arch::sm90 && !by_wgmma)
          CHECK(contains(explain(plan.value(), set), "does not gather slabs of lhs"));
        // Hopper's lanes copy 16 bytes at once, of lines that exist.
        Problem odd = p;
        odd.a_alignment_bytes = 2;
        Problem empty = p;
        empty.lhs_extent = 0;
        for (const Problem& other : {odd, empty}) {
          const Result<Plan> by_lines = make_plan(other, {}, set);
          REQUIRE(by_lines.ok());
          CHECK(config_row(by_lines.value().kernel.row).config.engine == EngineId::mma_sync);
        }
        p.instances.rank = 1;
        p.instances.extent[0] = 2;
        p.instances.stride[0].d = offset_t{1} << 32;
        CHECK(make_plan(p, {.selection = Selection::require_fast}, set).status().code() ==
              StatusCode::no_fast_kernel);
      }
  }
  const auto hip_rows = rows_of(Platform::hip, yes);
  const KernelSet hip = set_of(hip_rows, Platform::hip, fake_device<Platform::hip, Arch::gfx942>);
  Problem p = dense(8192, 512, 1024, 8);
  p.gathers = true;
  p.lhs_extent = 300;
  CHECK(make_plan(p, {.selection = Selection::require_fast}, hip).status().code() ==
        StatusCode::no_fast_kernel);
}

TEST_CASE("f32 is rounded to tf32 only where the call allows it", "[plan][host]") {
  const auto rows = rows_of(Platform::cuda, yes);
  const KernelSet set = set_of(rows, Platform::cuda, fake_device<Platform::cuda, Arch::sm90>);
  Problem p = dense(8192, 512, 1024, 8);
  p.lhs_dtype = p.rhs_dtype = p.out_dtype = DType::f32;
  p.b = {512 * 1024, 1, 512};  // nt: tf32's tensor cores read along the depth
  const Result<Plan> exact = make_plan(p, {}, set);
  REQUIRE(exact.ok());
  CHECK(!config_row(exact.value().kernel.row).fast);
  CHECK(contains(explain(exact.value(), set), "options.allow_tf32"));
  p.allow_tf32 = true;
  const Result<Plan> rounded = make_plan(p, {.selection = Selection::require_fast}, set);
  REQUIRE(rounded.ok());
  CHECK(config_row(rounded.value().kernel.row).tf32);
  p.b = {512 * 1024, 1024, 1};  // nn: a permission, not a demand
  const Result<Plan> other_layout = make_plan(p, {}, set);
  REQUIRE(other_layout.ok());
  CHECK(!config_row(other_layout.value().kernel.row).tf32);
}

TEST_CASE("CDNA's matrix instructions take the dtypes that the chip has", "[plan][host]") {
  const auto rows = rows_of(Platform::hip, yes);
  const KernelSet gfx942 = set_of(rows, Platform::hip, fake_device<Platform::hip, Arch::gfx942>);
  const KernelSet gfx950 = set_of(rows, Platform::hip, fake_device<Platform::hip, Arch::gfx950>);
  const auto row_of = [](const KernelSet& set, DType dtype, bool allow_tf32 = false) {
    Problem p = dense(8192, 512, 1024, 8);
    p.lhs_dtype = p.rhs_dtype = dtype;
    p.out_dtype = dtype == DType::s8 ? DType::s32 : dtype == DType::f64 ? DType::f64 : DType::f32;
    p.allow_tf32 = allow_tf32;
    const Result<Plan> plan = make_plan(p, {}, set);
    REQUIRE(plan.ok());
    return config_row(plan.value().kernel.row);
  };
  for (const KernelSet& set : {gfx942, gfx950}) {
    const Arch arch = set.device().value().arch;
    INFO(name_of(arch));
    for (const DType dtype : {DType::f16, DType::s8, DType::f32, DType::f64}) {
      INFO(name_of(dtype));
      CHECK(row_of(set, dtype).fast);
      CHECK(row_of(set, dtype).arch == arch);
      CHECK(row_of(set, dtype).config.block_k * bytes_of(dtype) == 128);
    }
  }
  for (const DType fnuz : {DType::e4m3fnuz, DType::e5m2fnuz}) {
    CHECK(row_of(gfx942, fnuz).fast);
    CHECK(!row_of(gfx950, fnuz).fast);
  }
  for (const DType ocp : {DType::e4m3fn, DType::e5m2}) {
    CHECK(!row_of(gfx942, ocp).fast);
    CHECK(row_of(gfx950, ocp).fast);
  }
  CHECK(!row_of(gfx942, DType::f32).tf32);
  CHECK(row_of(gfx942, DType::f32, true).tf32);
  CHECK(!row_of(gfx950, DType::f32, true).tf32);
}

TEST_CASE("CDNA's tiles have the rows that groups have", "[plan][host]") {
  const auto rows = rows_of(Platform::hip, yes);
  for (const auto device :
       {fake_device<Platform::hip, Arch::gfx942>, fake_device<Platform::hip, Arch::gfx950>}) {
    const KernelSet set = set_of(rows, Platform::hip, device);
    INFO(name_of(device().value().arch));
    for (const bool transposed : {false, true})
      for (const DType dtype : {DType::bf16, DType::f16}) {
        const auto config_for = [&](offset_t mean_rows) {
          Problem p = dense(mean_rows * 8, 512, 1024, 8);
          p.lhs_dtype = p.rhs_dtype = p.out_dtype = dtype;
          if (transposed) p.b = {512 * 1024, 1, 512};
          const Result<Plan> plan = make_plan(p, {.selection = Selection::require_fast}, set);
          REQUIRE(plan.ok());
          return config_row(plan.value().kernel.row).config;
        };
        for (const offset_t mean : {1, 32}) CHECK(config_for(mean).block_m == 32);
        for (const offset_t mean : {33, 128}) CHECK(config_for(mean).block_m == 128);
        const TileConfig large = config_for(129);
        CHECK(large.block_m == 256);
        // The schedule with the highest bound; the others are there to be forced.
        CHECK(large.lanes == 512);
        CHECK(!large.ping_pong);
      }
  }
}

TEST_CASE("Both other wave schedules of CDNA can be forced", "[plan][host]") {
  const auto rows = rows_of(Platform::hip, yes);
  for (const auto device :
       {fake_device<Platform::hip, Arch::gfx942>, fake_device<Platform::hip, Arch::gfx950>}) {
    const KernelSet set = set_of(rows, Platform::hip, device);
    index_t forced = 0;
    for (index_t row = 0; row < config_rows; ++row) {
      const TileConfig& tile = config_row(row).config;
      const bool four_waves = tile.block_m == 256 && tile.lanes == 256;
      if (config_row(row).arch != device().value().arch || !(tile.ping_pong || four_waves))
        continue;
      Problem p = dense(8192, 512, 1024, 8);
      if (tile.layout == Layout::nt) p.b = {512 * 1024, 1, 512};
      const Result<Plan> plan = make_plan(p, {.config_row = row}, set);
      REQUIRE(plan.ok());
      CHECK(plan.value().kernel.row == row);
      ++forced;
    }
    CHECK(forced == 4);
  }
}

TEST_CASE("explain() says when the copy engine cannot store the output", "[plan][host]") {
  const auto rows = rows_of(Platform::cuda, yes);
  const KernelSet set = set_of(rows, Platform::cuda, fake_device<Platform::cuda, Arch::sm90>);
  Problem p = dense(8192, 512, 1024, 8);
  const Result<Plan> aligned = make_plan(p, {}, set);
  REQUIRE(aligned.ok());
  CHECK(!contains(explain(aligned.value(), set), "stored by the lanes"));
  p.d.row = 1027;
  const Result<Plan> odd = make_plan(p, {}, set);
  REQUIRE(odd.ok());
  CHECK(config_row(odd.value().kernel.row).fast);
  CHECK(contains(explain(odd.value(), set), "stored by the lanes"));
}

TEST_CASE("Selection never takes a row of another architecture", "[plan][host]") {
  const auto rows = rows_of(Platform::cuda, yes);
  for (const auto device :
       {fake_device<Platform::cuda, Arch::sm70>, fake_device<Platform::cuda, Arch::sm80>}) {
    const KernelSet set = set_of(rows, Platform::cuda, device);
    const Result<Plan> plan = make_plan(dense(8192, 512, 1024, 8), {}, set);
    REQUIRE(plan.ok());
    CHECK(runs_on(config_row(plan.value().kernel.row).arch, device().value().arch));
  }
  for (const Arch kernel :
       {Arch::host, Arch::sm70, Arch::sm80, Arch::sm90, Arch::gfx9, Arch::gfx942, Arch::gfx950})
    for (const Arch device :
         {Arch::host, Arch::sm70, Arch::sm80, Arch::sm90, Arch::gfx9, Arch::gfx942, Arch::gfx950})
      if (runs_on(kernel, device)) CHECK(platform_of(kernel) == platform_of(device));
  CHECK(!runs_on(Arch::gfx942, Arch::gfx950));
  CHECK(!runs_on(Arch::gfx950, Arch::gfx942));
  CHECK(!runs_on(Arch::sm90, Arch::sm80));
}

TEST_CASE("Selection says so when the binary holds no code for the device", "[plan][host]") {
  const auto rows = rows_of(Platform::cuda, no);
  const KernelSet set = set_of(rows, Platform::cuda, fake_device<Platform::cuda, Arch::sm90>);
  const Status status = make_plan(dense(128, 64, 64, 2), {}, set).status();
  CHECK(status.code() == StatusCode::no_kernel);
  CHECK(contains(status.message(), "90a"));
}

TEST_CASE("Selection refuses a device that cannot hold one block", "[plan][host]") {
  auto rows = rows_of(Platform::cuda, yes);
  for (KernelEntry& entry : rows)
    entry.blocks_per_multiprocessor = []() noexcept { return index_t{0}; };
  const KernelSet set = set_of(rows, Platform::cuda, fake_device<Platform::cuda, Arch::sm80>);
  const Status status = make_plan(dense(128, 64, 64, 2), {}, set).status();
  CHECK(status.code() == StatusCode::no_kernel);
}

TEST_CASE("A plan for nothing has no blocks", "[plan][host]") {
  const auto rows = rows_of(Platform::cuda, yes);
  const KernelSet set = set_of(rows, Platform::cuda, fake_device<Platform::cuda, Arch::sm80>);
  const Result<Plan> plan = make_plan(dense(0, 64, 64, 2), {}, set);
  REQUIRE(plan.ok());
  CHECK(plan.value().blocks == 0);
}

TEST_CASE("An empty kernel set or an unknown platform is refused by name", "[plan][host]") {
  KernelSet set;
  set.platform = Platform::cuda;
  CHECK(make_plan(dense(1, 1, 1, 1), {.platform = Platform::cuda}, set).status().code() ==
        StatusCode::platform_not_compiled);
  set.device = fake_device<Platform::cuda, Arch::sm90>;
  CHECK(make_plan(dense(1, 1, 1, 1), {}, set).status().code() == StatusCode::unsupported_dtypes);
  set.device = []() noexcept -> Result<Device> {
    return Status{StatusCode::no_device, "cuda device", 0, 1};
  };
  CHECK(make_plan(dense(1, 1, 1, 1), {}, set).status().code() == StatusCode::no_device);
}

/// A small real call on the host.
struct HostCall {
  std::vector<float> lhs = std::vector<float>(5 * 6, 1.0F);
  std::vector<float> rhs = std::vector<float>(2 * 6 * 7, 2.0F);
  std::vector<std::int32_t> sizes{2, 3};
  std::vector<float> out = std::vector<float>(5 * 7, -1.0F);

  auto describe(const Options& options) {
    return raggedgemm::describe(view(lhs.data(), 5, 6),
                                view(rhs.data(), 2, 6, 7),
                                GroupSizes(sizes.data(), 2),
                                view(out.data(), 5, 7),
                                options);
  }
};

Options on_host() {
  Options options;
  options.platform = Platform::host;
  return options;
}

TEST_CASE("explain names the chosen row, the tile and the provenance", "[plan][host]") {
  HostCall call;
  const std::string text = explain(call.describe(on_host()), on_host());
  INFO(text);
  CHECK(contains(text, "host_96x192x256"));
  CHECK(contains(text, "96x192x256"));
  CHECK(contains(text, "non_contracting"));
  CHECK(contains(text, "provenance"));
}

TEST_CASE("The depth is split where tiles are few, steps many and the workspace large enough",
          "[plan][host]") {
  const auto cuda_rows = rows_of(Platform::cuda, yes);
  const auto hip_rows = rows_of(Platform::hip, yes);
  for (const KernelSet& set :
       {set_of(cuda_rows, Platform::cuda, fake_device<Platform::cuda, Arch::sm90>),
        set_of(hip_rows, Platform::hip, fake_device<Platform::hip, Arch::gfx942>),
        set_of(hip_rows, Platform::hip, fake_device<Platform::hip, Arch::gfx950>)}) {
    const auto planned = [&](const Problem& p, std::int64_t workspace) {
      Options options;
      options.workspace_bytes = workspace;
      const Result<Plan> plan = make_plan(p, options, set);
      REQUIRE(plan.ok());
      CHECK(config_row(plan.value().kernel.row).config.splits == (plan.value().parts > 1));
      CHECK(workspace_bytes(plan.value()) <= workspace);
      return plan.value();
    };
    constexpr std::int64_t plenty = std::int64_t{1} << 40;
    // 2 groups of 16 rows and 512 columns: 8 tiles of 128 x 128 for 200 blocks; 128 steps.
    const Problem few = dense(32, 8192, 512, 2);
    const Plan most = planned(few, plenty);
    CHECK(most.parts == 16);  // 8 steps each
    CHECK(workspace_bytes(most) == 16 * 32 * 512 * 4);
    CHECK(planned(few, 0).parts == 1);
    CHECK(planned(few, 2 * 32 * 512 * 4 - 1).parts == 1);
    CHECK(planned(few, 3 * 32 * 512 * 4).parts == 3);
    CHECK(planned(dense(32, 1 << 16, 128, 2), plenty).parts == most_parts);
    CHECK(planned(dense(32, 1 << 16, 2048, 2), plenty).parts == 6);  // 200 blocks, 32 tiles
    CHECK(planned(dense(32, 1 << 16, 8192, 2), plenty).parts == 1);  // 128 tiles
    CHECK(planned(dense(32, 48 * 64, 512, 2), plenty).parts == 6);
    CHECK(planned(dense(32, 47 * 64, 512, 2), plenty).parts == 1);  // too few steps
    Options whole;
    whole.workspace_bytes = plenty;
    whole.whole_depth = true;
    const Result<Plan> not_cut = make_plan(few, whole, set);
    REQUIRE(not_cut.ok());
    CHECK(not_cut.value().parts == 1);
    // Overflow of no kind: a workspace of 2^63 bytes, sums that no workspace holds.
    CHECK(planned(dense(32, 8192, 512, 2), INT64_MAX).parts == 16);

    Problem weights = dense(128, 1 << 16, 256, 2);  // tn: 4 tiles, 512 steps a group
    weights.variant = Variant::contracting;
    weights.a = {0, 1, 128};
    weights.b = {0, 256, 1};
    weights.d = {128 * 256, 256, 1};
    CHECK(planned(weights, plenty).parts == most_parts);
    CHECK(workspace_bytes(planned(weights, plenty)) == most_parts * 2 * 128 * 256 * 4);

    // A forced row takes two parts at least, whatever it is for.
    for (index_t row = 0; row < config_rows; ++row) {
      if (!config_row(row).config.splits) continue;
      Options options;
      options.config_row = row;
      const Result<Plan> plan = make_plan(dense(8192, 64, 8192, 8), options, set);
      if (!plan.ok()) continue;
      CHECK(plan.value().parts == 2);
      CHECK(contains(explain(plan.value(), set), "2 parts"));
    }
  }
}

TEST_CASE("Tiles of the last round may be cut where they are deep, and rounds few",
          "[plan][host]") {
  auto rows = rows_of(Platform::cuda, yes);
  constexpr index_t tile_bytes = 128 * 128 * 4;
  for (KernelEntry& entry : rows)
    if (config_row(entry.row).config.engine == EngineId::tma_wgmma &&
        !config_row(entry.row).config.splits)
      entry.cut_tile_bytes = tile_bytes;
  for (KernelEntry& entry : rows)
    entry.tiles_at_most = [](const Arguments&) noexcept { return offset_t{1} << 20; };
  const KernelSet set = set_of(rows, Platform::cuda, fake_device<Platform::cuda, Arch::sm90>);
  const auto planned = [&](const Problem& p, std::int64_t workspace) {
    Options options;
    options.workspace_bytes = workspace;
    const Result<Plan> plan = make_plan(p, options, set);
    REQUIRE(plan.ok());
    CHECK(workspace_bytes(plan.value()) <= workspace);
    return plan.value();
  };
  const std::int64_t enough = CutSums::bytes(200, tile_bytes);
  // 32 groups of 4 rows and 16 columns of tiles: 512 tiles for 200 blocks; 112 steps.
  const Problem p = dense(128, 112 * 64, 2048, 32);
  const Plan plan = planned(p, enough);
  CHECK(plan.cuts_last);
  CHECK(plan.parts == 14);  // 8 steps each
  CHECK(plan.blocks == 200);
  CHECK(workspace_bytes(plan) == enough);
  CHECK(contains(explain(plan, set), "last round"));
  CHECK(contains(explain(plan, set), "up to 14 parts"));
  CHECK(!planned(p, enough - 1).cuts_last);
  CHECK(planned(p, enough - 1).parts == 1);
  CHECK(planned(dense(128, 48 * 64, 2048, 32), enough).cuts_last);
  CHECK(!planned(dense(128, 47 * 64, 2048, 32), enough).cuts_last);       // too few steps
  CHECK(planned(dense(128, 1 << 16, 2048, 32), enough).parts == 16);      // and no more
  CHECK(planned(dense(128, 112 * 64, 50 * 128, 32), enough).cuts_last);   // 8 rounds
  CHECK(!planned(dense(128, 112 * 64, 51 * 128, 32), enough).cuts_last);  // more
  CHECK(!planned(dense(128, 112 * 64, 6 * 128, 32), enough).cuts_last);   // 192 tiles: one round
  Problem shard = p;
  shard.group_count = 64;
  CHECK(!planned(shard, enough).cuts_last);
  Options whole;
  whole.workspace_bytes = enough;
  whole.whole_depth = true;
  const Result<Plan> not_cut = make_plan(p, whole, set);
  REQUIRE(not_cut.ok());
  CHECK(!not_cut.value().cuts_last);
  CHECK(workspace_bytes(not_cut.value()) == 0);
}

TEST_CASE("Operands that are not aligned are copied where the workspace holds them",
          "[plan][host]") {
  const auto cuda_rows = rows_of(Platform::cuda, yes);
  const auto hip_rows = rows_of(Platform::hip, yes);
  for (const KernelSet& set :
       {set_of(cuda_rows, Platform::cuda, fake_device<Platform::cuda, Arch::sm90>),
        set_of(hip_rows, Platform::hip, fake_device<Platform::hip, Arch::gfx942>),
        set_of(hip_rows, Platform::hip, fake_device<Platform::hip, Arch::gfx950>)}) {
    const auto planned = [&](const Problem& p, std::int64_t workspace) {
      Options options;
      options.workspace_bytes = workspace;
      const Result<Plan> plan = make_plan(p, options, set);
      REQUIRE(plan.ok());
      CHECK(workspace_bytes(plan.value()) <= workspace);
      return plan.value();
    };
    const Problem odd_lhs = dense(8192, 515, 1024, 8);
    constexpr std::int64_t lhs_bytes = 8192 * 520 * 2;  // pitches of 16 bytes
    const Plan copied = planned(odd_lhs, lhs_bytes);
    CHECK((copied.copies.a && !copied.copies.b));
    CHECK(workspace_bytes(copied) == lhs_bytes);
    CHECK(contains(explain(copied, set), "copies lhs to"));
    CHECK(config_row(copied.kernel.row).alignment_bytes == 16);
    CHECK(config_row(copied.kernel.row).fast);
    CHECK(!planned(odd_lhs, lhs_bytes - 1).copies.any());
    CHECK(!planned(dense(8192, 512, 1024, 8), INT64_MAX).copies.any());

    Problem odd_both = dense(8192, 515, 1023, 8);
    const Plan both = planned(odd_both, INT64_MAX);
    CHECK((both.copies.a && both.copies.b));
    CHECK(workspace_bytes(both) == lhs_bytes + 8 * 515 * 1024 * 2);
    Problem strided = odd_both;  // neither of the two dimensions of lhs is contiguous
    strided.a = {0, 2 * 515, 2};
    CHECK(!planned(strided, INT64_MAX).copies.any());

    // CDNA's kernels do not gather; a copy may. Hopper's do.
    Problem gathered = dense(8192, 512, 1024, 8);
    gathered.gathers = true;
    gathered.lhs_extent = 100;
    const Plan gathers = planned(gathered, INT64_MAX);
    CHECK(gathers.copies.any() == (set.platform == Platform::hip));
    CHECK(gathers.copies.gathers == (set.platform == Platform::hip));
    if (gathers.copies.any()) {
      CHECK(workspace_bytes(gathers) == 8192 * 512 * 2);  // the rows of the product, not of lhs
      CHECK(contains(explain(gathers, set), "gathers lhs"));
      CHECK(!config_row(planned(gathered, 8192 * 512 * 2 - 1).kernel.row).fast);
    }

    // Few rows on Hopper: weights are not copied, an lhs is.
    const bool has_any_alignment = set.platform == Platform::cuda;
    CHECK(planned(dense(64, 1024, 1023, 8), INT64_MAX).copies.any() == !has_any_alignment);
    CHECK(planned(dense(64, 1023, 1024, 8), INT64_MAX).copies.any());
  }
}

TEST_CASE("explain says which check fails", "[plan][host]") {
  HostCall call;
  Options options = on_host();
  options.tail = Tail::compute;
  const std::string text = explain(call.describe(options), options);
  CHECK(contains(text, "options.tail"));
}

TEST_CASE("A forced row runs, or is refused as config_not_applicable", "[plan][host]") {
  HostCall call;
  for (index_t row = 0; row < config_rows + 2; ++row) {
    Options options = on_host();
    options.config_row = row;
    const Status status = run(call.describe(options), options);
    INFO("row " << row << ": " << status.message());
    if (row < config_rows && config_row(row).arch == Arch::host)
      CHECK(status.ok());
    else
      CHECK(status.code() == StatusCode::config_not_applicable);
  }
}

TEST_CASE("require_fast runs on the host", "[plan][host]") {
  HostCall call;
  Options options = on_host();
  options.selection = Selection::require_fast;
  CHECK(run(call.describe(options), options).ok());
}

TEST_CASE("A platform that this program was not compiled for is refused", "[plan][host]") {
  HostCall call;
  for (const Platform platform : {Platform::cuda, Platform::hip}) {
    Options options;
    options.platform = platform;
    const Status status = run(call.describe(options), options);
    CHECK(status.code() == StatusCode::platform_not_compiled);
    CHECK(std::string(status.operand()) == "options.platform");
    CHECK(status.got() == static_cast<std::int64_t>(platform));
  }
  CHECK(call.out == std::vector<float>(35, -1.0F));
}

TEST_CASE("A plan runs again with other pointers", "[plan][host]") {
  HostCall first;
  HostCall second;
  second.rhs.assign(second.rhs.size(), 3.0F);
  second.sizes = {1, 1};
  const auto described = first.describe(on_host());
  const Result<Plan> plan = make_plan(described, on_host());
  REQUIRE(plan.ok());
  CHECK(workspace_bytes(plan.value()) == 0);
  const Identity identity;
  for (HostCall* call : {&first, &second}) {
    auto pointers = call->describe(on_host()).pointers;
    const Result<BoundCall> bound = bind(plan.value(), pointers);
    REQUIRE(bound.ok());
    const BoundCall copy = bound.value();  // a copy launches, too
    REQUIRE(run(copy, &identity, nullptr).ok());
  }
  CHECK(first.out == std::vector<float>(35, 12.0F));
  for (std::size_t i = 0; i < 35; ++i) CHECK(second.out[i] == (i < 14 ? 18.0F : 0.0F));
}

TEST_CASE("bind refuses null, misaligned and mismatched operands by name", "[plan][host]") {
  alignas(16) static unsigned char memory[4096];
  const auto call_at = [&](std::size_t lhs_at, std::size_t rhs_at, std::size_t out_at) {
    return raggedgemm::describe(view(reinterpret_cast<float*>(memory + lhs_at), 2, 4),
                                view(reinterpret_cast<float*>(memory + 512 + rhs_at), 1, 4, 4),
                                GroupSizes(reinterpret_cast<std::int32_t*>(memory + 2048), 1),
                                view(reinterpret_cast<float*>(memory + 1024 + out_at), 2, 4),
                                on_host());
  };
  const Result<Plan> plan = make_plan(call_at(0, 0, 0), on_host());
  REQUIRE(plan.ok());
  const auto refused = [&](const auto& pointers) { return bind(plan.value(), pointers).status(); };
  CHECK(refused(call_at(0, 0, 0).pointers).ok());

  CHECK(refused(call_at(4, 0, 0).pointers).code() == StatusCode::misaligned);
  CHECK(std::string(refused(call_at(4, 0, 0).pointers).operand()) == "lhs");
  CHECK(refused(call_at(4, 0, 0).pointers).got() == 4);
  CHECK(refused(call_at(4, 0, 0).pointers).needed() == 16);
  CHECK(std::string(refused(call_at(0, 8, 0).pointers).operand()) == "rhs");
  CHECK(std::string(refused(call_at(0, 0, 4).pointers).operand()) == "out");

  auto pointers = call_at(0, 0, 0).pointers;
  pointers.a = nullptr;
  CHECK(refused(pointers).code() == StatusCode::null_pointer);
  CHECK(std::string(refused(pointers).operand()) == "lhs");
  pointers = call_at(0, 0, 0).pointers;
  pointers.d = nullptr;
  CHECK(std::string(refused(pointers).operand()) == "out");
  pointers = call_at(0, 0, 0).pointers;
  pointers.groups.data = nullptr;
  CHECK(std::string(refused(pointers).operand()) == "group_sizes");
  pointers = call_at(0, 0, 0).pointers;
  pointers.groups.count = 2;
  CHECK(refused(pointers).code() == StatusCode::plan_mismatch);
}

TEST_CASE("A plan made for unaligned pointers takes aligned ones", "[plan][host]") {
  alignas(16) static float memory[256];
  const auto call_at = [&](std::size_t shift) {
    return raggedgemm::describe(view(memory + shift, 2, 4),
                                view(memory + 32, 1, 4, 4),
                                GroupSizes(reinterpret_cast<std::int32_t*>(memory + 128), 1),
                                view(memory + 64, 2, 4),
                                on_host());
  };
  const Result<Plan> plan = make_plan(call_at(1), on_host());
  REQUIRE(plan.ok());
  CHECK(bind(plan.value(), call_at(0).pointers).ok());
}

}  // namespace
