// SPDX-License-Identifier: Apache-2.0
// Status: every code has a name, and the message names the operand, what it got and what it needed.

#include "raggedgemm/base/status.hpp"

#include <set>

#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

TEST_CASE("Every Status code has a name of its own", "[base][host]") {
  std::set<std::string> names;
  int codes = 0;
  while (std::string(name_of(static_cast<StatusCode>(codes))) != "unknown") {
    names.insert(name_of(static_cast<StatusCode>(codes)));
    ++codes;
  }
  CHECK(codes > static_cast<int>(StatusCode::vendor_error));
  CHECK(names.size() == static_cast<std::size_t>(codes));
}

TEST_CASE("Status values are append-only", "[base][host]") {
  CHECK(static_cast<int>(StatusCode::ok) == 0);
  CHECK(static_cast<int>(StatusCode::negative_extent) == 1);
  CHECK(static_cast<int>(StatusCode::extent_mismatch) == 2);
  CHECK(static_cast<int>(StatusCode::extent_too_large) == 3);
  CHECK(static_cast<int>(StatusCode::null_pointer) == 4);
  CHECK(static_cast<int>(StatusCode::overlapping_output) == 5);
  CHECK(static_cast<int>(StatusCode::unsupported_dtypes) == 6);
  CHECK(static_cast<int>(StatusCode::unsupported_option) == 7);
  CHECK(static_cast<int>(StatusCode::no_kernel) == 8);
  CHECK(static_cast<int>(StatusCode::no_fast_kernel) == 9);
  CHECK(static_cast<int>(StatusCode::config_not_applicable) == 10);
  CHECK(static_cast<int>(StatusCode::no_device) == 11);
  CHECK(static_cast<int>(StatusCode::platform_not_compiled) == 12);
  CHECK(static_cast<int>(StatusCode::misaligned) == 13);
  CHECK(static_cast<int>(StatusCode::plan_mismatch) == 14);
  CHECK(static_cast<int>(StatusCode::workspace_too_small) == 15);
  CHECK(static_cast<int>(StatusCode::vendor_error) == 16);
}

TEST_CASE("A Status message names the operand, got, needed and the advice", "[base][host]") {
  const Status status{StatusCode::extent_mismatch, "rhs.k", 7, 8, "must equal lhs.k"};
  CHECK(!status.ok());
  CHECK(!status);
  CHECK(status.code() == StatusCode::extent_mismatch);
  CHECK(status.message() == "extent_mismatch: rhs.k: got 7, needed 8; must equal lhs.k");
  CHECK(Status(StatusCode::no_kernel, "x", -1, 0).message() == "no_kernel: x: got -1, needed 0");
  CHECK(Status().ok());
  CHECK(Status().message() == "ok");
}

TEST_CASE("A Status message of any length stays inside its buffer", "[base][host]") {
  const std::string advice(2000, 'x');
  const Status status{StatusCode::vendor_error, "operand", 1, 2, advice.c_str()};
  CHECK(status.message().size() < 600);
  CHECK(status.message().find("operand") != std::string::npos);
}

TEST_CASE("A Result holds a value or a Status", "[base][host]") {
  const Result<int> value(5);
  CHECK(value.ok());
  CHECK(value.value() == 5);
  const Result<int> none(Status{StatusCode::no_device, "gpu", 0, 1});
  CHECK(!none.ok());
  CHECK(none.status().code() == StatusCode::no_device);
}

}  // namespace
