// SPDX-License-Identifier: Apache-2.0
// The check before the clock: sampled rows of the result against sums in f64, over poisoned output.
// Made once for a workload, used for every backend.
#pragma once

#include "workload.hpp"

namespace raggedgemm::bench {

/// The f64 reference of sampled rows.
///
/// Sampled are up to 8 groups: the first, the last, the largest and the smallest that is not empty,
/// an empty one, and others; of each up to 3 rows of output; rows past the sum, too. Of a sampled
/// row all elements must be finite, and up to 48 are compared.
class Reference {
 public:
  static Reference make(const Workload& workload);

  /// Empty if `out` (device memory) agrees, else what differs first.
  ///
  /// Bound: |out − ref| ≤ γ·Σ|a·b| + u·|ref|, γ = (depth + 2)·2^-24 for f32 sums in any order,
  /// u the rounding unit of the output type (plus half its least subnormal for f16).
  [[nodiscard]] std::string compare(const void* out) const;

  /// Fills the output with NaN, so that what is never written fails the check.
  static Status poison(const Operands& operands);

  [[nodiscard]] std::size_t sampled_rows() const { return rows_.size(); }

 private:
  struct Row {
    offset_t out_row = 0;          // of the output as a matrix of width `o`
    offset_t depth = 0;            // terms of each sum; 0: the row must be zero
    std::vector<double> value;     // at columns_
    std::vector<double> absolute;  // Σ|a·b|
  };

  void add_rows(const Workload& workload, offset_t group);

  DType dtype_ = DType::f32;
  offset_t width_ = 0;             // elements of an output row
  std::vector<offset_t> columns_;  // compared columns, the same in every row
  std::vector<Row> rows_;
};

}  // namespace raggedgemm::bench
