// SPDX-License-Identifier: Apache-2.0
// Aligned copies: operands that a plan copies to 16-byte aligned lines in the workspace, so that
// matrix engines can take them; what they cost, and where they lie.
#pragma once

#include <cstdint>

#include "raggedgemm/problem/problem.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {

/// Which operands are copied.
struct AlignedCopies {
  bool a = false;
  bool b = false;
  bool gathers = false;  ///< the copy of A gathers it, so that the product need not
  [[nodiscard]] constexpr bool any() const noexcept { return a || b; }
};

namespace detail {

/// a·b of numbers that are not negative, or the largest number.
inline offset_t saturating_product(offset_t a, offset_t b) noexcept {
  constexpr offset_t largest = INT64_MAX;
  return b != 0 && a > largest / b ? largest : a * b;
}

/// An operand as lines along its contiguous dimension, in elements.
struct OperandLines {
  offset_t slabs = 0;
  offset_t lines = 0;
  offset_t length = 0;
  offset_t pitch = 0;           ///< of the copy: whole 16 bytes
  Strides from;                 ///< row: from line to line
  bool row_contiguous = false;  ///< lines are along the operand's rows, not its columns
  bool shared = false;          ///< one slab serves all

  [[nodiscard]] Strides copied() const noexcept {
    const offset_t slab = shared ? 0 : saturating_product(lines, pitch);
    return row_contiguous ? Strides{slab, 1, pitch} : Strides{slab, pitch, 1};
  }
  [[nodiscard]] std::int64_t bytes(DType dtype) const noexcept {
    return saturating_product(saturating_product(slabs, lines),
                              saturating_product(pitch, bytes_of(dtype)));
  }
};

inline OperandLines lines_of(
    const Strides& s, offset_t slabs, offset_t rows, offset_t cols, DType dtype) noexcept {
  OperandLines lines;
  lines.row_contiguous = s.col != 1;  // as layout_of() sees it
  lines.shared = s.slab == 0;
  lines.slabs = lines.shared ? 1 : slabs;
  lines.lines = lines.row_contiguous ? cols : rows;
  lines.length = lines.row_contiguous ? rows : cols;
  lines.pitch = round_up(lines.length, offset_t{16 / bytes_of(dtype)});
  lines.from = {s.slab, lines.row_contiguous ? s.col : s.row, 1};
  return lines;
}

/// `gathered`: as the index makes it, not as it lies.
inline OperandLines lines_of_a(const Problem& p, bool gathered) noexcept {
  const bool batch = p.variant == Variant::batch;
  const bool contracting = p.variant == Variant::contracting;
  const offset_t ragged = p.gathers && !gathered ? p.lhs_extent
                          : batch                ? p.slabs
                          : contracting          ? p.depth
                                                 : p.rows;
  OperandLines lines = lines_of(p.a,
                                batch ? ragged : 1,
                                batch || contracting ? p.rows : ragged,
                                contracting ? ragged : p.depth,
                                p.lhs_dtype);
  if (batch && gathered) {  // of a shared slab, too, some may be zeros
    lines.shared = false;
    lines.slabs = p.slabs;
  }
  return lines;
}

inline OperandLines lines_of_b(const Problem& p) noexcept {
  return lines_of(
      p.b, p.variant == Variant::contracting ? 1 : p.slabs, p.depth, p.cols, p.rhs_dtype);
}

/// The problem as its kernel sees it.
inline Problem with_copies(Problem p, const AlignedCopies& copies) noexcept {
  if (copies.a) {
    p.a = lines_of_a(p, copies.gathers).copied();
    p.a_alignment_bytes = 16;
    p.gathers = p.gathers && !copies.gathers;
  }
  if (copies.b) {
    p.b = lines_of_b(p).copied();
    p.b_alignment_bytes = 16;
  }
  return p;
}

/// Bytes of workspace that the copies take; a multiple of 16.
inline std::int64_t bytes_of_copies(const Problem& p, const AlignedCopies& copies) noexcept {
  const std::int64_t a = copies.a ? lines_of_a(p, copies.gathers).bytes(p.lhs_dtype) : 0;
  const std::int64_t b = copies.b ? lines_of_b(p).bytes(p.rhs_dtype) : 0;
  return a > INT64_MAX - b ? INT64_MAX : a + b;
}

inline CopyLines copy_of(const OperandLines& lines,
                         DType dtype,
                         const void* from,
                         unsigned char* to) noexcept {
  const offset_t elem = bytes_of(dtype);
  CopyLines copy;
  copy.from = from;
  copy.to = to;
  copy.slabs = lines.slabs;
  copy.lines = lines.lines;
  copy.line_bytes = lines.length * elem;
  copy.from_line = lines.from.row * elem;
  copy.from_slab = lines.from.slab * elem;
  copy.to_line = lines.pitch * elem;
  return copy;
}

}  // namespace detail

}  // namespace raggedgemm
