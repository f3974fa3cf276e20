// SPDX-License-Identifier: Apache-2.0
// raggedgemm_bench: reads the flags, measures the ceilings, runs the cases, prints the tables.
// The same text is a CPU, a CUDA and a HIP program; see README.md in this folder.
#include <benchmark/benchmark.h>

#include <algorithm>

#include "backends/blas.hpp"
#include "machine.hpp"
#include "options.hpp"
#include "raggedgemm/dispatch/config_table.hpp"
#include "report.hpp"
#include "runner.hpp"
#include "text.hpp"

namespace raggedgemm::bench {
namespace {

constexpr int exit_wrong_result = 1;
constexpr int exit_usage = 2;

int usage_error(const std::string& error) {
  std::fprintf(stderr, "raggedgemm_bench: %s\n", error.c_str());
  return exit_usage;
}

void print_list(const Runner& runner) {
  std::printf("Cases:\n");
  for (const std::string& name : runner.names()) std::printf("  %s\n", name.c_str());
  std::printf("Config table (rows for --config-row on this platform):\n");
  for (index_t row = 0; row < config_rows; ++row)
    if (platform_of(config_row(row).arch) == device::platform)
      std::printf("  %d %s (%s, engine %s)\n",
                  row,
                  config_row(row).name,
                  raggedgemm::name_of(config_row(row).arch),
                  raggedgemm::name_of(config_row(row).config.engine));
  std::vector<Shape> shapes;
  std::vector<std::string> models;
  std::string error;
  static_cast<void>(read_model("", shapes, models, error));
  std::printf("Models:");
  for (const std::string& model : models) std::printf(" %s", model.c_str());
  std::printf("\n");
}

void print_head(const Settings& s, const RunFacts& facts, const Device& found) {
  std::printf("raggedgemm_bench %s, %s\n", version_string, raggedgemm::name_of(device::platform));
  std::printf("  machine   %s; %s\n", facts.machine.c_str(), found.name);
  std::printf("  compiler  %s\n", facts.compiler.c_str());
  std::printf("  library   %s\n", facts.blas.c_str());
  std::printf("  operands  %s, uniform in [-1, 1), seed %llu\n",
              raggedgemm::name_of(s.dtype),
              static_cast<unsigned long long>(s.seed));
  std::printf("  timing    %d warm-ups, %d runs", s.warmups, s.runs);
  if (s.case_seconds > 0)
    std::printf(
        "; fewer where a case would take over %g s (at least 3; 1 of a call of 4 times that)",
        s.case_seconds);
  std::printf("\n  cold      %s\n", facts.cold.c_str());
  std::printf(
      "  check     sampled rows of each result against f64 sums, before the clock starts\n");
  if (s.scaling.empty()) return;
  std::printf("  SCALED    %s:\n", s.scaling.c_str());
  for (const Shape& shape : s.shapes)
    std::printf("            %-20s from %s\n", shape.name().c_str(), shape.origin.c_str());
}

int run_bench(int argc, char** argv) {
  Settings settings;
  std::string error;
  if (!parse_settings({argv + 1, argv + argc}, on_gpu, settings, error)) return usage_error(error);
  if (settings.help) {
    std::printf("%s", help_text(on_gpu).c_str());
    return 0;
  }
  Runner runner(settings);
  if (!runner.make_cases(error)) return usage_error(error);
  if (settings.list) {
    print_list(runner);
    return 0;
  }
  std::vector<char*> gbench{argv[0]};
  for (std::string& flag : settings.gbench) gbench.push_back(flag.data());
  int gbench_count = static_cast<int>(gbench.size());
  gbench.push_back(nullptr);
  benchmark::Initialize(&gbench_count, gbench.data());
  if (gbench_count > 1)
    return usage_error(std::string("Google Benchmark does not know ") + gbench[1]);

  const Result<Device> found = device::device();
  if (!found.ok()) {
    std::fprintf(stderr, "raggedgemm_bench: %s\n", found.status().message().c_str());
    return exit_wrong_result;
  }
  RunFacts facts;
  facts.machine = machine_name();
  facts.compiler = compiler_name();
  facts.blas = blas_name();
  facts.cold = "caches evicted before each timed call by reading " +
               bytes_text(2.0 * static_cast<double>(last_level_cache_bytes())) +
               " (twice the last-level cache)";
  print_head(settings, facts, found.value());
  std::fflush(stdout);
  const Ceilings ceilings = measure_ceilings(settings.dtype);
  std::printf("  ceilings  %s\n", ceilings.text().c_str());
  std::printf("  floor     max(useful flops / R, bytes / W, output bytes / S)\n\n");

  runner.register_cases();
  if (runner.run(ceilings) == 0) return usage_error("no case matches --benchmark_filter");
  const std::vector<CaseResult>& results = runner.results();
  if (results.empty()) return 0;  // --benchmark_list_tests

  std::vector<PublishedResult> published;
  std::vector<Shape> shapes;
  static_cast<void>(read_published(published, shapes, error));
  print_details(results);
  print_table(results, published);
  if (!settings.csv_path.empty() && !write_csv(settings.csv_path, results))
    return usage_error("cannot write " + settings.csv_path);
  if (!settings.json_path.empty() &&
      !write_json(settings.json_path, results, settings, ceilings, facts))
    return usage_error("cannot write " + settings.json_path);

  const auto count = [&](Outcome outcome) {
    return std::count_if(
        results.begin(), results.end(), [&](const CaseResult& r) { return r.outcome == outcome; });
  };
  std::printf("\n%zu cases: %td ok, %td OOM, %td n/a, %td FAIL\n",
              results.size(),
              count(Outcome::ok),
              count(Outcome::out_of_memory),
              count(Outcome::not_available),
              count(Outcome::failed));
  return count(Outcome::failed) > 0 ? exit_wrong_result : 0;
}

}  // namespace
}  // namespace raggedgemm::bench

int main(int argc, char** argv) { return raggedgemm::bench::run_bench(argc, argv); }
