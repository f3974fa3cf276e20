// SPDX-License-Identifier: Apache-2.0
// Problem: a ragged dot after canonicalisation, without pointers. Plans are made for one.
// validate() holds every check that the host can make; it touches no device.
#pragma once

#include <cstdint>

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/base/status.hpp"
#include "raggedgemm/problem/dtype.hpp"
#include "raggedgemm/problem/group_sizes.hpp"
#include "raggedgemm/problem/options.hpp"
#include "raggedgemm/problem/outer_dims.hpp"

namespace raggedgemm {

/// The three variants; the enumerator's comment gives the shapes.
enum class Variant : std::int32_t {
  non_contracting,  ///< lhs [M,K] · rhs [G,K,N] → out [M,N], rows ragged
  contracting,      ///< lhs [M,K], rhs [M,N] → out [G,K,N], reduction over M ragged
  batch,            ///< lhs [B,M,K] · rhs [B,K,N] → out [B,M,N], batches past the sum dead
};

inline constexpr std::int32_t variant_count = 3;

constexpr const char* name_of(Variant variant) noexcept {
  switch (variant) {
    case Variant::non_contracting: return "non_contracting";
    case Variant::contracting: return "contracting";
    case Variant::batch: return "batch";
  }
  return "unknown";
}

/// Element strides of one operand as a stack of matrices: `slab` steps from one group (or batch) to
/// the next and is 0 where the operand has no such dimension.
struct Strides {
  offset_t slab = 0;
  offset_t row = 0;
  offset_t col = 0;
};

/// A ragged dot in the terms of one output tile: D[rows, cols] = A[rows, depth] · B[depth, cols].
///
/// | variant         | rows | cols | depth | ragged       | slabs of |
/// |-----------------|------|------|-------|--------------|----------|
/// | non_contracting | M    | N    | K     | rows         | B        |
/// | contracting     | K    | N    | M     | depth        | D        |
/// | batch           | M    | N    | K     | slabs        | A, B, D  |
struct Problem {
  Variant variant = Variant::non_contracting;
  DType lhs_dtype = DType::f32;
  DType rhs_dtype = DType::f32;
  DType out_dtype = DType::f32;
  offset_t rows = 0;
  offset_t cols = 0;
  offset_t depth = 0;
  offset_t slabs = 0;        ///< G, or B for the batch variant
  offset_t group_count = 0;  ///< entries of the group description; G except in the batch variant
  GroupKind group_kind = GroupKind::none;
  OuterDims instances;                 ///< general calls: products with groups of their own
  OuterDims segments;                  ///< general calls: depth dimensions around the inner one
  Strides a;                           ///< row: along rows, col: along depth
  Strides b;                           ///< row: along depth, col: along cols
  Strides d;                           ///< row: along rows, col: along cols
  std::int32_t a_alignment_bytes = 1;  ///< what every pointer bound to the plan is aligned to
  std::int32_t b_alignment_bytes = 1;
  std::int32_t d_alignment_bytes = 1;
  bool allow_tf32 = false;  ///< f32 operands may be rounded to tf32
  double alpha = 1.0;
  double beta = 0.0;
  Tail tail = Tail::zero;
  bool has_c = false;  ///< beta scales a matrix of its own
  Strides c;
  bool has_group_alpha = false;
  bool gathers = false;       ///< lhs is read through an index
  offset_t lhs_extent = 0;    ///< what that index may hold: the ragged extent of lhs itself
  bool scatters = false;      ///< out is written through an index
  offset_t out_extent = 0;    ///< what that index may hold: the extent of out itself
  offset_t group_offset = 0;  ///< first group of the shard that rhs (or out) holds
  bool has_fault = false;     ///< the first fault of the groups is reported

  /// Multiply-adds times two over the ragged extent, as if no row were dead.
  [[nodiscard]] constexpr double flops() const noexcept {
    const double one =
        2.0 * static_cast<double>(rows) * static_cast<double>(cols) * static_cast<double>(depth);
    return variant == Variant::batch ? one * static_cast<double>(slabs) : one;
  }

  /// Rows (or depth) per group on average: the only thing that the host knows of the sizes.
  [[nodiscard]] constexpr offset_t mean_group_extent() const noexcept {
    const offset_t groups = slabs > 0 ? slabs : 1;
    if (variant == Variant::batch) return rows;
    return (variant == Variant::contracting ? depth : rows) / groups;
  }
};

/// Whether there is any output to write.
constexpr bool has_output(const Problem& p) noexcept {
  return p.rows > 0 && p.cols > 0 && p.instances.count() > 0 &&
         (p.variant == Variant::non_contracting || p.slabs > 0) &&
         (!p.scatters || p.out_extent > 0);
}

/// Which dimension of each operand is contiguous. The second letter speaks of rhs: N as written
/// (cols contiguous), T transposed (depth contiguous); the first of lhs: N depth, T rows
/// contiguous.
enum class Layout : std::int32_t { nn, nt, tn, tt, strided };

constexpr const char* name_of(Layout layout) noexcept {
  switch (layout) {
    case Layout::nn: return "nn";
    case Layout::nt: return "nt";
    case Layout::tn: return "tn";
    case Layout::tt: return "tt";
    case Layout::strided: return "strided";
  }
  return "unknown";
}

constexpr Layout layout_of(const Problem& p) noexcept {
  const bool a_depth = p.a.col == 1;
  const bool a_rows = p.a.row == 1;
  const bool b_cols = p.b.col == 1;
  const bool b_depth = p.b.row == 1;
  if (a_depth && b_cols) return Layout::nn;
  if (a_depth && b_depth) return Layout::nt;
  if (a_rows && b_cols) return Layout::tn;
  if (a_rows && b_depth) return Layout::tt;
  return Layout::strided;
}

/// Checks that need nothing but the problem itself.
/// Errors: negative_extent, extent_too_large, dimension_numbers, unsupported_option,
/// overlapping_output, group_offset_out_of_range.
inline Status validate(const Problem& p) noexcept {
  constexpr offset_t largest = offset_t{1} << 40;
  struct Extent {
    const char* name;
    offset_t value;
  };
  const bool contracting = p.variant == Variant::contracting;
  const Extent extents[] = {{contracting ? "k" : "m", p.rows},
                            {"n", p.cols},
                            {contracting ? "m" : "k", p.depth},
                            {p.variant == Variant::batch ? "b" : "g", p.slabs},
                            {"group_sizes", p.group_count},
                            {"lhs", p.lhs_extent},
                            {"out", p.out_extent}};
  for (const Extent& e : extents) {
    if (e.value < 0)
      return {StatusCode::negative_extent, e.name, e.value, 0, "an extent cannot be negative"};
    if (e.value > largest)
      return {StatusCode::extent_too_large, e.name, e.value, largest, "extents end at 2^40"};
  }
  for (const OuterDims* dims : {&p.instances, &p.segments}) {
    if (dims->rank < 0 || dims->rank > OuterDims::max_rank)
      return {StatusCode::dimension_numbers, "outer rank", dims->rank, OuterDims::max_rank};
    double count = 1;
    for (index_t i = 0; i < dims->rank; ++i) {
      const offset_t extent = dims->extent[i];
      if (extent < 0) return {StatusCode::negative_extent, "outer extent", extent, 0};
      count *= static_cast<double>(extent);
      if (extent > largest || count > 0x1p62)
        return {StatusCode::extent_too_large, "outer extent", extent, largest};
    }
  }
  // Tiles of one group are counted in 31 bits; the smallest tile is 16 x 32.
  const double tiles =
      (static_cast<double>(p.rows) / 16 + 1) * (static_cast<double>(p.cols) / 32 + 1);
  if (tiles > 2147483647.0)
    return {StatusCode::extent_too_large, "out", p.rows, 0, "one group has over 2^31 output tiles"};
  if (p.tail == Tail::compute && p.variant != Variant::batch)
    return {StatusCode::unsupported_option,
            "options.tail",
            static_cast<std::int64_t>(p.tail),
            static_cast<std::int64_t>(Tail::zero),
            "Tail::compute exists for the batch variant only"};
  // An output without elements has row-major strides of 0.
  const bool no_rows = p.scatters ? p.out_extent == 0 : p.rows == 0;
  if (no_rows || p.cols == 0 || p.instances.count() == 0) return {};
  const auto is_whole = [](double x) {
    return x >= -2147483648.0 && x <= 2147483647.0 &&
           x == static_cast<double>(static_cast<std::int32_t>(x));
  };
  if (is_integer(p.lhs_dtype) && is_integer(p.rhs_dtype) &&
      !(is_whole(p.alpha) && is_whole(p.beta)))
    return {StatusCode::unsupported_option,
            "options.alpha, options.beta",
            0,
            1,
            "integer accumulators take whole numbers only"};
  for (index_t i = 0; i < p.instances.rank; ++i)
    if (p.instances.extent[i] > 1 && p.instances.stride[i].d == 0)
      return {
          StatusCode::overlapping_output, "out.stride", 0, 1, "output elements must not overlap"};
  if (p.group_offset != 0 && p.variant == Variant::batch)
    return {StatusCode::unsupported_option,
            "options.group_offset",
            p.group_offset,
            0,
            "a batch has no shards of groups"};
  if (p.variant != Variant::batch &&
      (p.group_offset < 0 || p.slabs > p.group_count - p.group_offset))
    return {StatusCode::group_offset_out_of_range,
            "options.group_offset",
            p.group_offset,
            p.group_count - p.slabs,
            "the shard's groups must lie inside the group description"};
  const bool many_rows = (p.scatters ? p.out_extent : p.rows) > 1;
  const bool many_cols = p.cols > 1;
  if ((many_rows && p.d.row == 0) || (many_cols && p.d.col == 0))
    return {StatusCode::overlapping_output, "out.stride", 0, 1, "output elements must not overlap"};
  if (p.variant != Variant::non_contracting && p.slabs > 1 && p.d.slab == 0)
    return {StatusCode::overlapping_output, "out.stride", 0, 1, "output slabs must not overlap"};
  return {};
}

}  // namespace raggedgemm
