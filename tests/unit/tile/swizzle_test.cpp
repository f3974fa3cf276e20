// SPDX-License-Identifier: Apache-2.0
// The swizzle of output boxes is a bijection, and no phase of a store or load meets a bank twice.

#include "raggedgemm/tile/swizzle.hpp"

#include <set>
#include <vector>

#include "support/catch.hpp"

namespace {

using namespace raggedgemm;
constexpr index_t rows = 64;
constexpr index_t units = BoxMap::units_per_row;

/// The four-byte banks of one unit.
index_t first_bank(index_t row, index_t unit) {
  return BoxMap::unit(row, unit) * BoxMap::unit_bytes / 4 % 32;
}

TEST_CASE("BoxMap is a bijection that keeps 16-byte units together", "[tile][host]") {
  std::vector<int> met(static_cast<std::size_t>(rows * BoxMap::row_bytes), 0);
  int failures = 0;
  for (index_t row = 0; row < rows; ++row)
    for (index_t byte = 0; byte < BoxMap::row_bytes; ++byte) {
      const index_t at = BoxMap::offset(row, byte);
      if (at / BoxMap::row_bytes != row) ++failures;
      if (at % BoxMap::unit_bytes != byte % BoxMap::unit_bytes) ++failures;
      if (at >= 0 && at < rows * BoxMap::row_bytes) ++met[static_cast<std::size_t>(at)];
    }
  for (const int count : met) failures += count == 1 ? 0 : 1;
  CHECK(failures == 0);
}

TEST_CASE("BoxMap exchanges units as the copy engine does", "[tile][host]") {
  int failures = 0;
  for (index_t row = 0; row < rows; ++row)
    for (index_t unit = 0; unit < units; ++unit) {
      const index_t plain = row * BoxMap::row_bytes + unit * BoxMap::unit_bytes;
      if (BoxMap::unit(row, unit) * BoxMap::unit_bytes != (plain ^ (plain >> 7 & 7) << 4))
        ++failures;
    }
  CHECK(failures == 0);
}

TEST_CASE("the rows of an 8 x 16-byte matrix lie in different banks", "[tile][host]") {
  int conflicts = 0;
  for (index_t unit = 0; unit < units; ++unit)
    for (index_t begin = 0; begin < rows; begin += 8) {
      std::set<index_t> met;
      for (index_t row = begin; row < begin + 8; ++row)
        if (!met.insert(first_bank(row, unit)).second) ++conflicts;
    }
  CHECK(conflicts == 0);
}

TEST_CASE("lanes read the units of a row from different banks", "[tile][host]") {
  int conflicts = 0;
  for (index_t row = 0; row < rows; ++row) {
    std::set<index_t> met;
    for (index_t unit = 0; unit < units; ++unit)
      if (!met.insert(first_bank(row, unit)).second) ++conflicts;
  }
  CHECK(conflicts == 0);
}

}  // namespace
