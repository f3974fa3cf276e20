// SPDX-License-Identifier: Apache-2.0
// Runs a described call as selection would, and with every kernel of this program that can run it.
#pragma once

#include <string>
#include <vector>

#include "raggedgemm/ragged_dot.hpp"
#include "support/device_array.hpp"
#include "support/workspace.hpp"

namespace support {

/// Resets `out` to `before`, runs `call`, and hands the output to `check(memory, name of the row)`;
/// once for the selected row, then for each row of the table. Returns how many rows could be
/// forced.
template <class Call, class O, class F>
int with_every_row(const Call& call,
                   raggedgemm::Options options,
                   DeviceArray<O>& out,
                   const std::vector<O>& before,
                   const F& check) {
  int rows_run = 0;
  for (raggedgemm::index_t row = -1; row < raggedgemm::config_rows; ++row) {
    options.config_row = row;
    out.set(before);
    const raggedgemm::Status status = run_with_workspace(call, options);
    // no_kernel: this binary holds no code of the row for the device.
    if (row >= 0 && (status.code() == raggedgemm::StatusCode::config_not_applicable ||
                     status.code() == raggedgemm::StatusCode::no_kernel))
      continue;
    const std::string name = row < 0 ? "selected row" : raggedgemm::config_row(row).name;
    INFO(name << ": " << status.message());
    REQUIRE(status.ok());
    REQUIRE(runtime::synchronize().ok());
    CHECK(out.guards_intact());
    check(out.get(), name);
    if (row >= 0) ++rows_run;
  }
  CHECK(rows_run > 0);
  return rows_run;
}

/// A value that every byte pattern of an unset output is unlikely to pass for: NaN, or −1.
template <class O>
std::vector<O> poisoned(std::size_t elems) {
  return std::vector<O>(elems, poison<O>());
}

}  // namespace support
