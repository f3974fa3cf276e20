// SPDX-License-Identifier: Apache-2.0
// Epilogues end to end against the f64 oracle, with every core kernel forced in turn; the cases
// that the epilogue tests share.
#pragma once

#include <vector>

#include "raggedgemm/raggedgemm.hpp"
#include "support/conformance.hpp"

namespace support {

/// Runs a case, with pitches that matrix engines take, with an epilogue and every row that takes
/// it; `formula(value, slab, row, col)` is the epilogue in f64, `terms` its f32 operations (0:
/// exact on integers).
template <class L, class R, class O, Variant V = Variant::non_contracting, class E, class F>
void check_epilogue(const Case& c, const E& epilogue, const F& formula, double terms) {
  Prepared<L, R, O, V> prepared(with_aligned_pitches(c));
  rg::Options options = prepared.options();
  int forced = 0;
  for (index_t row = -1; row < rg::config_rows; ++row) {
    options.config_row = row;
    std::vector<O> result;
    if (row >= 0) {
      const rg::Status status = prepared.with_call(
          options, [&](const auto& call) { return rg::make_plan<E>(call, options).status(); });
      if (!status.ok()) continue;
      ++forced;
    }
    INFO(prepared.text() << ", row " << row);
    REQUIRE(prepared.run(options, result, epilogue) == "");
    REQUIRE(prepared.check(result, formula, terms) == "");
  }
  CHECK(forced > 0);
}

inline Case rows_case(Tail tail, float beta = 0) {
  Case c;
  c.name = "epilogue";
  c.shape = {Variant::non_contracting, 4, 150, 24, 77};
  c.entries = {40, 0, 61, 20};  // 29 rows of tail
  c.tail = tail;
  c.beta = beta;
  c.out.pitch_pad = 3;
  return c;
}

/// The group of a row of rows_case.
inline offset_t group_of(offset_t row) { return row < 40 ? 0 : row < 101 ? 2 : 3; }

/// bias[g][n] = 7 g − n, small integers; exactly [groups, cols], so that a read past them is NaN.
inline std::vector<bf16> bias_values(offset_t groups, offset_t cols) {
  std::vector<bf16> values;
  for (offset_t g = 0; g < groups; ++g)
    for (offset_t n = 0; n < cols; ++n)
      values.push_back(rg::to_bf16(static_cast<float>(7 * g - n % 50)));
  return values;
}

}  // namespace support
