// SPDX-License-Identifier: Apache-2.0
// Group size vectors for tests: random ones of every flavour, and what they mean (the oracle's own
// reading of sizes and offsets, written independently of problem/group_sizes.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/problem/group_sizes.hpp"
#include "support/random.hpp"

namespace support {

using raggedgemm::GroupKind;
using raggedgemm::index_t;
using raggedgemm::IndexType;
using raggedgemm::offset_t;

using Sizes = std::vector<std::int64_t>;

inline constexpr std::int64_t int64_max = std::numeric_limits<std::int64_t>::max();
inline constexpr std::int64_t int64_min = std::numeric_limits<std::int64_t>::min();

/// The indices of one group in the ragged dimension.
struct Range {
  offset_t begin = 0;
  offset_t end = 0;
};

/// What a description means: negative sizes are empty, ranges follow each other and are cut at the
/// extent. `entries` are the values as stored (already narrowed to the index type).
inline std::vector<Range> ranges_of(const Sizes& entries, GroupKind kind, offset_t extent) {
  __extension__ using Wide = __int128;
  const std::size_t groups =
      kind == GroupKind::offsets ? entries.size() - std::size_t{!entries.empty()} : entries.size();
  std::vector<Range> ranges;
  Wide at = 0;
  for (std::size_t g = 0; g < groups; ++g) {
    Wide size = 0;
    if (kind == GroupKind::sizes) size = entries[g];
    if (kind == GroupKind::end_offsets) size = Wide{entries[g]} - (g == 0 ? 0 : entries[g - 1]);
    if (kind == GroupKind::offsets) size = Wide{entries[g + 1]} - entries[g];
    size = std::max<Wide>(size, 0);
    const Wide end = std::min<Wide>(at + size, extent);
    ranges.push_back({static_cast<offset_t>(at), static_cast<offset_t>(end)});
    at = end;
  }
  return ranges;
}

/// The first index of the ragged dimension that belongs to no group.
inline offset_t covered(const std::vector<Range>& ranges) {
  return ranges.empty() ? 0 : ranges.back().end;
}

/// The entries of a description of these sizes, of another kind. Sums must fit int64.
inline Sizes entries_of(const Sizes& sizes, GroupKind kind) {
  if (kind == GroupKind::sizes || kind == GroupKind::none) return sizes;
  Sizes entries;
  if (kind == GroupKind::offsets) entries.push_back(0);
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) entries.push_back(sum += size);
  return entries;
}

/// Sizes of a random flavour: exact cuts of the extent (empty groups among them), a sum below it,
/// a sum past it, negative and absurd entries, one giant, all empty, ones, alternating.
inline Sizes random_sizes(Random& random, offset_t groups, offset_t extent) {
  Sizes sizes(static_cast<std::size_t>(groups), 0);
  if (groups == 0) return sizes;
  const std::size_t last = sizes.size() - 1;
  const std::size_t some = static_cast<std::size_t>(random.between(0, groups - 1));
  const auto cut = [&](offset_t total) {
    std::vector<offset_t> cuts{0, total};
    for (std::size_t g = 0; g < last; ++g)
      cuts.push_back(random.one_in(4) ? cuts.back() : random.between(0, total));
    std::sort(cuts.begin(), cuts.end());
    for (std::size_t g = 0; g <= last; ++g) sizes[g] = cuts[g + 1] - cuts[g];
  };
  switch (random.between(0, 9)) {
    case 0:
    case 1: cut(extent); break;
    case 2: cut(random.between(0, extent)); break;
    case 3: cut(extent + random.between(1, extent + 5)); break;
    case 4:
      cut(extent);
      for (std::int64_t& size : sizes)
        if (random.one_in(3)) size = -random.between(0, 1000);
      break;
    case 5:
      for (std::int64_t& size : sizes) {
        const std::int64_t odd[] = {0,
                                    1,
                                    -1,
                                    extent,
                                    int64_max,
                                    int64_min,
                                    int64_max - 1,
                                    std::int64_t{1} << 40,
                                    2147483648,
                                    3};
        size = odd[random.between(0, 9)];
      }
      break;
    case 6: sizes[some] = extent; break;
    case 7: break;
    case 8: std::fill(sizes.begin(), sizes.end(), 1); break;
    default:
      for (std::size_t g = 0; g <= last; ++g) sizes[g] = g % 2 == 0 ? 1 : random.between(0, 40);
      break;
  }
  return sizes;
}

inline std::string text_of(const Sizes& sizes) {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes.size() && i < 48; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(sizes[i]);
  return text + (sizes.size() > 48 ? ", … " + std::to_string(sizes.size()) + " in all]" : "]");
}

}  // namespace support
