// SPDX-License-Identifier: Apache-2.0
// SharedImage: how an operand tile lies in shared memory so that no instruction that touches it has
// bank conflicts. Constexpr; the host tests enumerate every access.
#pragma once

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm80 {

/// `Lines` lines of `Chunks` 16-byte chunks of eight 16-bit elements. A line is what is contiguous
/// in memory: the depth of one row of A (column of B), or one depth index of all of them. Chunk c
/// of line l lies at position c ^ twist(l) of its line.
template <index_t Lines, index_t Chunks>
struct SharedImage {
  static constexpr index_t lines = Lines;
  static constexpr index_t chunks = Chunks;
  static constexpr index_t chunk_elems = 8;
  static constexpr index_t chunk_bytes = 16;
  static constexpr index_t line_bytes = Chunks * chunk_bytes;
  static constexpr index_t bytes = Lines * line_bytes;
  static_assert(Chunks == 2 || Chunks == 4 || Chunks % 8 == 0,
                "a line of the shared image must be 32 or 64 bytes or a multiple of 128");

  /// Eight neighbouring lines hold a chunk in eight different groups of four banks; of lines of 32
  /// or 64 bytes, four or two share all banks.
  static RG_HOST_DEVICE constexpr index_t twist(index_t line) {
    return Chunks == 2 ? line / 4 % 2 : Chunks == 4 ? line / 2 % 4 : line % 8;
  }
  static RG_HOST_DEVICE constexpr index_t offset_bytes(index_t line, index_t chunk) {
    return line * line_bytes + (chunk ^ twist(line)) * chunk_bytes;
  }
};

/// A piece of an accumulator on its way out, in floats: 16 rows of 32 columns. Rows lie 40 floats
/// apart, so that the 16 lanes that write pairs together, of 4 rows, meet every bank once; lanes
/// read it in chunks of 4, a row after the other.
struct StagingPiece {
  static constexpr index_t rows = 16;
  static constexpr index_t cols = 32;
  static constexpr index_t pitch = 40;
  static constexpr index_t elems = rows * pitch;
  static constexpr index_t width = 4;  ///< of a chunk
  static constexpr index_t chunks = rows * cols / width;

  static RG_HOST_DEVICE constexpr index_t offset(index_t row, index_t col) {
    return row * pitch + col;
  }
  static RG_HOST_DEVICE constexpr index_t row(index_t chunk) { return chunk / (cols / width); }
  static RG_HOST_DEVICE constexpr index_t col(index_t chunk) {
    return chunk % (cols / width) * width;
  }
};

}  // namespace arch::sm80
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
