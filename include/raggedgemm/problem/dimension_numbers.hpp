// SPDX-License-Identifier: Apache-2.0
// What a general ragged dot is described by, beside its tensors: dimension numbers and a group
// description of any rank.
#pragma once

#include <initializer_list>

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/problem/group_sizes.hpp"
#include "raggedgemm/problem/tensor.hpp"

namespace raggedgemm {

/// A short list of dimension indices.
struct DimList {
  index_t count = 0;
  index_t dim[max_rank] = {};

  constexpr DimList() = default;
  /// A list longer than max_rank keeps its true count, which the checks then refuse.
  constexpr DimList(std::initializer_list<index_t> dims) noexcept {
    for (const index_t d : dims) {
      if (count < max_rank) dim[count] = d;
      ++count;
    }
  }
  constexpr index_t operator[](index_t i) const noexcept { return dim[i]; }
  [[nodiscard]] constexpr bool holds(index_t d) const noexcept { return position(d) >= 0; }
  /// Index of the first entry that equals d, or -1.
  [[nodiscard]] constexpr index_t position(index_t d) const noexcept {
    for (index_t i = 0; i < count && i < max_rank; ++i)
      if (dim[i] == d) return i;
    return -1;
  }
};

/// The dimension numbers of XLA's and JAX's ragged_dot_general. The kind of the one ragged lhs
/// dimension picks the variant: non-contracting (rhs has one group dimension), contracting, batch.
///
/// Result dimensions, in order: the groups (contracting only), batch dimensions in the order of
/// lhs_batch, lhs non-contracting ascending, rhs non-contracting ascending without the group's.
/// Source: jax.lax.ragged_dot_general; XLA's shape inference for ragged dots.
struct DimensionNumbers {
  DimList lhs_contracting = {};
  DimList rhs_contracting = {};
  DimList lhs_batch = {};
  DimList rhs_batch = {};
  DimList lhs_ragged = {};
  DimList rhs_group = {};
};

/// A group description of shape [g] (the same groups for every prefix index) or [prefix…, g],
/// row-major, where the prefix is all batch dimensions (non-contracting, contracting) and the
/// dimensions of the ragged one's kind before it. With GroupKind::offsets the last extent is g + 1.
struct GroupTensor {
  Groups groups;  ///< data, kind and type; its count is not used
  index_t rank = 0;
  offset_t extent[max_rank] = {};

  constexpr GroupTensor() = default;

  /// [g].
  constexpr GroupTensor(const Groups& plain) noexcept  // NOLINT(google-explicit-constructor)
      : groups(plain), rank(1) {
    extent[0] = plain.count + (plain.kind == GroupKind::offsets ? 1 : 0);
  }

  /// Any shape: `GroupTensor(sizes, GroupKind::sizes, {b, g})`.
  template <class Int>
  constexpr GroupTensor(const Int* data,
                        GroupKind kind,
                        std::initializer_list<offset_t> extents) noexcept
      : groups{data, 0, kind, index_type_of<Int>()} {
    for (const offset_t e : extents) {
      if (rank < max_rank) extent[rank] = e;
      ++rank;
    }
  }

  /// g.
  [[nodiscard]] constexpr offset_t group_count() const noexcept {
    if (rank < 1 || rank > max_rank) return 0;
    return extent[rank - 1] - (groups.kind == GroupKind::offsets ? 1 : 0);
  }
};

}  // namespace raggedgemm
