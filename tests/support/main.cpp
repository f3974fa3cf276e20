// SPDX-License-Identifier: Apache-2.0
// main() of every test program: skips with a reason (exit code 77, which CTest counts as skipped)
// where the program's device is missing, otherwise runs the tests.

#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

#include <cstdio>
#include <string>

namespace support {
std::string skip_reason();  // needs_nothing.cpp or needs_device.cpp
}

int main(int argc, char** argv) {
  const std::string reason = support::skip_reason();
  if (!reason.empty()) {
    std::printf("SKIPPED: %s\n", reason.c_str());
    return 77;
  }
  // Catch returns a number of failures, which could be 77.
  return Catch::Session().run(argc, argv) == 0 ? 0 : 1;
}
