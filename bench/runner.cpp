// SPDX-License-Identifier: Apache-2.0
// The order of things for one case: operands, plan, poison, one checked call, warm-ups, timed runs
// with the caches evicted before each. A wrong result is never timed.
#include "runner.hpp"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <set>

#include "text.hpp"

namespace raggedgemm::bench {

bool Runner::make_cases(std::string& error) {
  for (const Shape& shape : settings_.shapes) {
    for (const SizeSpec& spec : settings_.sizes) {
      std::vector<std::int32_t> sizes;
      if (!make_group_sizes(spec, shape.m, shape.g, settings_.seed, sizes, error)) return false;
      for (const OpClass op : settings_.classes) {
        Workload w;
        w.op = op;
        w.shape = shape;
        w.dtype = settings_.dtype;
        w.sizes_name = spec.name();
        w.sizes = sizes;
        w.seed = settings_.seed;
        w.complete();
        workloads_.push_back(std::move(w));
        for (const BackendId backend : settings_.backends)
          cases_.push_back({workloads_.size() - 1, backend});
      }
    }
  }
  return true;
}

std::string Runner::name(const Case& c) const {
  return workloads_[c.workload].name() + "/backend:" + name_of(c.backend);
}

std::vector<std::string> Runner::names() const {
  std::vector<std::string> list;
  for (const Case& c : cases_) list.push_back(name(c));
  return list;
}

void Runner::register_cases() {
  for (std::size_t i = 0; i < cases_.size(); ++i) {
    const std::string case_name = name(cases_[i]);
    benchmark::RegisterBenchmark(case_name.c_str(),
                                 [this, i, case_name](benchmark::State& state) {
                                   std::printf("[%*zu/%zu] %s ... ",
                                               cases_.size() > 99 ? 3 : 2,
                                               i + 1,
                                               cases_.size(),
                                               case_name.c_str());
                                   std::fflush(stdout);
                                   results_.push_back(measure(cases_[i]));
                                   const CaseResult& r = results_.back();
                                   if (!r.ok()) state.SkipWithError(result_line(r).c_str());
                                   // All runs of the case are one iteration: the mean is what
                                   // Google Benchmark reports.
                                   for (auto _ : state)
                                     state.SetIterationTime(1e-6 * r.timing.mean_us);
                                   if (!r.ok()) return;
                                   state.counters["median_us"] = r.timing.median_us;
                                   state.counters["runs"] = r.timing.runs;
                                   state.counters["tflops"] = r.tflops();
                                   state.counters["gbytes_per_s"] = r.gbytes_per_s();
                                   state.counters["fraction_of_floor"] = r.fraction_of_floor();
                                   state.counters["extra_bytes"] = r.prepared.extra_bytes;
                                 })
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
  }
}

namespace {

/// Ends the line that the case began.
class Progress final : public benchmark::BenchmarkReporter {
 public:
  explicit Progress(const std::vector<CaseResult>& results) : results_(results) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {
    for (; told_ < results_.size(); ++told_) {
      const CaseResult& r = results_[told_];
      std::string line = result_line(r);
      if (r.outcome == Outcome::not_available && !reasons_.insert(line).second) line = "n/a";
      std::printf("%s\n", line.c_str());
      std::fflush(stdout);
    }
  }

 private:
  std::set<std::string> reasons_;  // why something is not available, each told once
  const std::vector<CaseResult>& results_;
  std::size_t told_ = 0;
};

}  // namespace

std::size_t Runner::run(const Ceilings& ceilings) {
  ceilings_ = ceilings;
  evict_ = Evict::make();
  device::Stopwatch watch;
  for (int i = 0; i < 2; ++i) {  // the second is the one that counts
    watch.start(nullptr);
    static_cast<void>(evict_.run());
    watch.stop(nullptr);
    evict_seconds_ = 1e-6 * watch.microseconds();
  }
  Progress progress(results_);
  const std::size_t count = benchmark::RunSpecifiedBenchmarks(&progress);
  operands_.reset();
  return count;
}

bool Runner::use_workload(std::size_t index) {
  if (current_ == index) return operands_.has_value();
  current_ = index;
  operands_.reset();  // before the next ones are made
  Operands operands;
  if (!Operands::make(workloads_[index], operands)) return false;
  operands_ = std::move(operands);
  reference_ = Reference::make(workloads_[index]);
  return true;
}

CaseResult Runner::measure(const Case& c) {
  const Workload& w = workloads_[c.workload];
  CaseResult result;
  result.op = w.op;
  result.shape = w.shape;
  result.dtype = w.dtype;
  result.sizes_name = w.sizes_name;
  result.sum = w.sum;
  result.largest = w.largest;
  result.non_empty = w.non_empty;
  result.useful_flops = w.useful_flops();
  result.useful_bytes = w.useful_bytes();
  result.floor_us = ceilings_.floor_us(w);
  result.backend = c.backend;
  if (!use_workload(c.workload)) {
    result.outcome = Outcome::out_of_memory;
    result.prepared.note = "the operands do not fit";
    return result;
  }
  const std::unique_ptr<Backend> backend = make_backend(c.backend, settings_.config_row);
  result.prepared = backend->prepare(w, *operands_);
  if (result.prepared.state == Prepared::State::out_of_memory) {
    result.outcome = Outcome::out_of_memory;
    result.prepared.note = bytes_text(result.prepared.extra_bytes) + " more do not fit";
    return result;
  }
  if (result.prepared.state == Prepared::State::not_available) {
    result.outcome = Outcome::not_available;
    return result;
  }
  const auto fail = [&](const std::string& what) {
    result.outcome = Outcome::failed;
    result.prepared.note = what;
  };
  for (const Status& s :
       {Reference::poison(*operands_), backend->run(w, *operands_), device::synchronize()})
    if (!s.ok()) fail(s.message());
  if (!result.ok()) return result;
  if (const std::string wrong = reference_.compare(operands_->out.data()); !wrong.empty()) {
    fail(wrong);
    return result;
  }
  std::string error;
  const std::vector<double> times = time_runs(*backend, result.timing, error);
  if (times.empty()) fail(error);
  return result;
}

std::vector<double> Runner::time_runs(Backend& backend, Timing& timing, std::string& error) {
  const Workload& w = workloads_[current_];
  device::Stopwatch watch;
  std::vector<double> times;
  const auto timed = [&](bool cold) {
    if (cold) static_cast<void>(evict_.run());
    watch.start(nullptr);
    const Status status = backend.run(w, *operands_);
    watch.stop(nullptr);
    const double us = watch.microseconds();
    if (!status.ok()) error = status.message();
    times.push_back(us);
  };
  int warmups = settings_.warmups;
  int runs = settings_.runs;
  if (settings_.case_seconds > 0) {
    timed(true);
    const double call_seconds = 1e-6 * times.back();
    const double budget = settings_.case_seconds;
    const int least = call_seconds > 4 * budget ? 1 : 3;
    const double left = 0.9 * budget - call_seconds;
    warmups = std::clamp(static_cast<int>(0.1 * budget / call_seconds), 1, std::max(warmups, 1));
    runs = std::clamp(
        static_cast<int>(left / (call_seconds + evict_seconds_)), std::min(runs, least), runs);
  }
  while (static_cast<int>(times.size()) < warmups && error.empty()) timed(false);
  const int done = static_cast<int>(times.size());
  times.clear();
  for (int i = 0; i < runs && error.empty(); ++i) timed(true);
  if (const Status s = device::synchronize(); !s.ok() && error.empty()) error = s.message();
  if (!error.empty()) return {};
  timing = summarize(times, done);
  return times;
}

std::string result_line(const CaseResult& r) {
  switch (r.outcome) {
    case Outcome::ok: break;
    case Outcome::out_of_memory: return "OOM (" + r.prepared.note + ")";
    case Outcome::not_available: return "n/a: " + r.prepared.note;
    case Outcome::failed: return "FAIL: " + r.prepared.note;
  }
  return format("mean %.1f us, median %.1f us (%d runs), %.4g TFLOP/s, %.2f of the floor",
                r.timing.mean_us,
                r.timing.median_us,
                r.timing.runs,
                r.tflops(),
                r.fraction_of_floor());
}

}  // namespace raggedgemm::bench
