// SPDX-License-Identifier: Apache-2.0
// Where finished outputs wait in shared memory for the copy engine or for wide stores: rows of 128
// bytes whose 16-byte units are exchanged, as the copy engine's 128-byte swizzle has them.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {

/// A box of rows of 128 bytes; its address is a multiple of 1024.
///
/// Rows that are neighbours hold a unit in different banks, so the 8 rows x 16 bytes of one matrix
/// of a transposing store, and the 8 units of a row that lanes read back, meet every bank once.
/// Source: CUDA driver API, CU_TENSOR_MAP_SWIZZLE_128B: address bits 4-6 are exclusive-ored with
/// bits 7-9.
struct BoxMap {
  static constexpr index_t row_bytes = 128;
  static constexpr index_t unit_bytes = 16;
  static constexpr index_t units_per_row = row_bytes / unit_bytes;

  static RG_HOST_DEVICE constexpr index_t unit(index_t row, index_t unit_of_row) {
    return row * units_per_row + (unit_of_row ^ (row % units_per_row));
  }
  /// Byte offset of byte `byte` of a row.
  static RG_HOST_DEVICE constexpr index_t offset(index_t row, index_t byte) {
    return unit(row, byte / unit_bytes) * unit_bytes + byte % unit_bytes;
  }
};

}  // namespace raggedgemm
