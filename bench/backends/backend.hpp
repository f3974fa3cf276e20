// SPDX-License-Identifier: Apache-2.0
// Backend: one way of computing a workload; prepared once, then run many times.
// native, loop, padded:max and padded:M; a new one is a class here and a line in make_backend().
#pragma once

#include <array>
#include <memory>
#include <string>

#include "workload.hpp"

namespace raggedgemm::bench {

enum class BackendId { native, loop, padded_max, padded_m };

inline constexpr std::array all_backends{
    BackendId::native, BackendId::loop, BackendId::padded_max, BackendId::padded_m};

const char* name_of(BackendId id);
bool parse_backend(const std::string& name, BackendId& id);

/// What came of preparing a backend for a workload.
struct Prepared {
  enum class State {
    ready,
    out_of_memory,
    not_available,  ///< `note` says why
  };
  State state = State::ready;
  std::string note;        ///< ready: what runs, for people
  std::string engine;      ///< of the config row; "" for a library
  index_t row = -1;        ///< of the config table
  double extra_bytes = 0;  ///< device memory beyond the operands
};

class Backend {
 public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  /// Plans and allocates. Nothing is timed.
  virtual Prepared prepare(const Workload& workload, const Operands& operands) = 0;

  /// Enqueues the whole product on the default stream, so that all of `out` is as a ragged dot
  /// defines it: empty slabs and rows in no group are zero. Requires: prepare() was ready.
  virtual Status run(const Workload& workload, const Operands& operands) = 0;
};

/// `config_row` forces a row of the config table in native; -1 leaves it to selection.
std::unique_ptr<Backend> make_backend(BackendId id, index_t config_row);

std::unique_ptr<Backend> make_native(index_t config_row);
std::unique_ptr<Backend> make_loop();
/// Capacity of a group: its largest group, or all M rows.
std::unique_ptr<Backend> make_padded(bool capacity_is_m);

}  // namespace raggedgemm::bench
