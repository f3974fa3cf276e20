// SPDX-License-Identifier: Apache-2.0
// The CSV reader and the search for the data folder.
// Lines end in LF or CRLF; blank lines are skipped.
#include "csv.hpp"

#include <cstdlib>
#include <fstream>

#include "text.hpp"

namespace raggedgemm::bench {

int Table::column(const std::string& name) const {
  for (std::size_t i = 0; i < header.size(); ++i)
    if (header[i] == name) return static_cast<int>(i);
  return -1;
}

bool read_csv(const std::string& path, Table& table, std::string& error) {
  std::ifstream file(path);
  if (!file) {
    error = path + " cannot be read; set RAGGEDGEMM_BENCH_DATA to the folder of the published CSVs";
    return false;
  }
  std::string line;
  int number = 0;
  while (std::getline(file, line)) {
    ++number;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    std::vector<std::string> cells = split(line, ',');
    if (table.header.empty()) {
      table.header = std::move(cells);
      continue;
    }
    if (cells.size() < table.header.size()) {
      error = format("%s:%d: %zu cells, the header has %zu",
                     path.c_str(),
                     number,
                     cells.size(),
                     table.header.size());
      return false;
    }
    table.rows.push_back(std::move(cells));
  }
  return true;
}

std::string data_folder() {
  std::vector<std::string> candidates;
  if (const char* folder = std::getenv("RAGGEDGEMM_BENCH_DATA")) candidates.emplace_back(folder);
#if defined(RAGGEDGEMM_BENCH_DATA_FOLDER)
  candidates.emplace_back(RAGGEDGEMM_BENCH_DATA_FOLDER);
#endif
  candidates.emplace_back("bench/data");
  for (const std::string& folder : candidates)
    if (std::ifstream(folder + "/microbenchmark_mi300.csv")) return folder;
  return candidates.front();
}

}  // namespace raggedgemm::bench
