// SPDX-License-Identifier: Apache-2.0
// What dimension numbers must fulfil as those of an ordinary dot_general, the variant they mean,
// and where a dimension of lhs is found in the other operands.
#pragma once

#include "raggedgemm/base/status.hpp"
#include "raggedgemm/problem/dimension_numbers.hpp"
#include "raggedgemm/problem/options.hpp"
#include "raggedgemm/problem/problem.hpp"
#include "raggedgemm/problem/tensor.hpp"

namespace raggedgemm::detail {

inline Status check_dim_list(const char* name, const DimList& dims, index_t rank) {
  if (dims.count > max_rank)
    return {StatusCode::dimension_numbers, name, dims.count, max_rank, "too many dimensions"};
  for (index_t i = 0; i < dims.count; ++i) {
    if (dims[i] < 0 || dims[i] >= rank)
      return {StatusCode::dimension_numbers, name, dims[i], rank - 1, "dimension out of range"};
    if (dims.position(dims[i]) != i)
      return {StatusCode::dimension_numbers, name, dims[i], 1, "dimension named twice"};
  }
  return {};
}

/// No extent is negative, and no product of extents leaves int64.
template <class Pointer>
Status check_extents(const char* name, const BasicTensor<Pointer>& tensor) {
  double elems = 1;
  for (index_t d = 0; d < tensor.rank; ++d) {
    const offset_t extent = tensor.extent[d];
    if (extent < 0)
      return {StatusCode::negative_extent, name, extent, 0, "an extent cannot be negative"};
    if (extent > 0) elems *= static_cast<double>(extent);
    if (elems > 0x1p62)
      return {StatusCode::extent_too_large, name, extent, 0, "operands end at 2^62 elements"};
  }
  return {};
}

/// The rules of an ordinary dot_general: ranges, equal counts, distinct, disjoint, equal extents.
inline Status check_dot_dims(const Tensor& lhs, const Tensor& rhs, const DimensionNumbers& dims) {
  struct List {
    const char* name;
    const DimList& dims;
    index_t rank;
  };
  for (const List& list : {List{"lhs_batch", dims.lhs_batch, lhs.rank},
                           List{"rhs_batch", dims.rhs_batch, rhs.rank},
                           List{"lhs_contracting", dims.lhs_contracting, lhs.rank},
                           List{"rhs_contracting", dims.rhs_contracting, rhs.rank}})
    if (const Status status = check_dim_list(list.name, list.dims, list.rank); !status.ok())
      return status;
  if (dims.lhs_batch.count != dims.rhs_batch.count)
    return {StatusCode::dimension_numbers,
            "rhs_batch",
            dims.rhs_batch.count,
            dims.lhs_batch.count,
            "lhs and rhs need equally many batch dimensions"};
  if (dims.lhs_contracting.count != dims.rhs_contracting.count)
    return {StatusCode::dimension_numbers,
            "rhs_contracting",
            dims.rhs_contracting.count,
            dims.lhs_contracting.count,
            "lhs and rhs need equally many contracting dimensions"};
  for (index_t i = 0; i < dims.lhs_batch.count; ++i) {
    if (dims.lhs_contracting.holds(dims.lhs_batch[i]))
      return {StatusCode::dimension_numbers,
              "lhs_batch",
              dims.lhs_batch[i],
              0,
              "a batch dimension cannot contract"};
    if (dims.rhs_contracting.holds(dims.rhs_batch[i]))
      return {StatusCode::dimension_numbers,
              "rhs_batch",
              dims.rhs_batch[i],
              0,
              "a batch dimension cannot contract"};
    if (lhs.extent[dims.lhs_batch[i]] != rhs.extent[dims.rhs_batch[i]])
      return {StatusCode::dimension_numbers,
              "rhs batch extent",
              rhs.extent[dims.rhs_batch[i]],
              lhs.extent[dims.lhs_batch[i]],
              "batch extents must be equal"};
  }
  for (index_t i = 0; i < dims.lhs_contracting.count; ++i)
    if (lhs.extent[dims.lhs_contracting[i]] != rhs.extent[dims.rhs_contracting[i]])
      return {StatusCode::dimension_numbers,
              "rhs contracting extent",
              rhs.extent[dims.rhs_contracting[i]],
              lhs.extent[dims.lhs_contracting[i]],
              "contracting extents must be equal"};
  return {};
}

/// Position of a lhs dimension among the non-contracting ones, in ascending order.
inline index_t free_position(const DimensionNumbers& dims, index_t lhs_dim) {
  index_t position = 0;
  for (index_t d = 0; d < lhs_dim; ++d)
    if (!dims.lhs_batch.holds(d) && !dims.lhs_contracting.holds(d)) ++position;
  return position;
}

/// The extent of the ragged dimension where lhs is gathered along it: what the options say, else
/// the operand that has the dimension, too; lhs's own where no other operand has it.
inline offset_t gathered_extent(const Tensor& lhs,
                                const Tensor& rhs,
                                const MutableTensor& out,
                                const DimensionNumbers& dims,
                                const Options& options) {
  if (options.ragged_extent >= 0) return options.ragged_extent;
  const index_t ragged = dims.lhs_ragged[0];
  const auto of = [&](const auto& tensor, index_t dim) {
    return dim >= 0 && dim < tensor.rank ? tensor.extent[dim] : lhs.extent[ragged];
  };
  if (const index_t at = dims.lhs_contracting.position(ragged); at >= 0)
    return of(rhs, at < dims.rhs_contracting.count ? dims.rhs_contracting[at] : -1);
  if (const index_t at = dims.lhs_batch.position(ragged); at >= 0)
    return of(rhs, at < dims.rhs_batch.count ? dims.rhs_batch[at] : -1);
  return of(out, min_of(dims.lhs_batch.count, max_rank) + free_position(dims, ragged));
}

inline Variant variant_of(const DimensionNumbers& dims) {
  const index_t ragged = dims.lhs_ragged[0];
  if (dims.lhs_contracting.holds(ragged)) return Variant::contracting;
  return dims.lhs_batch.holds(ragged) ? Variant::batch : Variant::non_contracting;
}

}  // namespace raggedgemm::detail
