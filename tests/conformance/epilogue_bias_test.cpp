// SPDX-License-Identifier: Apache-2.0
// build: header-only
// Bias in every variant; rows that belong to no group get none.

#include "support/cut_tiles.hpp"
#include "support/epilogue.hpp"

namespace {

using namespace support;

TEST_CASE("bias adds its group's vector to live rows and to no other",
          "[epilogue][conformance][device]") {
  const DeviceArray<bf16> values(bias_values(4, 77));
  for (const Tail tail : {Tail::zero, Tail::keep})
    for (const float beta : {0.0F, 1.0F}) {
      const auto formula = [](double x, offset_t, offset_t row, offset_t col) {
        return x + static_cast<double>(7 * group_of(row) - col % 50);
      };
      check_epilogue<float, float, float>(
          rows_case(tail, beta), rg::bias(rg::view(values.data(), 4, 77)), formula, 0);
    }
}

TEST_CASE("A shared bias adds one vector to every live row", "[epilogue][conformance][device]") {
  const DeviceArray<bf16> values(bias_values(1, 77));
  check_epilogue<float, float, float>(
      rows_case(Tail::zero),
      rg::bias(rg::view(values.data(), 77)),
      [](double x, offset_t, offset_t, offset_t col) { return x - static_cast<double>(col % 50); },
      0);
}

TEST_CASE("bias of the other variants goes by slab", "[epilogue][conformance][device]") {
  const DeviceArray<bf16> values(bias_values(4, 77));
  const auto formula = [](double x, offset_t slab, offset_t, offset_t col) {
    return x + static_cast<double>(7 * slab - col % 50);
  };
  Case c = rows_case(Tail::zero);
  c.shape.variant = Variant::contracting;
  check_epilogue<bf16, bf16, float, Variant::contracting>(
      c, rg::bias(rg::view(values.data(), 4, 77)), formula, 0);
  c.shape = {Variant::batch, 4, 20, 24, 77};
  c.entries = {1, 2};  // the last batch is dead
  check_epilogue<float, float, float, Variant::batch>(
      c, rg::bias(rg::view(values.data(), 4, 77)), formula, 0);
}

TEST_CASE("bias is added once to a tile whose depth was cut", "[epilogue][conformance][device]") {
  Case c = rows_case(Tail::zero);
  c.shape.k = 333;
  c.shape.n = 150;
  Prepared<bf16, bf16, bf16> prepared(with_aligned_pitches(c));
  const DeviceArray<bf16> values(bias_values(4, 150));
  const auto bias = rg::bias(rg::view(values.data(), 4, 150));
  const auto formula = [](double x, offset_t, offset_t row, offset_t col) {
    return x + static_cast<double>(7 * group_of(row) - col % 50);
  };
  rg::Options options = prepared.options();
  int rows = 0;
  for (options.config_row = 0; options.config_row < rg::config_rows; ++options.config_row) {
    INFO("row " << options.config_row);
    index_t tiles = 0;
    bool row_cuts = false;
    for (const index_t blocks : {2, 4}) {
      CutTilesSeen seen;
      std::vector<bf16> result;
      REQUIRE(prepared.run_by(options, result, [&](const auto& call) {
        return run_with_cut_tiles(call, options, 3, blocks, seen, bias);
      }) == "");
      if (!seen.row_cuts) continue;
      row_cuts = true;
      tiles += seen.tiles;
      REQUIRE(prepared.check(result, formula, 0) == "");
    }
    if (!row_cuts) continue;
    ++rows;
    CHECK(tiles > 0);
  }
  CHECK((rows > 0) == (runtime::device().value().arch == rg::Arch::sm90));
}

}  // namespace
