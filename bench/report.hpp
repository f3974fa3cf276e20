// SPDX-License-Identifier: Apache-2.0
// The final tables and the result files.
// One table laid out like the published Table 12, one with everything about each case.
#pragma once

#include <string>
#include <vector>

#include "floor.hpp"
#include "options.hpp"
#include "result.hpp"

namespace raggedgemm::bench {

/// Facts of the run that the files repeat.
struct RunFacts {
  std::string machine;
  std::string compiler;
  std::string blas;
  std::string cold;  ///< how operands were kept out of cache
};

/// Shapes by classes: useful TFLOP/s of each backend, speed-ups of native; on a GPU with the
/// published MI300 figures of the same shape, labelled as such.
void print_table(const std::vector<CaseResult>& results,
                 const std::vector<PublishedResult>& published);

/// One line a case: times, GB/s, fraction of the floor, config row, extra memory.
void print_details(const std::vector<CaseResult>& results);

/// False if the file cannot be written.
bool write_csv(const std::string& path, const std::vector<CaseResult>& results);
bool write_json(const std::string& path,
                const std::vector<CaseResult>& results,
                const Settings& settings,
                const Ceilings& ceilings,
                const RunFacts& facts);

}  // namespace raggedgemm::bench
