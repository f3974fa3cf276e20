// SPDX-License-Identifier: Apache-2.0
// Where accumulators wait in shared memory on their way to wide stores: a bijection that keeps both
// the store by fragments and the load by rows free of bank conflicts. Tested by enumeration.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {

/// A staging tile of f32, `rows` x 64 columns, in units of 16 bytes (16 units a row, 8 of which
/// span all banks). Lanes write it in 8-byte pairs, a phase of 16 lanes covering 4 rows x 2 units,
/// and read it back in units, a phase of 8 lanes covering every second unit of one row (16-bit
/// output: 8 columns a lane) or 8 neighbouring units (f32 output: 4 columns a lane).
///
/// The row's two low bits spread the rows of a write phase over the banks; the row's half flips the
/// unit's lowest bit, so that every second unit of a row covers odd and even ones.
template <index_t Rows>
struct StagingMap {
  static constexpr index_t rows = Rows;
  static constexpr index_t cols = 64;
  static constexpr index_t unit_elems = 4;
  static constexpr index_t units_per_row = cols / unit_elems;
  static constexpr index_t elems = rows * cols;

  static RG_HOST_DEVICE constexpr index_t unit(index_t row, index_t unit_of_row) {
    return row * units_per_row + (unit_of_row ^ (row % 4 * 2) ^ (unit_of_row / 8));
  }
  static RG_HOST_DEVICE constexpr index_t offset(index_t row, index_t col) {
    return unit(row, col / unit_elems) * unit_elems + col % unit_elems;
  }
};

}  // namespace raggedgemm
