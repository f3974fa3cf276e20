// SPDX-License-Identifier: Apache-2.0
// canonicalise: from dimension numbers to a Problem, by strides alone. Dimensions that lie side by
// side in memory are merged; what is left over becomes outer dimensions that a kernel walks.
#pragma once

#include "raggedgemm/base/status.hpp"
#include "raggedgemm/problem/dim_group.hpp"
#include "raggedgemm/problem/dimension_numbers.hpp"
#include "raggedgemm/problem/dot_dims.hpp"
#include "raggedgemm/problem/problem.hpp"

namespace raggedgemm {

/// A general ragged dot as a Problem, with the twelve shape conditions checked in the order of
/// their Status codes.
///
/// options.lhs_index gathers lhs along its ragged dimension, whose extent is then free;
/// options.out_index scatters the rows of the tile: the ragged dimension in the non-contracting
/// variant, else the one lhs dimension that neither contracts nor is a batch. Both are the same for
/// every index of all other dimensions.
///
/// Requires nothing of its arguments; errors: the shape conditions, negative_extent,
/// extent_too_large, extent_mismatch (the output, options.ragged_extent), unsupported_option (more
/// than OuterDims::max_rank dimensions that cannot be merged; a scatter without its one dimension).
inline Result<Problem> canonicalise(const Tensor& given_lhs,
                                    const Tensor& rhs,
                                    const GroupTensor& groups,
                                    const MutableTensor& out,
                                    const DimensionNumbers& dims,
                                    const Options& options = {}) noexcept {
  using detail::DimGroup;
  const bool shard = options.group_offset >= 0;
  const bool gathers = options.lhs_index != nullptr;
  const bool scatters = options.out_index != nullptr;
  Tensor lhs = given_lhs;  // with the ragged extent of the product
  // The conditions that are JAX's own, in its order.
  if (dims.lhs_ragged.count != 1)
    return Status{StatusCode::ragged_dim_count,
                  "lhs_ragged",
                  dims.lhs_ragged.count,
                  1,
                  "exactly one lhs dimension is ragged"};
  for (const index_t rank : {lhs.rank, rhs.rank, out.rank})
    if (rank < 0 || rank > max_rank)
      return Status{StatusCode::dimension_numbers, "rank", rank, max_rank, "ranks end at 8"};
  for (const Status& status : {detail::check_extents("lhs extent", lhs),
                               detail::check_extents("rhs extent", rhs),
                               detail::check_extents("out extent", out)})
    if (!status.ok()) return status;
  const index_t ragged = dims.lhs_ragged[0];
  if (ragged < 0 || ragged >= lhs.rank)
    return Status{StatusCode::ragged_dim_out_of_range,
                  "lhs_ragged",
                  ragged,
                  lhs.rank - 1,
                  "the ragged dimension must be one of lhs's"};
  const Variant variant = detail::variant_of(dims);
  if (gathers) {
    lhs.extent[ragged] = detail::gathered_extent(given_lhs, rhs, out, dims, options);
    if (const Status status = detail::check_extents("options.ragged_extent", lhs); !status.ok())
      return status;
  }
  if (options.ragged_extent >= 0 && options.ragged_extent != lhs.extent[ragged])
    return Status{StatusCode::extent_mismatch,
                  "options.ragged_extent",
                  options.ragged_extent,
                  lhs.extent[ragged],
                  "must be the product's extent"};
  const bool no_groups = groups.groups.kind == GroupKind::none && variant == Variant::batch;

  // The prefix: extents and positions, in the order in which the description has them.
  DimList prefix;  // lhs dimensions
  const auto prepend = [&prefix](index_t dim) {
    if (prefix.count < max_rank) prefix.dim[prefix.count++] = dim;
  };
  if (variant == Variant::batch) {
    for (index_t i = 0; i < dims.lhs_batch.count && dims.lhs_batch[i] != ragged; ++i)
      prepend(dims.lhs_batch[i]);
  } else {
    for (index_t i = 0; i < min_of(dims.lhs_batch.count, max_rank); ++i) prepend(dims.lhs_batch[i]);
    if (variant == Variant::contracting) {
      for (index_t i = 0; i < dims.lhs_contracting.count && dims.lhs_contracting[i] != ragged; ++i)
        prepend(dims.lhs_contracting[i]);
    } else {
      for (index_t d = 0; d < ragged; ++d)
        if (!dims.lhs_batch.holds(d) && !dims.lhs_contracting.holds(d)) prepend(d);
    }
  }
  if (!no_groups) {
    if (groups.rank == 0)
      return Status{StatusCode::group_sizes_rank_zero, "group_sizes", 0, 1, "rank must be >= 1"};
    if (groups.rank != 1 && groups.rank != prefix.count + 1)
      return Status{StatusCode::group_sizes_shape,
                    "group_sizes rank",
                    groups.rank,
                    prefix.count + 1,
                    "the shape must be [g] or [prefix…, g]"};
    if (groups.rank > 1)
      for (index_t i = 0; i < prefix.count; ++i)
        if (prefix[i] < 0 || prefix[i] >= lhs.rank || groups.extent[i] != lhs.extent[prefix[i]])
          return Status{StatusCode::group_sizes_shape,
                        "group_sizes extent",
                        groups.extent[i],
                        prefix[i] >= 0 && prefix[i] < lhs.rank ? lhs.extent[prefix[i]] : 0,
                        "a prefix extent must be that of its lhs dimension"};
    if (groups.group_count() < 0)
      return Status{StatusCode::group_count_unknown,
                    "group_sizes",
                    groups.group_count(),
                    0,
                    "the number of groups must be known"};
  }
  const offset_t group_count = no_groups ? 0 : groups.group_count();
  if (variant != Variant::non_contracting) {
    if (dims.rhs_group.count != 0)
      return Status{StatusCode::group_dim_not_allowed,
                    "rhs_group",
                    dims.rhs_group.count,
                    0,
                    "rhs has a group dimension only when a non-contracting dimension is ragged"};
  } else {
    if (dims.rhs_group.count != 1)
      return Status{StatusCode::group_dim_count,
                    "rhs_group",
                    dims.rhs_group.count,
                    1,
                    "rhs needs exactly one group dimension"};
    const index_t group = dims.rhs_group[0];
    if (dims.rhs_batch.holds(group) || dims.rhs_contracting.holds(group))
      return Status{StatusCode::group_dim_not_distinct,
                    "rhs_group",
                    group,
                    0,
                    "the group dimension cannot be a batch or contracting dimension"};
    if (group < 0 || group >= rhs.rank)
      return Status{
          StatusCode::dimension_numbers, "rhs_group", group, rhs.rank - 1, "out of range"};
    if (shard && rhs.extent[group] > group_count - options.group_offset)
      return Status{StatusCode::group_offset_out_of_range,
                    "options.group_offset",
                    options.group_offset,
                    group_count - rhs.extent[group],
                    "the shard's groups must lie inside the group description"};
    if (!shard && rhs.extent[group] != group_count)
      return Status{StatusCode::group_dim_extent,
                    "rhs group extent",
                    rhs.extent[group],
                    group_count,
                    "must be the number of groups"};
  }
  if (const Status status = detail::check_dot_dims(lhs, rhs, dims); !status.ok()) return status;

  // Result dimensions, walked in their order to find the output's extents and strides.
  index_t out_dim = 0;
  Status out_status;
  struct OutStrides {
    offset_t d;
    offset_t c;
  };
  const bool has_c = options.c.data != nullptr;
  const auto next_out = [&](offset_t needed, bool scattered = false) -> OutStrides {
    if (out_dim >= out.rank) {
      ++out_dim;
      return {0, 0};
    }
    if (out_status.ok() && out.extent[out_dim] != needed && !scattered)
      out_status = {StatusCode::extent_mismatch,
                    "out",
                    out.extent[out_dim],
                    needed,
                    "an output extent differs from its operand's"};
    const OutStrides strides{out.stride[out_dim],
                             has_c ? options.c.stride[out_dim] : out.stride[out_dim]};
    ++out_dim;
    return strides;
  };
  // Group stride of a prefix dimension: row-major over [prefix…, g].
  const auto group_stride = [&](index_t lhs_dim) -> offset_t {
    const index_t at = prefix.position(lhs_dim);
    if (no_groups || groups.rank == 1 || at < 0) return 0;
    offset_t step = 1;
    for (index_t i = groups.rank - 1; i > at; --i) step *= groups.extent[i];
    return step;
  };

  Problem p;
  p.variant = variant;
  p.lhs_dtype = lhs.dtype;
  p.rhs_dtype = rhs.dtype;
  p.out_dtype = out.dtype;
  p.group_kind = no_groups ? GroupKind::none : groups.groups.kind;
  p.group_count = group_count;
  p.lhs_extent = given_lhs.extent[ragged];

  if (variant == Variant::contracting) {
    p.slabs = group_count;
    if (shard && out.rank > 0) p.slabs = out.extent[0];
    const OutStrides slab = next_out(p.slabs);
    p.d.slab = slab.d;
    p.c.slab = slab.c;
  }
  bool fits = true;
  for (index_t i = 0; i < dims.lhs_batch.count; ++i) {
    const index_t dim = dims.lhs_batch[i];
    const OutStrides to = next_out(lhs.extent[dim]);
    const OuterOffsets strides{
        lhs.stride[dim], rhs.stride[dims.rhs_batch[i]], to.d, to.c, group_stride(dim)};
    if (variant == Variant::batch && dim == ragged) {
      p.slabs = lhs.extent[dim];
      p.a.slab = strides.a;
      p.b.slab = strides.b;
      p.d.slab = strides.d;
      p.c.slab = strides.c;
    } else {
      fits = p.instances.append(lhs.extent[dim], strides) && fits;
    }
  }

  // A scatter goes along one dimension, which keeps its own strides even if its extent is 1.
  const index_t row_dims = detail::free_position(dims, lhs.rank);
  const bool one_row_dim = scatters && variant != Variant::non_contracting;
  if (one_row_dim && row_dims != 1)
    return Status{StatusCode::unsupported_option,
                  "options.out_index",
                  row_dims,
                  1,
                  "a scatter needs one lhs dimension that neither contracts nor is a batch"};
  DimGroup rows;
  for (index_t dim = 0; dim < lhs.rank; ++dim) {
    if (dims.lhs_batch.holds(dim) || dims.lhs_contracting.holds(dim)) continue;
    const bool is_rows = variant == Variant::non_contracting ? dim == ragged : one_row_dim;
    if (is_rows && out_dim < out.rank) p.out_extent = out.extent[out_dim];
    const OutStrides to = next_out(lhs.extent[dim], is_rows && scatters);
    const OuterOffsets strides{lhs.stride[dim], 0, to.d, to.c, group_stride(dim)};
    if (is_rows) {
      p.rows = lhs.extent[dim];
      p.a.row = strides.a;
      p.d.row = strides.d;
      p.c.row = strides.c;
    } else if (variant == Variant::non_contracting) {
      fits = p.instances.append(lhs.extent[dim], strides) && fits;
    } else {
      rows.append(lhs.extent[dim], strides);
    }
  }
  OuterOffsets main;
  if (variant != Variant::non_contracting && !one_row_dim) {
    fits = rows.split(p.rows, main, p.instances) && fits;
    p.a.row = main.a;
    p.d.row = main.d;
    p.c.row = main.c;
  }

  DimGroup cols;
  for (index_t dim = 0; dim < rhs.rank; ++dim) {
    if (dims.rhs_batch.holds(dim) || dims.rhs_contracting.holds(dim)) continue;
    if (dims.rhs_group.holds(dim)) {
      p.slabs = rhs.extent[dim];
      p.b.slab = rhs.stride[dim];
      continue;
    }
    const OutStrides to = next_out(rhs.extent[dim]);
    cols.append(rhs.extent[dim], {0, rhs.stride[dim], to.d, to.c, 0});
  }
  fits = cols.split(p.cols, main, p.instances) && fits;
  p.b.col = main.b;
  p.d.col = main.d;
  p.c.col = main.c;

  DimGroup depth;
  for (index_t i = 0; i < dims.lhs_contracting.count; ++i) {
    const index_t dim = dims.lhs_contracting[i];
    const OuterOffsets strides{
        lhs.stride[dim], rhs.stride[dims.rhs_contracting[i]], 0, 0, group_stride(dim)};
    if (variant == Variant::contracting && dim == ragged) {
      p.depth = lhs.extent[dim];
      p.a.col = strides.a;
      p.b.row = strides.b;
    } else if (variant == Variant::contracting) {
      fits = p.segments.append(lhs.extent[dim], strides) && fits;
    } else {
      depth.append(lhs.extent[dim], strides);
    }
  }
  if (variant != Variant::contracting) {
    fits = depth.split(p.depth, main, p.segments) && fits;
    p.a.col = main.a;
    p.b.row = main.b;
    if (p.segments.count() == 0) p.depth = 0;
  }

  if (has_c) {
    if (options.c.dtype != out.dtype || options.c.rank != out.rank)
      return Status{StatusCode::extent_mismatch,
                    "options.c rank",
                    options.c.rank,
                    out.rank,
                    "c needs the output's dtype and rank"};
    for (index_t i = 0; i < out.rank; ++i)
      if (options.c.extent[i] != out.extent[i])
        return Status{StatusCode::extent_mismatch,
                      "options.c extent",
                      options.c.extent[i],
                      out.extent[i],
                      "c needs the output's extents"};
  }
  if (out_dim != out.rank)
    return Status{StatusCode::extent_mismatch, "out rank", out.rank, out_dim, "rank of the result"};
  if (!out_status.ok()) return out_status;
  if (!fits)
    return Status{StatusCode::unsupported_option,
                  "dimension numbers",
                  OuterDims::max_rank + 1,
                  OuterDims::max_rank,
                  "too many dimensions that do not lie side by side in memory"};
  return p;
}

}  // namespace raggedgemm
