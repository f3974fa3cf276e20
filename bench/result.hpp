// SPDX-License-Identifier: Apache-2.0
// Result: what one case gave, and the figures that follow from it.
// The tables, the files and the progress line all read this.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.hpp"

namespace raggedgemm::bench {

struct Timing {
  int warmups = 0;
  int runs = 0;
  double mean_us = 0;
  double median_us = 0;
  double min_us = 0;
  double stddev_us = 0;
};

/// Figures of a list of run times; at least one.
Timing summarize(std::vector<double> microseconds, int warmups);

enum class Outcome { ok, out_of_memory, not_available, failed };

const char* name_of(Outcome outcome);  ///< "ok", "OOM", "n/a", "FAIL"

struct CaseResult {
  OpClass op = OpClass::fwd_wi;
  Shape shape;
  DType dtype = DType::f32;
  std::string sizes_name;
  offset_t sum = 0;
  offset_t largest = 0;
  offset_t non_empty = 0;
  double useful_flops = 0;
  double useful_bytes = 0;
  double floor_us = 0;
  BackendId backend = BackendId::native;
  Outcome outcome = Outcome::ok;
  Prepared prepared;  ///< note: what ran, or why nothing did
  Timing timing;

  [[nodiscard]] bool ok() const { return outcome == Outcome::ok; }
  /// By the mean, as the published table counts.
  [[nodiscard]] double tflops() const { return 1e-6 * useful_flops / timing.mean_us; }
  [[nodiscard]] double tflops_median() const { return 1e-6 * useful_flops / timing.median_us; }
  [[nodiscard]] double gbytes_per_s() const { return 1e-3 * useful_bytes / timing.median_us; }
  [[nodiscard]] double fraction_of_floor() const { return floor_us / timing.median_us; }
};

/// The result of another backend for the same workload, if it ran; else null.
const CaseResult* sibling(const std::vector<CaseResult>& results,
                          const CaseResult& of,
                          BackendId backend);

/// How many times faster native is than `other`, by the mean; 0 if one of them did not run.
double speedup(const std::vector<CaseResult>& results, const CaseResult& native, BackendId other);

}  // namespace raggedgemm::bench
