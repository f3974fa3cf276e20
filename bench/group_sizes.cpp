// SPDX-License-Identifier: Apache-2.0
// The distributions of group_sizes.hpp.
// Zipf has exponent 1 over 7/8 of the groups, in random order; the rest is empty.
#include "group_sizes.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>

#include "text.hpp"

namespace raggedgemm::bench {

std::string SizeSpec::name() const {
  switch (pattern) {
    case SizePattern::balanced: return "balanced";
    case SizePattern::last: return "last";
    case SizePattern::multinomial: return "multinomial";
    case SizePattern::zipf: return "zipf";
    case SizePattern::file: return "file:" + path;
  }
  return "unknown";
}

bool parse_sizes(const std::string& text, SizeSpec& spec, std::string& error) {
  if (text.rfind("file:", 0) == 0 && text.size() > 5) {
    spec = {SizePattern::file, text.substr(5)};
    return true;
  }
  for (const SizePattern pattern :
       {SizePattern::balanced, SizePattern::last, SizePattern::multinomial, SizePattern::zipf}) {
    spec = {pattern, ""};
    if (text == spec.name()) return true;
  }
  error = "sizes are balanced, last, multinomial, zipf or file:PATH; got '" + text + "'";
  return false;
}

namespace {

void deal_evenly(offset_t rows, bool remainder_last, std::vector<std::int32_t>& sizes) {
  const offset_t groups = static_cast<offset_t>(sizes.size());
  const offset_t share = rows / groups;
  const offset_t remainder = rows % groups;
  for (offset_t i = 0; i < groups; ++i)
    sizes[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(
        share + (remainder_last ? (i == groups - 1 ? remainder : 0) : (i < remainder ? 1 : 0)));
}

void deal_by_rank(offset_t rows, Random& random, std::vector<std::int32_t>& sizes) {
  const std::size_t groups = sizes.size();
  const std::size_t live = std::max<std::size_t>(1, groups - groups / 8);
  std::vector<std::size_t> order(groups);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = groups - 1; i > 0; --i)
    std::swap(order[i],
              order[static_cast<std::size_t>(random.below(static_cast<offset_t>(i) + 1))]);
  std::vector<double> cumulative(live);
  double sum = 0;
  for (std::size_t rank = 0; rank < live; ++rank)
    cumulative[rank] = sum += 1.0 / static_cast<double>(rank + 1);
  for (offset_t row = 0; row < rows; ++row) {
    const auto at = std::upper_bound(cumulative.begin(), cumulative.end(), random.unit() * sum);
    const std::size_t rank = std::min(static_cast<std::size_t>(at - cumulative.begin()), live - 1);
    ++sizes[order[rank]];
  }
}

bool read_sizes(const std::string& path,
                offset_t rows,
                std::vector<std::int32_t>& sizes,
                std::string& error) {
  std::ifstream file(path);
  if (!file) {
    error = "sizes file " + path + " cannot be read";
    return false;
  }
  std::vector<std::int32_t> read;
  std::string word;
  offset_t sum = 0;
  while (std::getline(file, word, ',')) {
    std::size_t begin = 0;
    for (;;) {
      begin = word.find_first_not_of(" \t\r\n", begin);
      if (begin == std::string::npos) break;
      const std::size_t end = std::min(word.find_first_of(" \t\r\n", begin), word.size());
      long long value = 0;
      const std::string number = word.substr(begin, end - begin);
      if (!parse_integer(number, value) || value < 0 || value > 0x7FFFFFFF) {
        error = "sizes file " + path + ": '" + number + "' is not a size from 0 to 2^31 - 1";
        return false;
      }
      sum += value;
      read.push_back(static_cast<std::int32_t>(value));
      begin = end;
    }
  }
  if (read.size() != sizes.size()) {
    error = format("sizes file %s has %zu sizes, the shape %zu groups",
                   path.c_str(),
                   read.size(),
                   sizes.size());
    return false;
  }
  if (sum > rows) {
    error = format("sizes file %s: the sizes add up to %lld, the shape has %lld rows",
                   path.c_str(),
                   static_cast<long long>(sum),
                   static_cast<long long>(rows));
    return false;
  }
  sizes = std::move(read);
  return true;
}

}  // namespace

bool make_group_sizes(const SizeSpec& spec,
                      offset_t rows,
                      offset_t groups,
                      std::uint64_t seed,
                      std::vector<std::int32_t>& sizes,
                      std::string& error) {
  sizes.assign(static_cast<std::size_t>(groups), 0);
  Random random(seed + static_cast<std::uint64_t>(rows) + 7 * static_cast<std::uint64_t>(groups));
  switch (spec.pattern) {
    case SizePattern::balanced: deal_evenly(rows, false, sizes); return true;
    case SizePattern::last: deal_evenly(rows, true, sizes); return true;
    case SizePattern::multinomial:
      for (offset_t row = 0; row < rows; ++row)
        ++sizes[static_cast<std::size_t>(random.below(groups))];
      return true;
    case SizePattern::zipf: deal_by_rank(rows, random, sizes); return true;
    case SizePattern::file: return read_sizes(spec.path, rows, sizes, error);
  }
  return false;
}

}  // namespace raggedgemm::bench
