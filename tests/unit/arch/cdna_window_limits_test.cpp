// SPDX-License-Identifier: Apache-2.0
// Which operands the CDNA rows refuse, each with a reason; selection falls to the next row.

#include "raggedgemm/arch/cdna/window_limits.hpp"

#include <string>

#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

/// lhs [m, k] and rhs [g, k, n], row-major.
Problem row_major_problem(offset_t m, offset_t k, offset_t n, offset_t g) {
  Problem p;
  p.lhs_dtype = p.rhs_dtype = p.out_dtype = DType::bf16;
  p.variant = Variant::non_contracting;
  p.rows = m;
  p.depth = k;
  p.cols = n;
  p.slabs = p.group_count = g;
  p.a = {0, k, 1};
  p.b = {k * n, n, 1};
  p.d = {0, n, 1};
  return p;
}

bool fits(const Problem& p) { return detail::why_not_windows(p) == nullptr; }

TEST_CASE("CDNA feeds take rows that are apart by multiples of 16 bytes", "[arch][host]") {
  CHECK(fits(row_major_problem(65536, 6144, 20480, 256)));
  CHECK(fits(row_major_problem(1, 8, 8, 1)));
  Problem padded = row_major_problem(64, 13, 29, 2);
  CHECK_FALSE(fits(padded));
  padded.a.row = 16;
  padded.b.row = 32;
  CHECK(fits(padded));
}

TEST_CASE("CDNA feeds refuse pitches that their windows cannot end between", "[arch][host]") {
  Problem p = row_major_problem(64, 128, 256, 4);
  REQUIRE(fits(p));
  SECTION("rows of lhs that overlap") { p.a.row = 64; }
  SECTION("one row of lhs for all") { p.a.row = 0; }
  SECTION("rows of rhs in reverse") { p.b.row = -256; }
  SECTION("a pitch past the 32-bit offsets of a tile") { p.a.row = offset_t{1} << 21; }
  SECTION("a column of lhs alone, with a pitch of one element") {
    p.depth = 1;
    p.a.row = 1;
  }
  SECTION("transposed rhs whose columns overlap") { p.b = {128 * 256, 1, 120}; }
  SECTION("an instance that is off by one element") { p.instances.append(2, {1, 0, 0, 0}); }
  CHECK_FALSE(fits(p));
}

TEST_CASE("CDNA feeds count pitches and outer strides in bytes", "[arch][host]") {
  const auto with = [](DType dtype, offset_t pitch) {
    Problem p = row_major_problem(64, 8, 8, 4);
    p.lhs_dtype = p.rhs_dtype = dtype;
    p.a.row = p.b.row = pitch;
    return p;
  };
  CHECK(fits(with(DType::s8, 16)));
  CHECK_FALSE(fits(with(DType::s8, 24)));
  CHECK(fits(with(DType::e4m3fn, (offset_t{1} << 22) - 16)));
  CHECK_FALSE(fits(with(DType::e4m3fn, offset_t{1} << 22)));
  CHECK(fits(with(DType::f32, 12)));
  CHECK_FALSE(fits(with(DType::f32, 10)));
  CHECK_FALSE(fits(with(DType::f32, offset_t{1} << 20)));
  CHECK(fits(with(DType::f64, 10)));
  CHECK_FALSE(fits(with(DType::f64, offset_t{1} << 19)));
  Problem outer = with(DType::f64, 10);
  outer.instances.append(2, {2, 4, 0, 0});
  CHECK(fits(outer));
  outer.lhs_dtype = DType::s8;
  outer.a.row = 16;
  CHECK_FALSE(fits(outer));
}

TEST_CASE("CDNA feeds judge the operands of the transposed layouts by their pitch",
          "[arch][host]") {
  Problem p = row_major_problem(64, 128, 256, 4);
  SECTION("nt") { p.b = {128 * 256, 1, 128}; }
  SECTION("tn, as the contracting variant has it") { p.a = {0, 1, 64}; }
  CHECK(fits(p));
}

}  // namespace
