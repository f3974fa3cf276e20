// SPDX-License-Identifier: Apache-2.0
// Spec: a ragged dot as the fuzzer chooses it: extents by kind of dimension, where they stand, how
// operands lie in memory, groups, options, and at most one defect. The shrinker edits this form.
#pragma once

#include <algorithm>
#include <vector>

#include "fuzz/input.hpp"
#include "raggedgemm/problem/canonicalise.hpp"

namespace fuzz {

namespace rg = raggedgemm;
using rg::GroupKind;
using rg::index_t;
using rg::IndexType;
using rg::offset_t;
using rg::Tail;
using rg::Variant;
using Extents = std::vector<offset_t>;

enum class Types { f32, bf16, bf16_to_f32 };

/// How the library is asked.
enum class Route {
  call,       ///< the plain call
  plan,       ///< make_plan, bind, run
  text,       ///< the plan written as text and read again
  explained,  ///< explain() first
};

/// What is wrong with the call.
enum class Defect {
  none,
  rhs_extent,   ///< a contracting extent of rhs is one more than lhs's
  out_extent,   ///< the last extent of out is one more than it should be
  group_count,  ///< one group too many
  tail,         ///< Tail::compute where it does not exist
  config_row,   ///< a row of another platform
  platform,     ///< a platform that this program was not compiled for
  null_lhs,
  null_rhs,
  null_out,
  null_groups,
  negative_extent,
  huge_extent,
  c_extent,
  c_rank,
  c_dtype,
  out_stride,     ///< a stride of zero in the output
  shard,          ///< a shard that leaves the groups
  scatter,        ///< a general call's scatter without its one dimension
  ragged_extent,  ///< options.ragged_extent is one more than the operands'
  dims,           ///< dimension numbers edited at random: may still be right
};
inline constexpr int defect_count = static_cast<int>(Defect::dims) + 1;
inline constexpr const char* defect_names[defect_count] = {
    "none",        "rhs_extent",    "out_extent", "group_count", "tail",        "config_row",
    "platform",    "null_lhs",      "null_rhs",   "null_out",    "null_groups", "negative_extent",
    "huge_extent", "c_extent",      "c_rank",     "c_dtype",     "out_stride",  "shard",
    "scatter",     "ragged_extent", "dims"};

/// Where an operand's elements lie. All zero: row-major, without gaps.
struct Layout {
  std::uint32_t order = 0;     ///< which permutation of the dimensions, 0: row-major
  std::uint32_t reversed = 0;  ///< bit d: negative stride
  std::uint32_t shared = 0;    ///< bit d: stride 0 (inputs)
  std::uint32_t padded = 0;    ///< bit d: gap behind dimension d
  offset_t unit = 1;           ///< smallest stride
  offset_t pad = 0;
  int shift = 0;  ///< elements between an aligned address and the first
};

/// One dimension of an operand: 'b'atch, 'c'ontracting, 'f'ree or 'g'roup, the i-th of its kind.
struct Place {
  char kind;
  std::size_t index;
};

struct Spec {
  Variant variant = Variant::non_contracting;
  bool general = false;
  Types types = Types::f32;
  Route route = Route::call;
  Defect defect = Defect::none;
  std::int64_t defect_value = 0;
  Extents batch, contract, lhs_free, rhs_free;
  std::size_t ragged_at = 0;  ///< which dimension of its kind is ragged
  std::vector<Place> lhs_places, rhs_places;
  offset_t slabs = 1;          ///< groups that rhs (or out) holds; the batch variant: groups
  offset_t group_offset = -1;  ///< ≥ 0: a shard
  offset_t more_groups = 0;    ///< groups past the shard's
  bool prefix_groups = false;  ///< general: [prefix…, g] instead of [g]
  GroupKind kind = GroupKind::sizes;
  IndexType type = IndexType::s32;
  std::vector<std::int64_t> entries;
  Layout lhs, rhs, out, c;
  Tail tail = Tail::zero;
  double alpha = 1;
  double beta = 0;
  bool has_c = false;
  bool group_alpha = false;
  bool gathers = false;
  offset_t lhs_extent = 0;  ///< of the ragged dimension of lhs itself, when it gathers
  std::vector<std::int32_t> lhs_index;
  bool scatters = false;
  offset_t out_extent = 0;  ///< of out along the tile's rows, when it scatters
  std::vector<std::int32_t> out_index;
  bool tells_extent = false;  ///< options.ragged_extent is given
  bool fault = false;
  bool epilogue = false;
  bool host_row = false;   ///< config_row forced to the host's row
  std::uint32_t salt = 0;  ///< of the values

  [[nodiscard]] offset_t group_count() const {
    return slabs + (group_offset >= 0 ? std::min<offset_t>(group_offset, 8) + more_groups : 0);
  }
  [[nodiscard]] const Extents& ragged_kind() const {
    return variant == Variant::batch         ? batch
           : variant == Variant::contracting ? contract
                                             : lhs_free;
  }
  [[nodiscard]] offset_t ragged_extent() const { return ragged_kind()[ragged_at]; }
  /// Whether one dimension of lhs is the tile's rows, so that out can be scattered along it.
  [[nodiscard]] bool has_row_dim() const {
    return variant == Variant::non_contracting || lhs_free.size() == 1;
  }
  [[nodiscard]] offset_t row_extent() const {
    return variant == Variant::non_contracting ? ragged_extent() : lhs_free[0];
  }
  /// Which dimension of out that is.
  [[nodiscard]] std::size_t row_dim_of_out() const {
    return (variant == Variant::contracting ? 1 : 0) + batch.size() +
           (variant == Variant::non_contracting ? ragged_at : 0);
  }
  /// Rows of the group description: product of the prefix extents.
  [[nodiscard]] offset_t group_rows() const {
    if (!general || !prefix_groups) return 1;
    offset_t rows = 1;
    if (variant != Variant::batch)
      for (const offset_t e : batch) rows *= std::max<offset_t>(e, 0);
    for (std::size_t i = 0; i < ragged_at; ++i) rows *= std::max<offset_t>(ragged_kind()[i], 0);
    return rows;
  }
};

/// Makes the parts of an edited spec fit each other again.
inline void normalise(Spec& s) {
  if (!s.general) {
    s.batch.resize(s.variant == Variant::batch ? 1 : 0, 1);
    s.contract.resize(1, 1);
    s.lhs_free.resize(1, 1);
    s.rhs_free.resize(1, 1);
    s.ragged_at = 0;
    s.prefix_groups = false;
  } else {
    s.epilogue = false;
    Extents& ragged = s.variant == Variant::batch         ? s.batch
                      : s.variant == Variant::contracting ? s.contract
                                                          : s.lhs_free;
    if (ragged.empty()) ragged.push_back(1);
    s.ragged_at = std::min(s.ragged_at, ragged.size() - 1);
  }
  if (s.types != Types::f32) s.epilogue = false;
  if (s.variant == Variant::batch) {
    s.group_offset = -1;
  } else {
    if (s.kind == GroupKind::none) s.kind = GroupKind::sizes;
    if (s.tail == Tail::compute) s.tail = Tail::zero;
  }
  // Every dimension has a place in its operands, in the order that the places had.
  const auto fix_places = [](std::vector<Place>& places, std::initializer_list<Place> counts) {
    std::vector<Place> fixed;
    for (const Place& p : places)
      for (const Place& kind : counts)
        if (p.kind == kind.kind && p.index < kind.index) fixed.push_back(p);
    for (const Place& kind : counts)
      for (std::size_t i = 0; i < kind.index; ++i)
        if (std::none_of(fixed.begin(), fixed.end(), [&](const Place& p) {
              return p.kind == kind.kind && p.index == i;
            }))
          fixed.push_back({kind.kind, i});
    places = fixed;
  };
  const std::size_t group_dims = s.variant == Variant::non_contracting ? 1 : 0;
  if (!s.general) s.lhs_places = s.rhs_places = {};
  if (!s.general && s.variant == Variant::non_contracting) s.lhs_places = {{'f', 0}, {'c', 0}};
  fix_places(s.lhs_places,
             {{'b', s.batch.size()}, {'c', s.contract.size()}, {'f', s.lhs_free.size()}});
  if (!s.general && s.variant == Variant::batch) s.lhs_places = {{'b', 0}, {'f', 0}, {'c', 0}};
  fix_places(s.rhs_places,
             {{'g', group_dims},
              {'b', s.batch.size()},
              {'c', s.contract.size()},
              {'f', s.rhs_free.size()}});
  // The free dimensions stand in ascending order: that is what numbers them.
  const auto number_free = [](std::vector<Place>& places) {
    std::size_t next = 0;
    for (Place& p : places)
      if (p.kind == 'f') p.index = next++;
  };
  number_free(s.lhs_places);
  number_free(s.rhs_places);
  s.entries.resize(
      s.kind == GroupKind::none
          ? 0
          : static_cast<std::size_t>(s.group_rows() *
                                     (s.group_count() + (s.kind == GroupKind::offsets ? 1 : 0))),
      0);
  if (s.kind == GroupKind::none) s.slabs = 0;
  const auto length = [](offset_t extent) {
    return static_cast<std::size_t>(std::max<offset_t>(extent, 0));
  };
  if (!s.has_row_dim()) s.scatters = false;
  if (!s.gathers) s.lhs_extent = s.ragged_extent();
  if (!s.scatters) s.out_extent = s.has_row_dim() ? s.row_extent() : 0;
  // With both indices, no operand has the rows of the product.
  if (s.gathers && s.scatters && s.variant == Variant::non_contracting) s.tells_extent = true;
  s.lhs_index.resize(s.gathers ? length(s.ragged_extent()) : 0, 0);
  // Destinations are distinct, or outside out: two rows in one place would be a race.
  s.out_index.resize(s.scatters ? length(s.row_extent()) : 0, -1);
  std::vector<bool> taken(s.scatters ? length(s.out_extent) : 0, false);
  for (std::int32_t& to : s.out_index) {
    if (to < 0 || to >= static_cast<std::int32_t>(taken.size())) continue;
    if (taken[static_cast<std::size_t>(to)])
      to = -1;
    else
      taken[static_cast<std::size_t>(to)] = true;
  }
}

}  // namespace fuzz
