// SPDX-License-Identifier: Apache-2.0
// Which operands the Hopper rows refuse, each with a reason; selection falls to the next row.

#include "raggedgemm/arch/sm90/tma_limits.hpp"

#include <string>

#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

Problem row_major_problem(offset_t m, offset_t k, offset_t n, offset_t g) {
  Problem p;
  p.variant = Variant::non_contracting;
  p.lhs_dtype = p.rhs_dtype = p.out_dtype = DType::bf16;
  p.rows = m;
  p.depth = k;
  p.cols = n;
  p.slabs = p.group_count = g;
  p.a = {0, k, 1};
  p.b = {k * n, n, 1};
  p.d = {0, n, 1};
  return p;
}

std::string reason(const Problem& p, Layout layout = Layout::nn) {
  const char* const text = arch::sm90::why_not_tma(p, layout);
  return text == nullptr ? "" : text;
}

TEST_CASE("TMA takes row-major operands of any extent below 2^31", "[arch][bf16][host]") {
  CHECK(reason(row_major_problem(1, 8, 8, 1)).empty());
  CHECK(reason(row_major_problem(1 << 30, 6144, 2048, 32)).empty());
  CHECK(reason(row_major_problem(1 << 30, 6144, 20480, 32)) == "needs fewer than 2^31 tiles");
  CHECK_FALSE(reason(row_major_problem(offset_t{1} << 31, 8, 8, 1)).empty());
}

TEST_CASE("TMA refuses pitches that it cannot step", "[arch][bf16][host]") {
  Problem p = row_major_problem(64, 128, 256, 4);
  SECTION("a row pitch that is no multiple of 16 bytes") { p.a.row = 132; }
  SECTION("rows that overlap") { p.a.row = 64; }
  SECTION("rows that are one row") { p.a.row = 0; }
  SECTION("rows in reverse") { p.b.row = -256; }
  SECTION("a row pitch past 2^40 bytes") { p.a.row = offset_t{1} << 39; }
  SECTION("a slab stride that is no multiple of 16 bytes") { p.b.slab = 128 * 256 + 4; }
  SECTION("slabs in reverse") { p.b.slab = -128 * 256; }
  CHECK_FALSE(reason(p).empty());
}

TEST_CASE("TMA does not care for strides of extents that take no step", "[arch][bf16][host]") {
  Problem p = row_major_problem(1, 128, 256, 1);
  p.a.row = 3;
  p.b.slab = 5;
  CHECK(reason(p).empty());
}

TEST_CASE("one slab for all batches is no slab stride", "[arch][bf16][host]") {
  Problem p = row_major_problem(64, 128, 256, 4);
  p.variant = Variant::batch;
  p.a.slab = 0;
  CHECK(reason(p).empty());
  CHECK(arch::sm90::tma_operand(p.a, true, false, p.rows, p.depth, p.slabs).slabs == 1);
}

TEST_CASE("without a product no operand is loaded, whatever its strides", "[arch][bf16][host]") {
  Problem p = row_major_problem(64, 0, 256, 4);
  CHECK(reason(p).empty());
}

TEST_CASE("TMA reads the contiguous dimension that the layout names", "[arch][bf16][host]") {
  const Strides transposed = {128 * 256, 1, 128};  // [k, n] in memory as [n][k]
  const arch::sm90::TmaOperand t = arch::sm90::tma_operand(
      transposed, false, arch::sm90::b_is_mn_major(Layout::nt), 256, 128, 4);
  CHECK(t.contiguous == 128);
  CHECK(t.lines == 256);
  CHECK(t.pitch == 128);
  CHECK(t.slabs == 4);
}

TEST_CASE("TMA stores aligned outputs of 2 and 4 bytes an element, and no other", "[arch][host]") {
  const auto refuses = [](const Strides& d, std::int32_t elem_bytes, std::int32_t alignment) {
    return arch::sm90::why_not_tma_store(d, elem_bytes, alignment, 64, 256, 4) != nullptr;
  };
  CHECK_FALSE(refuses({64 * 256, 256, 1}, 2, 16));
  CHECK_FALSE(refuses({64 * 256, 256, 1}, 4, 16));
  CHECK_FALSE(refuses({0, 264, 1}, 2, 16));
  CHECK_FALSE(refuses({64 * 260, 260, 1}, 4, 16));
  CHECK(refuses({64 * 256, 256, 1}, 1, 16));
  CHECK(refuses({64 * 256, 256, 1}, 8, 16));
  CHECK(refuses({64 * 256, 256, 1}, 2, 8));
  CHECK(refuses({64 * 256, 1, 64}, 2, 16));    // columns are not contiguous
  CHECK(refuses({64 * 260, 260, 1}, 2, 16));   // a pitch of 520 bytes
  CHECK(refuses({64 * 256, 128, 1}, 2, 16));   // rows that overlap
  CHECK(refuses({-64 * 256, 256, 1}, 2, 16));  // slabs in reverse
  CHECK(refuses({64 * 256, -256, 1}, 2, 16));
}

}  // namespace
