// SPDX-License-Identifier: Apache-2.0
// A product that gathers, scatters and scales by group, with hostile entries, and its exact result.
#pragma once

#include <cstdint>
#include <vector>

#include "raggedgemm/ragged_dot.hpp"
#include "support/device_array.hpp"

namespace support {

/// bf16 [40, depth] times ones [groups, depth, cols]: 21 rows in the first group, 12 in the last,
/// none between, 7 in none. Group factors of 2 and -1. Depth is a multiple of 16.
class IndexedCase {
 public:
  static constexpr int rows = 40;

  IndexedCase(int groups, int depth, int cols)
      : groups_(groups),
        depth_(depth),
        cols_(cols),
        to_(rows),
        from_(rows),
        sizes_(sizes_of(groups)),
        factors_(factors_of(groups)),
        rhs_(std::vector<raggedgemm::bf16>(static_cast<std::size_t>(groups) * depth * cols,
                                           raggedgemm::to_bf16(1))),
        out_(static_cast<std::size_t>(rows * cols)) {
    std::vector<raggedgemm::bf16> values;
    for (int i = 0; i < rows; ++i) {
      to_[static_cast<std::size_t>(i)] = i == 5 || i == 25 ? -1 : (i * 7) % rows;
      from_[static_cast<std::size_t>(i)] = i == 9 || i == 29 ? rows : (i * 11) % rows;
      for (int j = 0; j < depth; ++j)  // neither a row nor 16 steps of the depth are like others
        values.push_back(raggedgemm::to_bf16(
            static_cast<float>(i % 3 + 1 + (j / 16 == i % (depth / 16) ? 5 : 0))));
    }
    lhs_.set(values);
    out_index_.set(to_);
    lhs_index_.set(from_);
  }

  [[nodiscard]] raggedgemm::Options options(bool gathers) const {
    raggedgemm::Options options;
    options.out_index = out_index_.data();
    options.group_alpha = factors_.data();
    if (gathers) options.lhs_index = lhs_index_.data();
    return options;
  }
  [[nodiscard]] auto call(const raggedgemm::Options& options) const {
    return raggedgemm::describe(raggedgemm::view(lhs_.data(), rows, depth_),
                                raggedgemm::view(rhs_.data(), groups_, depth_, cols_),
                                raggedgemm::GroupSizes(sizes_.data(), groups_),
                                raggedgemm::view(out_.data(), rows, cols_),
                                options);
  }
  DeviceArray<float>& out() { return out_; }
  [[nodiscard]] std::vector<float> before() const { return std::vector<float>(out_.elems(), 9.0F); }

  /// How many elements differ from the product, where out was before() before. By value: -1 times
  /// the zeros of a gathered row is -0.
  [[nodiscard]] int wrong(const std::vector<float>& got, bool gathers) const {
    std::vector<float> want = before();
    for (int i = 0; i < rows; ++i) {
      const int at = to_[static_cast<std::size_t>(i)];
      if (at < 0) continue;
      const int source = gathers ? from_[static_cast<std::size_t>(i)] : i;
      const float scale = i < 21 ? 2.0F : i < 33 ? -1.0F : 0.0F;
      const float value = source < rows && scale != 0
                              ? scale * static_cast<float>(depth_ * (source % 3 + 1) + 16 * 5)
                              : 0.0F;
      for (int j = 0; j < cols_; ++j) want[static_cast<std::size_t>(at * cols_ + j)] = value;
    }
    int count = 0;
    for (std::size_t i = 0; i < want.size(); ++i) count += got[i] == want[i] ? 0 : 1;
    return count;
  }

 private:
  static std::vector<std::int32_t> sizes_of(int groups) {
    std::vector<std::int32_t> sizes(static_cast<std::size_t>(groups), 0);
    sizes.front() = 21;
    sizes.back() = 12;
    return sizes;
  }
  static std::vector<float> factors_of(int groups) {
    std::vector<float> factors(static_cast<std::size_t>(groups), 0.0F);
    factors.front() = 2.0F;
    factors.back() = -1.0F;
    return factors;
  }

  int groups_;
  int depth_;
  int cols_;
  std::vector<std::int32_t> to_, from_;
  DeviceArray<std::int32_t> sizes_;
  DeviceArray<float> factors_;
  DeviceArray<raggedgemm::bf16> rhs_;
  DeviceArray<float> out_;
  DeviceArray<raggedgemm::bf16> lhs_{static_cast<std::size_t>(rows * depth_)};
  DeviceArray<std::int32_t> out_index_{static_cast<std::size_t>(rows)};
  DeviceArray<std::int32_t> lhs_index_{static_cast<std::size_t>(rows)};
};

}  // namespace support
