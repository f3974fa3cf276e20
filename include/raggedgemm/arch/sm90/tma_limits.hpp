// SPDX-License-Identifier: Apache-2.0
// What the tensor memory accelerator can address, as a host-checkable condition on a problem.
// Plain C++: selection asks it without a device and explain() prints the answer.
#pragma once

#include "raggedgemm/problem/problem.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm90 {

/// An operand as the copy engine sees it: `lines` runs of `contiguous` elements, `pitch` elements
/// apart, in `slabs` slabs. Slabs that all lie at one address count as one.
struct TmaOperand {
  offset_t contiguous = 0;
  offset_t lines = 0;
  offset_t pitch = 0;
  offset_t slabs = 1;
  offset_t slab_pitch = 0;
};

/// `mn_major`: rows (of A) or columns (of B) are the contiguous dimension, not depth.
constexpr TmaOperand tma_operand(const Strides& stride,
                                 bool is_a,
                                 bool mn_major,
                                 offset_t outer_extent,
                                 offset_t depth,
                                 offset_t slabs) {
  const offset_t outer_stride = is_a ? stride.row : stride.col;
  const offset_t depth_stride = is_a ? stride.col : stride.row;
  TmaOperand t;
  t.contiguous = mn_major ? outer_extent : depth;
  t.lines = mn_major ? depth : outer_extent;
  t.pitch = mn_major ? depth_stride : outer_stride;
  t.slabs = stride.slab == 0 ? 1 : slabs;
  t.slab_pitch = stride.slab;
  return t;
}

constexpr bool a_is_mn_major(Layout layout) { return layout == Layout::tn || layout == Layout::tt; }
constexpr bool b_is_mn_major(Layout layout) { return layout == Layout::nn || layout == Layout::tn; }

/// Why the copy engine cannot load an operand of `elem_bytes` an element, or nullptr if it can.
/// Source: cuTensorMapEncodeTiled's conditions; coordinates of a copy are 32-bit signed.
constexpr const char* why_not_tma(const TmaOperand& t, std::int32_t elem_bytes) {
  constexpr offset_t largest_extent = 0x7FFFFF00;  // a tile may reach past it by 255
  const offset_t pitch_end = (offset_t{1} << 40) / elem_bytes;
  const offset_t granule = 16 / elem_bytes;
  if (t.contiguous > largest_extent || t.lines > largest_extent || t.slabs > largest_extent)
    return "needs extents below 2^31 (TMA coordinates)";
  if (t.lines > 1 && t.pitch < t.contiguous) return "needs rows that do not overlap (TMA)";
  if (t.lines > 1 && (t.pitch >= pitch_end || t.pitch % granule != 0))
    return "needs a row pitch that is a multiple of 16 bytes and below 2^40 (TMA)";
  if (t.slabs > 1 && (t.slab_pitch < 0 || t.slab_pitch >= pitch_end || t.slab_pitch % granule != 0))
    return "needs a slab stride that is a multiple of 16 bytes and below 2^40 (TMA)";
  return nullptr;
}

/// Why the copy engine cannot store an output of `elem_bytes` a element at an address that is a
/// multiple of `alignment_bytes`, or nullptr if it can. Other outputs are stored by the lanes.
constexpr const char* why_not_tma_store(const Strides& stride,
                                        std::int32_t elem_bytes,
                                        std::int32_t alignment_bytes,
                                        offset_t rows,
                                        offset_t cols,
                                        offset_t slabs) {
  constexpr offset_t largest_extent = 0x7FFFFF00;
  const offset_t pitch_end = (offset_t{1} << 40) / elem_bytes;
  const offset_t granule = 16 / elem_bytes;
  if (elem_bytes != 2 && elem_bytes != 4) return "needs an output of 2 or 4 bytes an element (TMA)";
  if (alignment_bytes % 16 != 0) return "needs a 16-byte aligned output (TMA)";
  if (stride.col != 1) return "needs contiguous output columns (TMA)";
  if (rows > largest_extent || cols > largest_extent || slabs > largest_extent)
    return "needs extents below 2^31 (TMA coordinates)";
  if (rows > 1 && (stride.row < cols || stride.row >= pitch_end || stride.row % granule != 0))
    return "needs an output pitch that is a multiple of 16 bytes and below 2^40 (TMA)";
  if (slabs > 1 && stride.slab != 0 &&
      (stride.slab < 0 || stride.slab >= pitch_end || stride.slab % granule != 0))
    return "needs an output slab stride that is a multiple of 16 bytes and below 2^40 (TMA)";
  return nullptr;
}

/// Whether a product exists at all; where not, no operand is loaded and none needs a tensor map.
RG_HOST_DEVICE constexpr bool loads_operands(offset_t rows,
                                             offset_t cols,
                                             offset_t depth,
                                             offset_t slabs) {
  return rows > 0 && cols > 0 && depth > 0 && slabs > 0;
}

/// Whether groups, and tiles of at least 64 x 128, can be numbered below 2^31 (a block may number
/// some past the last), for extents that why_not_tma() lets pass.
constexpr bool numbers_tiles(const Problem& p) {
  const offset_t row_tiles = p.variant == Variant::non_contracting ? p.rows / 64 + p.group_count + 2
                                                                   : (p.rows / 64 + 1) * p.slabs;
  return p.group_count < 0x7FFF0000 && row_tiles <= 0x7FFFFFFF / (p.cols / 128 + 1);
}

/// Why the copy engine cannot feed this problem in this layout, or nullptr if it can.
constexpr const char* why_not_tma(const Problem& p, Layout layout) {
  if (!loads_operands(p.rows, p.cols, p.depth, p.slabs)) return nullptr;
  TmaOperand lhs = tma_operand(p.a, true, a_is_mn_major(layout), p.rows, p.depth, p.slabs);
  if (p.gathers) {  // lanes copy its lines
    if (p.variant == Variant::batch) return "does not gather slabs of lhs";
    if (bytes_of(p.lhs_dtype) > 2) return "does not gather lhs of more than 2 bytes an element";
    if (p.lhs_extent == 0) return "needs lines of lhs to gather";
    if (lhs.pitch * bytes_of(p.lhs_dtype) > 0x7FFFFFFF)
      return "needs a row pitch below 2^31 bytes to gather";
    lhs.lines = max_of(lhs.lines, p.lhs_extent);
  }
  const char* reason = why_not_tma(lhs, bytes_of(p.lhs_dtype));
  if (reason != nullptr) return reason;
  reason = why_not_tma(tma_operand(p.b, false, b_is_mn_major(layout), p.cols, p.depth, p.slabs),
                       bytes_of(p.rhs_dtype));
  if (reason != nullptr) return reason;
  return numbers_tiles(p) ? nullptr : "needs fewer than 2^31 tiles";
}

}  // namespace arch::sm90
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
