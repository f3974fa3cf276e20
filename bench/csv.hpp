// SPDX-License-Identifier: Apache-2.0
// Reads the bench's data files: plain CSV with a header line, no quoting.
// Columns are found by name, so that a file may gain some.
#pragma once

#include <string>
#include <vector>

namespace raggedgemm::bench {

/// A CSV file in memory.
struct Table {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;  ///< each as long as the header

  /// Index of a column, or -1.
  [[nodiscard]] int column(const std::string& name) const;
};

/// Reads a file. False, with one line in `error`, if it cannot be read or a row is too short.
bool read_csv(const std::string& path, Table& table, std::string& error);

/// Folder of the published data: $RAGGEDGEMM_BENCH_DATA, the source tree's bench/data, or
/// ./bench/data, the first that holds microbenchmark_mi300.csv.
std::string data_folder();

}  // namespace raggedgemm::bench
