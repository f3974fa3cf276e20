// SPDX-License-Identifier: Apache-2.0
// What the feeds of CDNA can address, as a host-checkable condition on a problem.
// Plain C++: selection asks it without a device and explain() prints the answer.
#pragma once

#include "raggedgemm/problem/problem.hpp"

namespace raggedgemm::detail {

/// Why a feed cannot load one operand, or nullptr if it can: lines of `contiguous` elements of
/// `elem_bytes`, `pitch` elements apart, of which a tile step touches at most 256.
///
/// Windows rely on it (arch/cdna/feed.hpp): what lies past the valid part of a line must be another
/// line or past the window's end, and offsets in a tile are 32-bit.
constexpr const char* why_not_window(offset_t contiguous, offset_t pitch, offset_t elem_bytes) {
  constexpr offset_t pitch_end_bytes = offset_t{1} << 22;  // 256 lines of 4 MiB: 2^30 bytes
  if (pitch < contiguous) return "needs rows that do not overlap (buffer windows)";
  if (pitch >= pitch_end_bytes / elem_bytes)
    return "needs a row pitch below 4 MiB (buffer windows)";
  if (pitch * elem_bytes % 16 != 0) return "needs a row pitch that is a multiple of 16 bytes";
  return nullptr;
}

/// Whether every instance leaves the operands' addresses multiples of 16 bytes.
constexpr bool instances_aligned(const Problem& p) {
  const offset_t a_granule = 16 / bytes_of(p.lhs_dtype);
  const offset_t b_granule = 16 / bytes_of(p.rhs_dtype);
  for (index_t i = 0; i < p.instances.rank; ++i)
    if (p.instances.stride[i].a % a_granule != 0 || p.instances.stride[i].b % b_granule != 0)
      return false;
  return true;
}

/// Why the CDNA feeds cannot load this problem's operands, or nullptr if they can.
constexpr const char* why_not_windows(const Problem& p) {
  if (p.segments.rank > 0) return "needs the depth in one piece";
  if (!instances_aligned(p)) return "needs outer strides that are multiples of 16 bytes";
  const bool a_depth = p.a.col == 1;
  const bool b_depth = layout_of(p) == Layout::nt || layout_of(p) == Layout::tt;
  const offset_t a_bytes = bytes_of(p.lhs_dtype);
  const offset_t b_bytes = bytes_of(p.rhs_dtype);
  const char* const reason = a_depth ? why_not_window(p.depth, p.a.row, a_bytes)
                                     : why_not_window(p.rows, p.a.col, a_bytes);
  if (reason != nullptr) return reason;
  return b_depth ? why_not_window(p.depth, p.b.col, b_bytes)
                 : why_not_window(p.cols, p.b.row, b_bytes);
}

}  // namespace raggedgemm::detail
