// SPDX-License-Identifier: Apache-2.0
// Operands that matrix engines do not take as they lie, and a workspace: the call copies them to
// aligned lines first, and every kernel that wants alignment then gives what the oracle says.
// Around and between the operands' elements all memory is NaN, and so is the workspace.

#include <string>
#include <vector>

#include "support/conformance.hpp"

namespace {

using namespace support;
using rg::index_t;
using rg::offset_t;
using rg::Variant;

/// Lends exactly what the plan of a generous workspace asks for, and checks the result. Returns
/// whether the plan copied something.
template <class L, class O, class P>
bool check_with_workspace(P& prepared, index_t row) {
  rg::Options options = prepared.options();
  options.config_row = row;
  bool copied = false;
  std::vector<O> result;
  const std::string error = prepared.run_by(options, result, [&](const auto& call) -> rg::Status {
    rg::Options lent = options;
    lent.workspace_bytes = INT64_MAX;
    const rg::Result<rg::Plan> plan = rg::make_plan(call, lent);
    if (!plan.ok()) return plan.status();
    copied = plan.value().copies.any();
    Workspace workspace(plan.value());
    auto with = call;
    with.pointers.workspace = lent.workspace = workspace.data();
    lent.workspace_bytes = workspace.bytes();
    const rg::Result<rg::Plan> again = rg::make_plan(call, lent);
    CHECK(again.value().copies.any() == copied);
    const rg::Status status = rg::run(with, lent);
    if (!status.ok()) return status;
    const rg::Status done = runtime::synchronize();
    CHECK(workspace.guards_intact());
    if (copied && again.value().parts == 1) {
      // One byte less: another kernel, or with a forced row none.
      lent.workspace_bytes = rg::workspace_bytes(again.value()) - 1;
      const rg::Result<rg::Plan> without = rg::make_plan(call, lent);
      CHECK(
          (without.ok() ? rg::workspace_bytes(without.value()) <= lent.workspace_bytes : row >= 0));
    }
    return done;
  });
  INFO(prepared.text() << ", " << text_of_row(row));
  if (row >= 0 && !error.empty() && !copied) return false;  // the row is for something else
  REQUIRE(error == "");
  REQUIRE(prepared.check(result) == "");
  return copied;
}

/// How often a kernel ran on copies, over all rows and ways to lie.
template <class L, class O>
int check_case_of(Case c) {
  int copied = 0;
  struct Way {
    offset_t lhs_pad, rhs_pad, lhs_shift, rhs_shift;
  };
  for (const Way& way :
       {Way{0, 0, 0, 0}, Way{1, 0, 0, 0}, Way{0, 3, 0, 1}, Way{5, 2, 3, 0}, Way{8, 7, 1, 7}}) {
    c.lhs.pitch_pad = way.lhs_pad;
    c.rhs.pitch_pad = way.rhs_pad;
    c.lhs.shift_elems = way.lhs_shift;
    c.rhs.shift_elems = way.rhs_shift;
    Prepared<L, L, O> prepared(c);
    copied += check_with_workspace<L, O>(prepared, -1) ? 1 : 0;
    for (index_t row = 0; row < rg::config_rows; ++row) {
      if (rg::config_row(row).alignment_bytes < 16 ||
          !rg::runs_on(rg::config_row(row).arch, runtime::device().value().arch))
        continue;
      copied += check_with_workspace<L, O>(prepared, row) ? 1 : 0;
    }
  }
  return copied;
}

template <class L, class O>
int check_cases() {
  int copied = 0;
  for (const bool transposed : {false, true}) {
    Case rows;
    rows.name = "unaligned rows";
    rows.shape = {Variant::non_contracting, 4, 150, 77, 67};
    rows.entries = {3, 0, 131, 10};  // 6 rows of tail
    rows.rhs.transposed = transposed;
    copied += check_case_of<L, O>(rows);
    Case batches;
    batches.name = "unaligned batches";
    batches.shape = {Variant::batch, 3, 35, 93, 45};
    batches.entries = {1, 1};
    batches.rhs.transposed = transposed;
    copied += check_case_of<L, O>(batches);
  }
  Case depths;
  depths.name = "unaligned depth";
  depths.shape = {Variant::contracting, 4, 173, 45, 83};
  depths.entries = {0, 1, 130, 40};
  copied += check_case_of<L, O>(depths);
  return copied;
}

TEST_CASE("Copies to aligned lines give what the operands give",
          "[conformance][aligned_copies][device]") {
  const int half = check_cases<bf16, float>();
  const int narrow = check_cases<std::int8_t, std::int32_t>();
  const int wide = check_cases<float, float>();
  const bool gpu = runtime::platform != rg::Platform::host;
  const rg::Arch arch = runtime::device().value().arch;
  CHECK((half > 0) == (gpu && (arch == rg::Arch::sm90 || rg::runs_on(rg::Arch::gfx9, arch))));
  CHECK((narrow > 0) == (half > 0));
  CHECK((wide > 0) == (gpu && rg::runs_on(rg::Arch::gfx9, arch)));  // Hopper's f32 row rounds
}

TEST_CASE("A gathered lhs is copied whole, and an empty group's weights not at all",
          "[conformance][aligned_copies][device]") {
  constexpr int m = 48, k = 65, n = 40, g = 3, stored = 30;
  const std::vector<std::int32_t> sizes_host{20, 0, 21};
  const DeviceArray<std::int32_t> sizes(sizes_host);
  std::vector<std::int32_t> from(m);
  for (int i = 0; i < m; ++i)
    from[static_cast<std::size_t>(i)] = i == 4 ? stored : i == 5 ? -1 : (i * 7) % stored;
  const DeviceArray<std::int32_t> index(from);
  std::vector<float> a(stored * k), b(g * k * n);
  for (int i = 0; i < stored * k; ++i)
    a[static_cast<std::size_t>(i)] = static_cast<float>(i / k % 5 - 2);
  for (int i = 0; i < g * k * n; ++i)
    b[static_cast<std::size_t>(i)] = static_cast<float>(i % 3 - 1);
  std::vector<bf16> a16, b16;
  for (const float x : a) a16.push_back(rg::to_bf16(x));
  for (std::size_t i = 0; i < b.size(); ++i)
    b16.push_back(i / (k * n) == 1 ? poison<bf16>() : rg::to_bf16(b[i]));
  const DeviceArray<bf16> lhs(a16, 1);
  const DeviceArray<bf16> rhs(b16, 3);
  DeviceArray<float> out(m * n);
  rg::Options options;
  options.lhs_index = index.data();
  options.workspace_bytes = INT64_MAX;
  const auto described = [&] {
    return rg::describe(rg::view(lhs.data(), stored, k),
                        rg::view(rhs.data(), g, k, n),
                        rg::GroupSizes(sizes.data(), g),
                        rg::view(out.data(), m, n),
                        options);
  };
  for (index_t row = -1; row < rg::config_rows; ++row) {
    options.workspace = nullptr;
    options.workspace_bytes = INT64_MAX;
    options.config_row = row;
    const rg::Result<rg::Plan> plan = rg::make_plan(described(), options);
    if (row >= 0 && !plan.ok()) continue;
    INFO(text_of_row(row) << ": " << plan.status().message());
    REQUIRE(plan.ok());
    Workspace workspace(plan.value());
    options.workspace = workspace.data();
    options.workspace_bytes = workspace.bytes();
    out.set(std::vector<float>(m * n, poison<float>()));
    const rg::Status status = rg::run(described(), options);
    INFO(status.message());
    REQUIRE(status.ok());
    REQUIRE(runtime::synchronize().ok());
    CHECK(workspace.guards_intact());
    const std::vector<float> got = out.get();
    int wrong = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        const int source = from[static_cast<std::size_t>(i)];
        const int group = i < 20 ? 0 : i < 41 ? 2 : -1;
        float want = 0;
        for (int d = 0; d < k && group >= 0 && source >= 0 && source < stored; ++d)
          want += a[static_cast<std::size_t>(source * k + d)] *
                  b[static_cast<std::size_t>((group * k + d) * n + j)];
        wrong += got[static_cast<std::size_t>(i * n + j)] == want ? 0 : 1;
      }
    CHECK(wrong == 0);
  }
}

}  // namespace
