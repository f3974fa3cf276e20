// SPDX-License-Identifier: Apache-2.0
// A small random generator with a printable seed (splitmix64): the same numbers on every platform.
#pragma once

#include <cstdint>

namespace support {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }

  /// Uniform in [low, high]; the bias of the modulus does not matter to a test.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    if (span == ~std::uint64_t{0}) return static_cast<std::int64_t>(bits());
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + bits() % (span + 1));
  }

  bool one_in(std::int64_t n) { return between(1, n) == 1; }

  /// Uniform in [-1, 1).
  double real() { return static_cast<double>(bits() >> 11) * 0x1p-52 - 1.0; }

 private:
  std::uint64_t state_;
};

}  // namespace support
