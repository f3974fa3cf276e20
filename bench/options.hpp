// SPDX-License-Identifier: Apache-2.0
// Settings: what a run of raggedgemm_bench measures, and the command line it is read from.
// Flags that begin with --benchmark_ are kept for Google Benchmark.
#pragma once

#include <string>
#include <vector>

#include "backends/backend.hpp"
#include "group_sizes.hpp"
#include "shapes.hpp"

namespace raggedgemm::bench {

struct Settings {
  std::vector<OpClass> classes;
  std::vector<BackendId> backends;
  std::vector<Shape> shapes;
  std::vector<SizeSpec> sizes;
  DType dtype = DType::f32;
  std::uint64_t seed = 20240;
  int warmups = 10;
  int runs = 50;
  double case_seconds = 0;  ///< cut warm-ups and runs to about this time a case; 0: never
  index_t config_row = -1;
  std::string json_path;
  std::string csv_path;
  bool list = false;
  bool help = false;
  bool quick = false;
  std::string scaling;              ///< what was scaled, for people; "" if nothing
  std::vector<std::string> gbench;  ///< flags for Google Benchmark
};

/// Reads the command line (without the program's name). `gpu` chooses the defaults: the published
/// shapes in bf16 on a GPU, the same scaled down in f32 on a CPU.
/// False, with one line in `error`, if a flag is unknown or its value cannot be read.
bool parse_settings(const std::vector<std::string>& arguments,
                    bool gpu,
                    Settings& settings,
                    std::string& error);

/// Every flag, what it does and its default.
std::string help_text(bool gpu);

}  // namespace raggedgemm::bench
