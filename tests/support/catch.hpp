// SPDX-License-Identifier: Apache-2.0
// Catch2, version 3 or 2: whichever is installed. Tests use only what both have: TEST_CASE,
// SECTION, CHECK, REQUIRE, INFO, CAPTURE, FAIL, FAIL_CHECK, SUCCEED, WARN.
#pragma once

#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif
