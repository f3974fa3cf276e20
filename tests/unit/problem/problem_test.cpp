// SPDX-License-Identifier: Apache-2.0
// validate() and describe(): every refused problem names the operand, what it got and what it
// needed.

#include "raggedgemm/problem/problem.hpp"

#include <string>

#include "raggedgemm/ragged_dot.hpp"
#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

Problem good() {
  Problem p;
  p.rows = 10;
  p.cols = 20;
  p.depth = 30;
  p.slabs = 4;
  p.group_count = 4;
  p.group_kind = GroupKind::sizes;
  p.a = {0, 30, 1};
  p.b = {600, 20, 1};
  p.d = {0, 20, 1};
  return p;
}

void check_refused(const Problem& p, StatusCode code, const char* operand, std::int64_t got) {
  const Status status = validate(p);
  CHECK(status.code() == code);
  CHECK(std::string(status.operand()) == operand);
  CHECK(status.got() == got);
}

TEST_CASE("validate accepts good problems, empty ones included", "[problem][host]") {
  CHECK(validate(good()).ok());
  for (offset_t Problem::*extent :
       {&Problem::rows, &Problem::cols, &Problem::depth, &Problem::slabs}) {
    Problem p = good();
    p.*extent = 0;
    CHECK(validate(p).ok());
  }
  Problem p = good();
  p.group_count = 0;  // four slabs, and no group for them
  CHECK(!validate(p).ok());
  p.slabs = 0;
  CHECK(validate(p).ok());
}

TEST_CASE("validate names a negative or huge extent", "[problem][host]") {
  Problem p = good();
  p.rows = -1;
  check_refused(p, StatusCode::negative_extent, "m", -1);
  p = good();
  p.variant = Variant::contracting;
  p.d.slab = 200;
  p.rows = -1;
  check_refused(p, StatusCode::negative_extent, "k", -1);
  p = good();
  p.cols = -2;
  check_refused(p, StatusCode::negative_extent, "n", -2);
  p = good();
  p.depth = (offset_t{1} << 40) + 1;
  check_refused(p, StatusCode::extent_too_large, "k", (offset_t{1} << 40) + 1);
  p = good();
  p.slabs = -3;
  check_refused(p, StatusCode::negative_extent, "g", -3);
  p = good();
  p.group_count = -4;
  check_refused(p, StatusCode::negative_extent, "group_sizes", -4);
  p = good();
  p.rows = offset_t{1} << 39;
  p.cols = offset_t{1} << 20;
  check_refused(p, StatusCode::extent_too_large, "out", offset_t{1} << 39);
}

TEST_CASE("validate refuses Tail::compute outside the batch variant", "[problem][host]") {
  Problem p = good();
  p.tail = Tail::compute;
  CHECK(validate(p).code() == StatusCode::unsupported_option);
  CHECK(std::string(validate(p).operand()) == "options.tail");
  p.variant = Variant::batch;
  p.d.slab = 200;
  CHECK(validate(p).ok());
}

TEST_CASE("validate refuses an output whose elements share an address", "[problem][host]") {
  Problem p = good();
  p.d.row = 0;
  check_refused(p, StatusCode::overlapping_output, "out.stride", 0);
  p.rows = 1;  // one row may have any stride
  CHECK(validate(p).ok());
  p = good();
  p.d.col = 0;
  check_refused(p, StatusCode::overlapping_output, "out.stride", 0);
  for (const Variant variant : {Variant::contracting, Variant::batch}) {
    p = good();
    p.variant = variant;
    check_refused(p, StatusCode::overlapping_output, "out.stride", 0);  // slab stride 0
    p.slabs = 1;
    CHECK(validate(p).ok());
  }
}

TEST_CASE("An output without elements may have the strides of zero that row-major gives it",
          "[problem][host]") {
  Problem p = good();
  p.cols = 0;
  p.d = {0, 0, 1};
  CHECK(validate(p).ok());
  p.variant = Variant::batch;
  p.rows = 0;
  p.cols = 5;
  p.d = {0, 5, 1};
  CHECK(validate(p).ok());
}

TEST_CASE("layout_of names what is contiguous", "[problem][host]") {
  Problem p = good();
  CHECK(layout_of(p) == Layout::nn);
  p.b = {600, 1, 30};
  CHECK(layout_of(p) == Layout::nt);
  p.a = {0, 1, 10};
  CHECK(layout_of(p) == Layout::tt);
  p.b = {600, 20, 1};
  CHECK(layout_of(p) == Layout::tn);
  p.a = {0, 2, 20};
  CHECK(layout_of(p) == Layout::strided);
}

TEST_CASE("describe refuses operands whose extents disagree, and names them", "[problem][host]") {
  float f[1] = {};
  const std::int32_t s[1] = {};
  const auto operand = [](const Status& status) {
    CHECK(status.code() == StatusCode::extent_mismatch);
    return std::string(status.operand());
  };
  const GroupSizes groups(s, 3);
  CHECK(describe(view(f, 5, 6), view(f, 3, 6, 7), groups, view(f, 5, 7)).status.ok());
  CHECK(operand(describe(view(f, 5, 6), view(f, 3, 8, 7), groups, view(f, 5, 7)).status) ==
        "rhs.k");
  CHECK(operand(describe(view(f, 5, 6), view(f, 3, 6, 7), groups, view(f, 4, 7)).status) ==
        "out.m");
  CHECK(operand(describe(view(f, 5, 6), view(f, 3, 6, 7), groups, view(f, 5, 8)).status) ==
        "out.n");
  CHECK(operand(describe(view(f, 5, 6), view(f, 2, 6, 7), groups, view(f, 5, 7)).status) ==
        "group_sizes");

  CHECK(describe_contracting(view(f, 5, 6), view(f, 5, 7), groups, view(f, 3, 6, 7)).status.ok());
  CHECK(operand(
            describe_contracting(view(f, 5, 6), view(f, 4, 7), groups, view(f, 3, 6, 7)).status) ==
        "rhs.m");
  CHECK(operand(
            describe_contracting(view(f, 5, 6), view(f, 5, 7), groups, view(f, 3, 5, 7)).status) ==
        "out.k");
  CHECK(operand(
            describe_contracting(view(f, 5, 6), view(f, 5, 7), groups, view(f, 3, 6, 8)).status) ==
        "out.n");
  CHECK(operand(
            describe_contracting(view(f, 5, 6), view(f, 5, 7), groups, view(f, 2, 6, 7)).status) ==
        "group_sizes");

  CHECK(describe_batch(view(f, 2, 5, 6), view(f, 2, 6, 7), groups, view(f, 2, 5, 7)).status.ok());
  CHECK(operand(
            describe_batch(view(f, 2, 5, 6), view(f, 3, 6, 7), groups, view(f, 2, 5, 7)).status) ==
        "rhs.b");
  CHECK(operand(
            describe_batch(view(f, 2, 5, 6), view(f, 2, 5, 7), groups, view(f, 2, 5, 7)).status) ==
        "rhs.k");
  CHECK(operand(
            describe_batch(view(f, 2, 5, 6), view(f, 2, 6, 7), groups, view(f, 1, 5, 7)).status) ==
        "out.b");
  CHECK(operand(
            describe_batch(view(f, 2, 5, 6), view(f, 2, 6, 7), groups, view(f, 2, 4, 7)).status) ==
        "out.m");
  CHECK(operand(
            describe_batch(view(f, 2, 5, 6), view(f, 2, 6, 7), groups, view(f, 2, 5, 6)).status) ==
        "out.n");
  // run() returns what describe() found.
  CHECK(operand(ragged_dot(view(f, 5, 6), view(f, 3, 8, 7), groups, view(f, 5, 7))) == "rhs.k");
}

}  // namespace
