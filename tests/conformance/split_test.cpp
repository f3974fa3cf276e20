// SPDX-License-Identifier: Apache-2.0
// Depth in parts: every kernel that splits it, with 2 to 32 parts, more parts than steps of depth
// among them, gives what the f64 oracle says, from a workspace full of NaN; the bits are the same
// whichever blocks run first.

#include <string>
#include <vector>

#include "support/conformance.hpp"
#include "support/every_row.hpp"
#include "support/indexed_case.hpp"

namespace {

using namespace support;
using rg::index_t;
using rg::offset_t;
using rg::Variant;

/// Rows of the table that split the depth and that this device could run.
std::vector<index_t> split_rows() {
  std::vector<index_t> rows;
  for (index_t row = 0; row < rg::config_rows; ++row)
    if (rg::config_row(row).config.splits &&
        rg::runs_on(rg::config_row(row).arch, runtime::device().value().arch))
      rows.push_back(row);
  return rows;
}

/// Runs the case with the row and so many parts.
template <class P, class O>
std::string run_in_parts(P& prepared, index_t row, index_t parts, std::vector<O>& result) {
  rg::Options options = prepared.options();
  options.config_row = row;
  return prepared.run_by(options, result, [&](const auto& call) -> rg::Status {
    rg::Result<rg::Plan> plan = rg::make_plan(call, options);
    if (!plan.ok()) return plan.status();
    rg::Plan in_parts = plan.value();
    in_parts.parts = parts;
    in_parts.blocks = rg::min_of(in_parts.blocks, index_t{5});  // several tiles a block
    Workspace workspace(in_parts);
    rg::Pointers pointers = call.pointers;
    pointers.workspace = workspace.data();
    const rg::Result<rg::BoundCall> bound = rg::bind(in_parts, pointers);
    if (!bound.ok()) return bound.status();
    const rg::Identity identity;
    const rg::Status status = rg::run(bound.value(), &identity, nullptr);
    if (!status.ok()) return status;
    const rg::Status done = runtime::synchronize();
    CHECK(workspace.guards_intact());
    return done;
  });
}

/// Returns how often a row ran the case.
template <class O>
int check_in_parts(Case c) {
  c = with_aligned_pitches(c);
  Prepared<bf16, bf16, O> prepared(c);
  int runs = 0;
  for (const index_t row : split_rows()) {
    rg::Options options = prepared.options();
    options.config_row = row;
    const rg::Status applicable = prepared.with_call(
        options, [&](const auto& call) { return rg::make_plan(call, options).status(); });
    if (applicable.code() == rg::StatusCode::config_not_applicable ||
        applicable.code() == rg::StatusCode::no_kernel)
      continue;
    for (const index_t parts : {2, 3, 5, 32}) {
      INFO(prepared.text() << ", row " << rg::config_row(row).name << ", parts " << parts);
      std::vector<O> result;
      REQUIRE(run_in_parts(prepared, row, parts, result) == "");
      REQUIRE(prepared.check(result) == "");
      ++runs;
      if (c.data == Data::integers) continue;
      std::vector<O> again;
      REQUIRE(run_in_parts(prepared, row, parts, again) == "");
      CHECK(first_difference(result, again) == -1);
    }
  }
  return runs;
}

Case case_of(const char* name, Shape shape, Sizes entries) {
  Case c;
  c.name = name;
  c.shape = shape;
  c.entries = std::move(entries);
  return c;
}

/// Every variant and layout: ragged rows with a tail and an empty group, batches with dead ones,
/// groups of a ragged depth from none to several steps.
std::vector<Case> cases() {
  std::vector<Case> all;
  for (const bool transposed : {false, true}) {
    Case rows =
        case_of("split rows", {Variant::non_contracting, 4, 170, 333, 150}, {3, 0, 131, 20});
    rows.rhs.transposed = transposed;
    all.push_back(rows);
    Case batches = case_of("split batches", {Variant::batch, 3, 35, 203, 70}, {1, 1});
    batches.rhs.transposed = transposed;
    all.push_back(batches);
  }
  Case depths =
      case_of("split depth", {Variant::contracting, 5, 420, 70, 130}, {0, 1, 200, 64, 129});
  all.push_back(depths);
  return all;
}

TEST_CASE("Depth in parts adds up to the oracle's sums", "[conformance][split][device]") {
  int runs = 0;
  for (Case c : cases()) {
    runs += check_in_parts<bf16>(c);
    runs += check_in_parts<float>(c);
    c.data = Data::reals;
    runs += check_in_parts<float>(c);
    c.beta = 2;
    c.alpha = -0.5F;
    runs += check_in_parts<bf16>(c);
    c.data = Data::integers;
    c.alpha = 2;
    c.tail = Tail::keep;
    if (c.shape.variant == Variant::contracting) c.tail = Tail::zero;
    runs += check_in_parts<float>(c);
  }
#if defined(RAGGEDGEMM_COMPILED)
  CHECK((runs > 0) == !split_rows().empty());
#endif
}

TEST_CASE("Depth in parts scatters, gathers and scales by group as a whole one does",
          "[conformance][split][device]") {
  IndexedCase c(2, 320, 72);
  for (const bool gathers : {false, true}) {
    const rg::Options options = c.options(gathers);
    with_every_row(c.call(options),
                   options,
                   c.out(),
                   c.before(),
                   [&](const std::vector<float>& got, const std::string& row) {
                     INFO(row);
                     CHECK(c.wrong(got, gathers) == 0);
                   });
  }
}

TEST_CASE("Selection splits the depth where tiles are few and the workspace holds the sums",
          "[conformance][split][device]") {
  if (split_rows().empty()) return;
  constexpr offset_t m = 64, k = 8192, n = 256, g = 2;
  const DeviceArray<bf16> lhs(std::vector<bf16>(m * k, rg::to_bf16(1)));
  const DeviceArray<bf16> rhs(std::vector<bf16>(g * k * n, rg::to_bf16(1)));
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>{m / 2, m / 2});
  DeviceArray<float> out(m * n);
  const auto described = [&](const rg::Options& options) {
    return rg::describe(rg::view(lhs.data(), m, k),
                        rg::view(rhs.data(), g, k, n),
                        rg::GroupSizes(sizes.data(), g),
                        rg::view(out.data(), m, n),
                        options);
  };
  rg::Options options;
  const rg::Result<rg::Plan> without = rg::make_plan(described(options), options);
  REQUIRE(without.ok());
  CHECK(without.value().parts == 1);
  CHECK(rg::workspace_bytes(without.value()) == 0);
#if defined(RAGGEDGEMM_COMPILED)
  constexpr std::int64_t bytes_of_part = m * n * 4;
  DeviceArray<unsigned char> memory(4 * bytes_of_part);
  options.workspace = memory.data();
  options.workspace_bytes = 4 * bytes_of_part + 3;
  const rg::Result<rg::Plan> with = rg::make_plan(described(options), options);
  REQUIRE(with.ok());
  CHECK(with.value().parts == 4);
  CHECK(rg::workspace_bytes(with.value()) == 4 * bytes_of_part);
  CHECK(rg::explain(described(options), options).find("4 parts") != std::string::npos);
  REQUIRE(rg::run(described(options), options).ok());
  REQUIRE(runtime::synchronize().ok());
  CHECK(memory.guards_intact());
  CHECK(out.get() == std::vector<float>(m * n, static_cast<float>(k)));

  // A forced row without its workspace is refused, and so is one that is off alignment.
  rg::Options forced;
  forced.config_row = with.value().kernel.row;
  const rg::Status refused = rg::run(described(forced), forced);
  CHECK(refused.code() == rg::StatusCode::workspace_too_small);
  CHECK(refused.got() == 0);
  CHECK(refused.needed() == 2 * bytes_of_part);
  forced.workspace_bytes = 2 * bytes_of_part;
  CHECK(rg::run(described(forced), forced).code() == rg::StatusCode::null_pointer);
  forced.workspace = memory.data() + 4;
  CHECK(rg::run(described(forced), forced).code() == rg::StatusCode::misaligned);
#endif
}

}  // namespace
