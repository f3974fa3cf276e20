// SPDX-License-Identifier: Apache-2.0
// Group sizes: how the M rows are dealt to the groups.
// Deterministic on every platform: the generator is our own, the standard's distributions are not.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "raggedgemm/base/index.hpp"

namespace raggedgemm::bench {

enum class SizePattern {
  balanced,     ///< M / G each, the remainder one by one on the first groups (as published)
  last,         ///< M / G each, the whole remainder on the last group
  multinomial,  ///< every row draws a group, all alike
  zipf,         ///< 1/8 of the groups empty; rows draw the others, in random order, by 1/rank
  file,         ///< read from a file; the sum may be less than M
};

struct SizeSpec {
  SizePattern pattern = SizePattern::balanced;
  std::string path;  ///< for SizePattern::file

  [[nodiscard]] std::string name() const;  ///< as on the command line
};

/// "balanced", "last", "multinomial", "zipf" or "file:PATH".
bool parse_sizes(const std::string& text, SizeSpec& spec, std::string& error);

/// The sizes of `groups` groups over `rows` rows. False, with one line in `error`, if the file
/// cannot be read, has another number of groups, a negative size, or more rows than there are.
bool make_group_sizes(const SizeSpec& spec,
                      offset_t rows,
                      offset_t groups,
                      std::uint64_t seed,
                      std::vector<std::int32_t>& sizes,
                      std::string& error);

/// Steele, Lea, Flood: splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  /// Below `bound` (> 0), which is far below 2^64: the bias is not seen.
  offset_t below(offset_t bound) {
    return static_cast<offset_t>(next() % static_cast<std::uint64_t>(bound));
  }
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

}  // namespace raggedgemm::bench
