// SPDX-License-Identifier: Apache-2.0
// The little integer arithmetic of base/index.hpp.

#include "raggedgemm/base/index.hpp"

#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

TEST_CASE("ceil_div and round_up agree with their definition", "[base][host]") {
  for (offset_t a = 0; a < 200; ++a)
    for (offset_t b = 1; b < 20; ++b) {
      REQUIRE(ceil_div(a, b) * b >= a);
      REQUIRE((ceil_div(a, b) - 1) * b < a);
      REQUIRE(round_up(a, b) == ceil_div(a, b) * b);
    }
  CHECK(ceil_div(offset_t{1} << 40, offset_t{3}) == ((offset_t{1} << 40) + 2) / 3);
  CHECK(min_of(3, 5) == 3);
  CHECK(max_of(3, 5) == 5);
}

}  // namespace
