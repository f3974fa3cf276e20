// SPDX-License-Identifier: Apache-2.0
// Tiles of the last round in parts (schedule/cut_order.hpp): every kernel that cuts them gives what
// the oracle says, from a workspace full of NaN. Grids of a few blocks, so that few tiles have
// several rounds; what was cut is read from the workspace, so that no test passes uncut.

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "support/conformance.hpp"
#include "support/cut_tiles.hpp"
#include "support/indexed_case.hpp"

namespace {

using namespace support;
using rg::index_t;
using rg::offset_t;
using rg::Variant;

bool device_cuts() {
#if defined(RAGGEDGEMM_COMPILED)
  return runtime::device().value().arch == rg::Arch::sm90;
#else
  return false;  // the build may hold no kernel for the device
#endif
}

/// Calls `run(row, blocks, parts)`, which returns what it saw; each row that cuts must have done
/// so. Returns how many rows those are.
template <class F>
int with_every_cutting_row(const F& run) {
  int rows = 0;
  for (index_t row = 0; row < rg::config_rows; ++row) {
    if (!rg::runs_on(rg::config_row(row).arch, runtime::device().value().arch)) continue;
    INFO("row " << rg::config_row(row).name);
    CutTilesSeen most;
    bool row_cuts = true;
    for (const index_t blocks : {3, 4, 5, 7, 11})
      for (const index_t parts : {2, 3, 32}) {
        if (!row_cuts) continue;
        INFO("blocks " << blocks << ", parts " << parts);
        const CutTilesSeen seen = run(row, blocks, parts);
        row_cuts = seen.row_cuts;
        most.tiles = std::max(most.tiles, seen.tiles);
        most.rows = std::max(most.rows, seen.rows);
        if (seen.tiles > 0) {
          CHECK(seen.parts >= 2);
          CHECK(seen.parts <= parts);
        }
      }
    if (!row_cuts) continue;
    ++rows;
    CHECK(most.tiles > 0);
  }
  return rows;
}

/// Checks the case with every row that cuts tiles; one with `least_rows` rows at least is cut.
template <class L, class O>
int check_cut_tiles(Case c, index_t least_rows) {
  c = with_aligned_pitches(c);
  Prepared<L, L, O> prepared(c);
  index_t most_rows = 0;
  const int rows = with_every_cutting_row([&](index_t row, index_t blocks, index_t parts) {
    INFO(prepared.text());
    rg::Options options = prepared.options();
    options.config_row = row;
    CutTilesSeen seen;
    const auto run = [&](std::vector<O>& result) {
      return prepared.run_by(options, result, [&](const auto& call) {
        return run_with_cut_tiles(call, options, parts, blocks, seen);
      });
    };
    std::vector<O> result;
    REQUIRE(run(result) == "");
    if (!seen.row_cuts) return seen;
    REQUIRE(prepared.check(result) == "");
    most_rows = std::max(most_rows, seen.rows);
    if (c.data == Data::reals) {
      std::vector<O> again;
      REQUIRE(run(again) == "");
      CHECK(first_difference(result, again) == -1);
    }
    return seen;
  });
  if (rows > 0) CHECK(most_rows >= least_rows);
  return rows;
}

Case case_of(Shape shape, Sizes entries, bool transposed) {
  Case c;
  c.name = "last round";
  c.shape = shape;
  c.entries = std::move(entries);
  c.rhs.transposed = transposed;
  return c;
}

TEST_CASE("Tiles of the last round in parts add up to the oracle's sums",
          "[conformance][last_round][device]") {
  int rows = 0;
  for (const bool transposed : {false, true}) {
    // With a tail; the last group, whose tiles are cut, is short, or fills tiles of any height.
    Case c = case_of({Variant::non_contracting, 4, 170, 333, 150}, {3, 0, 131, 20}, transposed);
    rows += check_cut_tiles<bf16, bf16>(c, 20);
    c.data = Data::reals;
    rows += check_cut_tiles<bf16, float>(c, 20);
    c = case_of({Variant::non_contracting, 4, 290, 333, 150}, {3, 0, 20, 250}, transposed);
    c.data = Data::reals;
    rows += check_cut_tiles<bf16, float>(c, 122);
    c.beta = 2;
    c.alpha = -0.5F;
    rows += check_cut_tiles<bf16, bf16>(c, 122);
    c.tail = Tail::keep;
    c.beta = 0;
    c.shape.n = 1000;  // more tiles
    rows += check_cut_tiles<bf16, bf16>(c, 122);
    rows += check_cut_tiles<fp16, fp16>(c, 122);
  }
  CHECK((rows > 0) == device_cuts());
}

TEST_CASE("Cut tiles scatter, gather and scale by group, past a window of groups",
          "[conformance][last_round][device]") {
  IndexedCase c(300, 192, 600);
  int rows = 0;
  for (const bool gathers : {false, true}) {
    rg::Options options = c.options(gathers);
    rows += with_every_cutting_row([&](index_t row, index_t blocks, index_t parts) {
      options.config_row = row;
      c.out().set(c.before());
      CutTilesSeen seen;
      REQUIRE(run_with_cut_tiles(c.call(options), options, parts, blocks, seen).ok());
      if (seen.row_cuts) {
        CHECK(c.out().guards_intact());
        CHECK(c.wrong(c.out().get(), gathers) == 0);
      }
      return seen;
    });
  }
  CHECK((rows > 0) == device_cuts());
}

TEST_CASE("Calls that cut and calls that do not take turns on one workspace",
          "[conformance][last_round][device]") {
  constexpr int m = 64, k = 192, n = 296, g = 3;  // rows of 16-byte units
  // With 4 blocks: 9 or 6 tiles, of which 1 or 2 are cut; none with depth; 6 or 4 tiles; one group.
  const std::vector<std::vector<std::int32_t>> all_sizes{
      {20, 20, 20}, {0, 0, 0}, {10, 50, 0}, {0, 64, 0}};
  std::vector<bf16> lhs_values, rhs_values;
  for (int i = 0; i < m * k; ++i)
    lhs_values.push_back(rg::to_bf16(static_cast<float>(i * 7 % 5 - 2)));
  for (int i = 0; i < g * k * n; ++i)
    rhs_values.push_back(rg::to_bf16(static_cast<float>(i * 11 % 7 - 3)));
  const DeviceArray<bf16> lhs(lhs_values), rhs(rhs_values);
  std::deque<DeviceArray<std::int32_t>> sizes;
  std::deque<DeviceArray<float>> outs;
  for (const auto& of_call : all_sizes) {
    sizes.emplace_back(of_call);
    outs.emplace_back(std::size_t{m} * n);
  }
  const auto described = [&](std::size_t i, const rg::Options& options) {
    return rg::describe(rg::view(lhs.data(), m, k),
                        rg::view(rhs.data(), g, k, n),
                        rg::GroupSizes(sizes[i].data(), g),
                        rg::view(outs[i].data(), m, n),
                        options);
  };
  int rows = 0;
  for (index_t row = 0; row < rg::config_rows; ++row) {
    rg::Options options;
    options.config_row = row;
    const auto plan = rg::make_plan(described(0, options), options);
    if (!plan.ok() || plan.value().kernel.cut_tile_bytes == 0) continue;
    ++rows;
    INFO("row " << rg::config_row(row).name);
    std::vector<std::vector<float>> whole;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      REQUIRE(rg::run(described(i, options), options).ok());
      REQUIRE(runtime::synchronize().ok());
      whole.push_back(outs[i].get());
      outs[i].set(std::vector<float>(whole[i].size(), poison<float>()));
    }
    const rg::Plan cut = with_cut_tiles(plan.value(), 3, 4);
    DeviceArray<unsigned char> workspace(static_cast<std::size_t>(rg::workspace_bytes(cut)));
    for (std::size_t turn = 0; turn < 5 * sizes.size() + 1; ++turn) {
      const std::size_t i = turn * 3 % sizes.size();  // nothing waits between the calls
      rg::Pointers pointers = described(i, options).pointers;
      pointers.workspace = workspace.data();
      const rg::Result<rg::BoundCall> bound = rg::bind(cut, pointers);
      REQUIRE(bound.ok());
      const rg::Identity identity;
      REQUIRE(rg::run(bound.value(), &identity, nullptr).ok());
    }
    REQUIRE(runtime::synchronize().ok());
    CHECK(workspace.guards_intact());
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      INFO("sizes " << i);
      CHECK(first_difference(outs[i].get(), whole[i]) == -1);
    }
    CutTilesSeen seen;  // the last call was the first one, again
    look_at_cut_tiles(workspace.get(), cut, seen);
    CHECK(seen.tiles > 0);
  }
  CHECK((rows > 0) == device_cuts());
}

TEST_CASE("Selection cuts the last round where a workspace is lent, and only then",
          "[conformance][last_round][device]") {
  if (!device_cuts()) return;
  constexpr offset_t m = 128, k = 48 * 64, n = 1024, g = 32;
  const auto multiprocessors = runtime::device().value().multiprocessors;
  // 8 tiles a group: a few more than the multiprocessors take in a round.
  const offset_t groups_with_rows = multiprocessors / 8 + 1;
  REQUIRE(groups_with_rows <= g);
  std::vector<std::int32_t> sizes_host(g, 0);
  for (offset_t i = 0; i < groups_with_rows; ++i) sizes_host[static_cast<std::size_t>(i)] = 4;
  std::vector<bf16> lhs_values, rhs_values;
  lhs_values.reserve(m * k);
  rhs_values.reserve(g * k * n);
  for (offset_t i = 0; i < m; ++i)
    for (offset_t j = 0; j < k; ++j)
      lhs_values.push_back(rg::to_bf16(static_cast<float>(i % 3 + 1 + (j / 64 == i % 48 ? 5 : 0))));
  for (offset_t s = 0; s < g; ++s)
    for (offset_t j = 0; j < k; ++j)
      for (offset_t c = 0; c < n; ++c)
        rhs_values.push_back(rg::to_bf16(static_cast<float>((s + c) % 3 + 1)));
  const DeviceArray<bf16> lhs(lhs_values), rhs(rhs_values);
  const DeviceArray<std::int32_t> sizes(sizes_host);
  DeviceArray<float> out(m * n);
  DeviceArray<unsigned char> workspace(std::size_t{32} << 20);
  rg::Options options;
  options.workspace = workspace.data();
  options.workspace_bytes = std::int64_t{32} << 20;
  const auto described = [&](const rg::Options& o) {
    return rg::describe(rg::view(lhs.data(), m, k),
                        rg::view(rhs.data(), g, k, n),
                        rg::GroupSizes(sizes.data(), g),
                        rg::view(out.data(), m, n),
                        o);
  };
  for (const bool whole : {false, true}) {
    options.whole_depth = whole;
    const auto plan = rg::make_plan(described(options), options);
    REQUIRE(plan.ok());
    CHECK(plan.value().cuts_last == !whole);
    REQUIRE(rg::run(described(options), options).ok());
    REQUIRE(runtime::synchronize().ok());
    CHECK(workspace.guards_intact());
    if (!whole) {
      CutTilesSeen seen;
      look_at_cut_tiles(workspace.get(), plan.value(), seen);
      CHECK(seen.tiles > 0);
      CHECK(seen.parts > 1);
    }
    const std::vector<float> got = out.get();
    int wrong = 0;
    for (offset_t i = 0; i < m; ++i)
      for (offset_t c = 0; c < n; ++c) {
        const offset_t group = i / 4;
        const offset_t want =
            group < groups_with_rows ? ((group + c) % 3 + 1) * ((i % 3 + 1) * k + 5 * 64) : 0;
        wrong += got[static_cast<std::size_t>(i * n + c)] == static_cast<float>(want) ? 0 : 1;
      }
    CHECK(wrong == 0);
    out.set(std::vector<float>(got.size(), poison<float>()));
  }
}

}  // namespace
