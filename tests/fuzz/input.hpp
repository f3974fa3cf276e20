// SPDX-License-Identifier: Apache-2.0
// Input: the fuzzer's bytes as a stream of choices. An exhausted stream answers 0, the first
// choice, the low bound: short inputs are simple calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string>

namespace fuzz {

/// Ends the execution as a finding.
[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "FAILURE: %s\n", what.c_str());
  std::abort();
}

inline void require(bool condition, const char* what) {
  if (!condition) fail(what);
}

class Input {
 public:
  Input(const std::uint8_t* bytes, std::size_t count) : bytes_(bytes), count_(count) {}

  std::uint8_t byte() { return at_ < count_ ? bytes_[at_++] : std::uint8_t{0}; }

  std::uint64_t word() {
    std::uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word = word << 8 | byte();
    return word;
  }

  /// In [low, high]; takes one, two or eight bytes.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    if (span == 0) return low;
    std::uint64_t value = span <= 0xFF ? byte() : span <= 0xFFFF ? byte() * 256U + byte() : word();
    if (span != ~std::uint64_t{0}) value %= span + 1;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + value);
  }

  bool one_in(int n) { return byte() % n == n - 1; }

  template <class T>
  T pick(std::initializer_list<T> choices) {
    return choices.begin()[byte() % choices.size()];
  }

  /// Any int64, with the ones that break arithmetic among them.
  std::int64_t hostile(std::int64_t usual) {
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    switch (byte() % 16) {
      case 0: return 0;
      case 1: return 1;
      case 2: return -1;
      case 3: return usual;
      case 4: return usual + 1;
      case 5: return largest;
      case 6: return least;
      case 7: return largest - between(0, 3);
      case 8: return least + between(0, 3);
      case 9: return std::int64_t{1} << between(0, 62);
      case 10: return -(std::int64_t{1} << between(0, 62));
      case 11: return (std::int64_t{1} << between(8, 62)) - 1;
      case 12: return static_cast<std::int64_t>(word());
      default: return between(0, usual > 0 && usual < 255 ? usual : 7);
    }
  }

 private:
  const std::uint8_t* bytes_;
  std::size_t count_;
  std::size_t at_ = 0;
};

}  // namespace fuzz
