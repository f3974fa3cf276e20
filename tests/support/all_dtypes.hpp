// SPDX-License-Identifier: Apache-2.0
// A case with every combination of element types that users multiply: for programs that link
// raggedgemm::compiled. Including this compiles the kernels of all of them in a header-only
// program.
#pragma once

#include <vector>

#include "support/conformance.hpp"

namespace support {

/// Runs a case with every combination of element types that users multiply; a dense case also with
/// aligned pitches. An emulated device gets one combination each and a third of the rows, by turns:
/// five and three are prime, so that no loop of cases meets the same ones again and again.
inline void check_all_dtypes(const Case& c) {
  const auto dense = [](const Placement& p) {
    return p.pitch_pad == 0 && p.slab_pad == 0 && p.shift_elems == 0 && !p.slab_innermost;
  };
  std::vector<Case> cases{c};
  if (dense(c.lhs) && dense(c.rhs)) cases.push_back(with_aligned_pitches(c));
  static int calls = 0;
  int turn = calls++;
  for (Case& each : cases) {
    each.rows_by_turns = emulated();
    const auto takes_part = [&](int combination) { return !emulated() || combination == turn % 5; };
    if (takes_part(0)) check_case<bf16, bf16, bf16>(each);
    if (takes_part(1)) check_case<fp16, fp16, float>(each);
    if (takes_part(2)) check_case<float, float, float>(each);
    if (takes_part(3)) check_case<bf16, bf16, float>(each);
    if (takes_part(4)) check_case<fp16, fp16, fp16>(each);
    turn += 2;
  }
}

}  // namespace support
