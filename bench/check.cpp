// SPDX-License-Identifier: Apache-2.0
// Reference sums and their comparison.
// Inputs are functions of their index (workload.hpp), so nothing but the sampled output is copied.
#include "check.hpp"

#include <algorithm>
#include <cmath>

#include "dtypes.hpp"
#include "group_sizes.hpp"
#include "text.hpp"

namespace raggedgemm::bench {

namespace {

/// Distinct indices below `extent`: both ends and random ones, sorted.
std::vector<offset_t> sample(offset_t extent, offset_t count, Random& random) {
  std::vector<offset_t> picked;
  if (extent <= 0) return picked;
  picked = {0, extent - 1};
  while (static_cast<offset_t>(picked.size()) < count) picked.push_back(random.below(extent));
  std::sort(picked.begin(), picked.end());
  picked.erase(std::unique(picked.begin(), picked.end()), picked.end());
  return picked;
}

std::vector<offset_t> sampled_groups(const Workload& w, Random& random) {
  std::vector<offset_t> groups;
  const auto add = [&](offset_t group) {
    if (group >= 0 && std::find(groups.begin(), groups.end(), group) == groups.end())
      groups.push_back(group);
  };
  offset_t largest = -1;
  offset_t smallest = -1;
  offset_t empty = -1;
  for (offset_t g = 0; g < w.multiply.g; ++g) {
    const auto size = [&](offset_t group) { return w.sizes[static_cast<std::size_t>(group)]; };
    if (size(g) == 0) {
      empty = g;
      continue;
    }
    if (largest < 0 || size(g) > size(largest)) largest = g;
    if (smallest < 0 || size(g) < size(smallest)) smallest = g;
  }
  for (const offset_t group : {offset_t{0}, w.multiply.g - 1, largest, smallest, empty}) add(group);
  for (const offset_t group : sample(w.multiply.g, 8, random))
    if (groups.size() < 8) add(group);
  return groups;
}

struct ElementFacts {
  double unit;       // half an ulp of 1
  double subnormal;  // half the least subnormal; 0 where it is out of sight
};

ElementFacts facts_of(DType dtype) {
  if (dtype == DType::bf16) return {0x1p-8, 0};
  if (dtype == DType::f16) return {0x1p-11, 0x1p-25};
  return {0x1p-24, 0};
}

double value_at(DType dtype, const std::vector<char>& row, offset_t column) {
  return visit_dtype(dtype, [&](auto type) {
    using T = decltype(type);
    return static_cast<double>(Element<T>::widen(reinterpret_cast<const T*>(row.data())[column]));
  });
}

}  // namespace

void Reference::add_rows(const Workload& w, offset_t group) {
  const Multiply& m = w.multiply;
  Random random(w.seed + static_cast<std::uint64_t>(group));
  const offset_t begin = w.offsets[static_cast<std::size_t>(group)];
  const offset_t size = w.sizes[static_cast<std::size_t>(group)];
  const bool contracting = m.form == Form::tn;
  const offset_t depth = contracting ? size : m.c;
  const auto lhs = [&](offset_t row, offset_t column) {
    return random_element(w.dtype, w.seed, row * m.c + column);
  };
  const auto rhs = [&](offset_t i) { return random_element(w.dtype, w.seed + 1, i); };

  const std::vector<offset_t> picked = sample(contracting ? m.c : size, 3, random);
  const std::size_t first = rows_.size();
  std::vector<std::vector<double>> a;  // of each picked row, `depth` values
  for (const offset_t at : picked) {
    Row row;
    row.out_row = contracting ? group * m.c + at : begin + at;
    row.depth = depth;
    std::vector<double> values(static_cast<std::size_t>(depth));
    for (offset_t d = 0; d < depth; ++d)
      values[static_cast<std::size_t>(d)] = contracting ? lhs(begin + d, at) : lhs(begin + at, d);
    rows_.push_back(std::move(row));
    a.push_back(std::move(values));
  }
  std::vector<double> b(static_cast<std::size_t>(depth));
  for (const offset_t column : columns_) {
    for (offset_t d = 0; d < depth; ++d) {
      const offset_t at = contracting          ? (begin + d) * m.o + column
                          : m.form == Form::nn ? (group * m.c + d) * m.o + column
                                               : (group * m.o + column) * m.c + d;
      b[static_cast<std::size_t>(d)] = rhs(at);
    }
    for (std::size_t r = 0; r < a.size(); ++r) {
      double sum = 0;
      double absolute = 0;
      for (std::size_t d = 0; d < b.size(); ++d) {
        const double product = a[r][d] * b[d];
        sum += product;
        absolute += std::fabs(product);
      }
      rows_[first + r].value.push_back(sum);
      rows_[first + r].absolute.push_back(absolute);
    }
  }
}

Reference Reference::make(const Workload& w) {
  Reference reference;
  reference.dtype_ = w.dtype;
  reference.width_ = w.multiply.o;
  Random random(w.seed + 99);
  reference.columns_ = sample(w.multiply.o, 48, random);
  for (const offset_t group : sampled_groups(w, random)) reference.add_rows(w, group);
  if (w.multiply.form == Form::tn) return reference;
  for (const offset_t at : sample(w.multiply.m - w.sum, 3, random)) {
    Row tail;
    tail.out_row = w.sum + at;
    tail.value.assign(reference.columns_.size(), 0.0);
    tail.absolute = tail.value;
    reference.rows_.push_back(std::move(tail));
  }
  return reference;
}

Status Reference::poison(const Operands& operands) {
  return device::fill(operands.out.data(), 0xFF, static_cast<std::size_t>(operands.out.bytes()));
}

std::string Reference::compare(const void* out) const {
  const std::size_t row_bytes = static_cast<std::size_t>(width_ * bytes_of(dtype_));
  const ElementFacts facts = facts_of(dtype_);
  std::vector<char> row(row_bytes);
  for (const Row& expected : rows_) {
    const char* const from =
        static_cast<const char*>(out) + expected.out_row * static_cast<offset_t>(row_bytes);
    if (const Status s = device::copy_to_host(row.data(), from, row_bytes); !s.ok())
      return s.message();
    for (offset_t column = 0; column < width_; ++column) {
      const double got = value_at(dtype_, row, column);
      if (std::isfinite(got) && (expected.depth > 0 || got == 0)) continue;
      return format("row %lld column %lld is %g",
                    static_cast<long long>(expected.out_row),
                    static_cast<long long>(column),
                    got);
    }
    const double gamma = static_cast<double>(expected.depth + 2) * 0x1p-24;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const double got = value_at(dtype_, row, columns_[i]);
      const double sum_bound = gamma * expected.absolute[i];
      const double bound = sum_bound + facts.unit * (std::fabs(expected.value[i]) + sum_bound) +
                           (expected.depth > 0 ? facts.subnormal : 0);
      if (std::fabs(got - expected.value[i]) <= bound) continue;
      return format("row %lld column %lld is %.9g, must be %.9g ± %.2g",
                    static_cast<long long>(expected.out_row),
                    static_cast<long long>(columns_[i]),
                    got,
                    expected.value[i],
                    bound);
    }
  }
  return "";
}

}  // namespace raggedgemm::bench
