// SPDX-License-Identifier: Apache-2.0
// Runner: checks and times the cases, each one a Google Benchmark with manual time.
// Operands are made once for a workload and shared by its backends, which follow one another.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "check.hpp"
#include "evict.hpp"
#include "floor.hpp"
#include "options.hpp"
#include "result.hpp"

namespace raggedgemm::bench {

class Runner {
 public:
  explicit Runner(const Settings& settings) : settings_(settings) {}

  /// Makes the list of cases. False, with one line in `error`, if group sizes cannot be made.
  bool make_cases(std::string& error);

  [[nodiscard]] std::vector<std::string> names() const;

  /// Registers every case with Google Benchmark; `this` must outlive its runs.
  void register_cases();

  /// Runs what --benchmark_filter selects, with a line of progress each. Returns the count.
  std::size_t run(const Ceilings& ceilings);

  [[nodiscard]] const std::vector<CaseResult>& results() const { return results_; }
  [[nodiscard]] std::int64_t evicted_bytes() const { return evict_.bytes(); }

 private:
  struct Case {
    std::size_t workload = 0;
    BackendId backend = BackendId::native;
  };

  [[nodiscard]] std::string name(const Case& c) const;
  /// Checks and times; what goes wrong is in the result.
  CaseResult measure(const Case& c);
  bool use_workload(std::size_t index);
  /// Times of the runs, in microseconds; empty with `error` if a call fails.
  std::vector<double> time_runs(Backend& backend, Timing& timing, std::string& error);

  Settings settings_;
  std::vector<Workload> workloads_;
  std::vector<Case> cases_;
  Ceilings ceilings_;
  Evict evict_;
  double evict_seconds_ = 0;
  std::size_t current_ = static_cast<std::size_t>(-1);  // workload that the operands belong to
  std::optional<Operands> operands_;                    // empty: they do not fit
  Reference reference_;
  std::vector<CaseResult> results_;
};

/// "mean 105.1 us, median 104.8 us, 0.2 TFLOP/s, …" or "OOM", "n/a: why", "FAIL: what".
std::string result_line(const CaseResult& result);

}  // namespace raggedgemm::bench
