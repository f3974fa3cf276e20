// SPDX-License-Identifier: Apache-2.0
// run_integers: the library's integer code alone, microseconds an input: group descriptions, the
// cursor, fault reports, tile orders, decoders, plans as text, canonicalise with garbage.
#pragma once

#include <set>

#include "fuzz/integers_plan.hpp"
#include "fuzz/oracle.hpp"
#include "raggedgemm/arch/host/wave.hpp"
#include "raggedgemm/kernel/batch.hpp"
#include "raggedgemm/kernel/contracting.hpp"
#include "raggedgemm/kernel/non_contracting.hpp"
#include "raggedgemm/schedule/group_check.hpp"

namespace fuzz {
// Hidden, as the library's own templates are that lambdas here hold.
#pragma GCC visibility push(hidden)
namespace integers {

using HostWave = rg::arch::host::Wave;

/// Entries in memory of exactly their bytes, and what they mean.
struct Description {
  Spec spec;  ///< kind, type, entries
  Memory memory;
  rg::Groups groups;

  [[nodiscard]] Wide entry(offset_t i) const {
    const std::uint64_t raw = static_cast<std::uint64_t>(spec.entries[static_cast<std::size_t>(i)]);
    switch (spec.type) {
      case IndexType::s8: return static_cast<std::int8_t>(raw);
      case IndexType::s16: return static_cast<std::int16_t>(raw);
      case IndexType::s32: return static_cast<std::int32_t>(raw);
      case IndexType::s64: return static_cast<std::int64_t>(raw);
      case IndexType::u8: return static_cast<std::uint8_t>(raw);
      case IndexType::u16: return static_cast<std::uint16_t>(raw);
      case IndexType::u32: return static_cast<std::uint32_t>(raw);
      case IndexType::u64: break;
    }
    return std::min<Wide>(raw, std::numeric_limits<std::int64_t>::max());
  }
  [[nodiscard]] Wide size(offset_t row, offset_t g, Wide limit) const {
    const offset_t base = row * (groups.count + (spec.kind == GroupKind::offsets ? 1 : 0)) + g;
    const Wide upper = spec.kind == GroupKind::offsets ? entry(base + 1) : entry(base);
    const Wide lower = spec.kind == GroupKind::offsets                ? entry(base)
                       : spec.kind == GroupKind::end_offsets && g > 0 ? entry(base - 1)
                                                                      : 0;
    return std::min<Wide>(std::max<Wide>(upper - lower, 0), limit);
  }
};

inline void make_description(Input& in, Description& d, offset_t rows, offset_t extent) {
  d.spec.kind = in.pick({GroupKind::sizes, GroupKind::end_offsets, GroupKind::offsets});
  d.spec.type = static_cast<IndexType>(in.byte() % 8);
  d.groups = {nullptr, in.between(0, 12), d.spec.kind, d.spec.type};
  const offset_t per_row = d.groups.count + (d.spec.kind == GroupKind::offsets ? 1 : 0);
  std::int64_t sum = 0;
  const bool sums = in.one_in(2);
  for (offset_t i = 0; i < rows * per_row; ++i) {
    const std::int64_t value = in.hostile(extent);
    if (__builtin_add_overflow(sum, value, &sum)) sum = value;
    d.spec.entries.push_back(sums ? sum : value);
  }
  allocate_copy(d.memory, stored(d.spec.entries, d.spec.type));
  d.groups.data = d.memory.data();
}

inline void check_sizes(Input& in) {
  Description d;
  make_description(in, d, 1, 20);
  const offset_t limit = in.pick<offset_t>({0, 1, 20, offset_t{1} << 40, offset_t{1} << 62});
  for (offset_t g = 0; g < d.groups.count; ++g) {
    require(d.groups.entry(g) == static_cast<offset_t>(d.entry(g)), "Groups::entry");
    require(d.groups.size(g, limit) == static_cast<offset_t>(d.size(0, g, limit)), "Groups::size");
  }
}

/// Instances of which some have groups of their own; `row` of an instance is computed by digits.
inline rg::OuterDims make_instances(Input& in, offset_t per_row, std::vector<offset_t>& row_of) {
  rg::OuterDims dims;
  const index_t rank = static_cast<index_t>(in.between(0, 3));
  row_of.assign(1, 0);
  for (index_t i = 0; i < rank; ++i) {
    const offset_t extent = in.between(1, 3);
    const bool own = in.one_in(2);
    if (!dims.append(extent, {0, 0, 0, 0, 0})) break;
    std::vector<offset_t> next;
    for (const offset_t row : row_of)
      for (offset_t e = 0; e < extent; ++e) next.push_back(own ? row * extent + e : row);
    row_of = next;
    if (extent > 1) {  // the strides of the dimensions before this one grow by its extent
      for (index_t before = 0; before + 1 < dims.rank; ++before)
        if (own) dims.stride[before].groups *= extent;
      dims.stride[dims.rank - 1].groups = own ? per_row : 0;
    }
  }
  return dims;
}

inline void check_cursor(Input& in) {
  const offset_t extent = in.pick<offset_t>({7, 20, 1, 0, 200, 100000});
  Description d;
  make_description(in, d, 27, extent);
  const offset_t per_row = d.groups.count + (d.spec.kind == GroupKind::offsets ? 1 : 0);
  std::vector<offset_t> row_of;
  const rg::OuterDims instances = make_instances(in, per_row, row_of);
  const offset_t shard_begin = in.between(0, 3);
  const offset_t shard_groups = in.between(0, 12);
  const offset_t tile = in.pick<offset_t>({3, 16, 1, 5});
  const bool keep_tail = in.one_in(2);
  const auto tiles_of = [&](offset_t rows, bool is_tail) {
    return is_tail && keep_tail ? offset_t{0} : (rows + tile - 1) / tile;
  };
  rg::GroupCursor<HostWave> cursor(d.groups, extent, instances, shard_begin, shard_groups);
  rg::GroupPosition at;
  offset_t id = 0;
  offset_t checked = 0;
  const auto expect =
      [&](offset_t begin, offset_t rows, offset_t group, offset_t instance, bool is_tail) {
        const offset_t tiles = tiles_of(rows, is_tail);
        // All tiles of a short group, the first and the last of a long one.
        for (offset_t t = 0; t < tiles;
             t = t < 3 || tiles < 8 ? t + 1 : tiles - 1 + (t == tiles - 1)) {
          require(cursor.seek(id + t, tiles_of, at), "GroupCursor ends early");
          require(at.group == group && at.begin == begin && at.extent == rows && at.tile == t &&
                      at.instance == instance && at.is_tail == is_tail,
                  "GroupCursor is at another place than a plain scan");
          ++checked;
        }
        id += tiles;
      };
  for (std::size_t i = 0; i < row_of.size(); ++i) {
    offset_t sum = 0;
    for (offset_t g = 0; g < d.groups.count; ++g) {
      const offset_t size = static_cast<offset_t>(d.size(row_of[i], g, extent - sum));
      expect(sum,
             size,
             g,
             static_cast<offset_t>(i),
             g < shard_begin || g >= shard_begin + shard_groups);
      sum += size;
    }
    expect(sum, extent - sum, d.groups.count, static_cast<offset_t>(i), true);
    if (i == 0) {
      rg::GroupCursor<HostWave> other(d.groups, extent);
      require(other.total() == sum, "GroupCursor::total");
    }
  }
  require(!cursor.seek(id, tiles_of, at), "GroupCursor does not end");
}

inline void check_fault_report(Input& in) {
  const offset_t extent = in.pick<offset_t>({7, 20, 1, 0, 200, offset_t{1} << 40});
  Description d;
  make_description(in, d, 81, extent);
  std::vector<offset_t> row_of;
  const offset_t entries = d.groups.count + (d.spec.kind == GroupKind::offsets ? 1 : 0);
  const offset_t inner_rows = in.between(1, 3);
  const rg::OuterDims instances = make_instances(in, entries * inner_rows, row_of);
  rg::OuterDims segments;
  segments.append(inner_rows, {0, 0, 0, 0, entries});
  if (in.one_in(2)) segments.append(5, {0, 0, 0, 0, 0});
  offset_t rows = 0;
  for (const offset_t row : row_of) rows = std::max(rows, (row + 1) * inner_rows);
  rg::Fault got;
  rg::check_groups<HostWave>(d.groups, extent, instances, segments, &got);
  for (offset_t row = 0; row < rows; ++row) {
    Wide sum = 0;
    for (offset_t g = 0; g < d.groups.count; ++g) {
      const offset_t per_row = d.groups.count + (d.spec.kind == GroupKind::offsets ? 1 : 0);
      const offset_t base = row * per_row + g;
      const Wide upper = d.spec.kind == GroupKind::offsets ? d.entry(base + 1) : d.entry(base);
      const Wide lower = d.spec.kind == GroupKind::offsets                ? d.entry(base)
                         : d.spec.kind == GroupKind::end_offsets && g > 0 ? d.entry(base - 1)
                                                                          : 0;
      const bool falls = upper < lower;
      sum += d.size(row, g, upper > lower ? upper - lower : 0);
      if (!falls && sum <= extent) continue;
      const rg::FaultCode code = !falls ? rg::FaultCode::sum_exceeds_extent
                                 : d.spec.kind == GroupKind::sizes
                                     ? rg::FaultCode::negative_size
                                     : rg::FaultCode::decreasing_offsets;
      require(got.code == code, "the fault report has another code");
      require(got.group == row * d.groups.count + g, "the fault report has another group");
      if (falls) require(got.value == static_cast<offset_t>(upper), "the fault's size");
      if (!falls && sum < (Wide{1} << 62))
        require(got.value == static_cast<offset_t>(sum), "the fault's sum");
      return;
    }
  }
  require(got.code == rg::FaultCode::none, "a fault is reported where there is none");
}

inline void check_tile_order(Input& in) {
  const rg::TileOrder order{static_cast<index_t>(in.byte() % 2),
                            in.pick<index_t>({1, 8, 4, 2, 3, 7, 64, 1 << 30}),
                            in.pick<index_t>({1, 8, 2, 3, 6, 38})};
  const bool large = in.one_in(4);
  const index_t rows = static_cast<index_t>(large ? in.between(1, 40000) : in.between(1, 40));
  const index_t cols = static_cast<index_t>(large ? in.between(1, 40000) : in.between(1, 40));
  const offset_t tiles = offset_t{rows} * cols;
  std::set<offset_t> met;
  const auto visit = [&](index_t tile) {
    const rg::TileCoordinate at = order.map(tile, rows, cols);
    require(at.row >= 0 && at.row < rows && at.col >= 0 && at.col < cols,
            "TileOrder leaves the grid");
    require(met.insert(offset_t{at.row} * cols + at.col).second, "TileOrder meets a tile twice");
  };
  if (large) {
    std::set<offset_t> ids;
    for (int i = 0; i < 40; ++i) {
      const offset_t id = i % 2 == 0 ? in.between(0, tiles - 1) : std::min<offset_t>(i, tiles - 1);
      if (ids.insert(id).second) visit(static_cast<index_t>(id));
    }
  } else {
    for (index_t tile = 0; tile < tiles; ++tile) visit(tile);
  }
}

/// Every tile of a small problem: each output element of each slab and instance exactly once, and
/// no more tiles than tiles_at_most says.
template <class VariantType>
void check_decoder(Input& in) {
  constexpr index_t block_m = 6;
  constexpr index_t block_n = 16;
  rg::Arguments arguments;
  const offset_t ragged = in.between(0, 20);
  Description d;
  make_description(in, d, 27, ragged);
  std::vector<offset_t> row_of;
  arguments.groups = d.groups;
  arguments.instances =
      make_instances(in, d.groups.count + (d.spec.kind == GroupKind::offsets ? 1 : 0), row_of);
  constexpr bool contracting = VariantType::variant == Variant::contracting;
  constexpr bool batch = VariantType::variant == Variant::batch;
  arguments.rows = in.between(1, 14);
  arguments.cols = in.between(1, 40);
  arguments.depth = in.between(0, 5);
  arguments.slabs = batch ? ragged : d.groups.count;
  (contracting ? arguments.depth : batch ? arguments.slabs : arguments.rows) = ragged;
  arguments.tail = in.pick({Tail::zero, Tail::keep});
  arguments.order = {static_cast<index_t>(in.byte() % 2),
                     static_cast<index_t>(in.between(1, 4)),
                     static_cast<index_t>(in.between(1, 3))};
  if (arguments.rows == 0 || arguments.slabs == 0) return;  // nothing would be launched
  typename VariantType::template Decoder<block_m, block_n, HostWave> decoder(arguments);
  rg::Work work;
  offset_t tiles = 0;
  offset_t written = 0;
  while (decoder.decode(tiles, work)) {
    ++tiles;
    written += offset_t{work.rows} * work.cols;
    require(work.rows >= 1 && work.rows <= block_m && work.cols >= 1 && work.cols <= block_n,
            "a tile of no rows or columns");
    require(work.row_begin >= 0 && work.row_begin + work.rows <= arguments.rows &&
                work.col_begin >= 0 && work.col_begin + work.cols <= arguments.cols &&
                work.k_begin >= 0 && work.k_extent >= 0 &&
                work.k_begin + work.k_extent <= arguments.depth && work.slab >= 0 &&
                work.slab < arguments.slabs,
            "a tile leaves the problem");
  }
  offset_t needed = 0;
  for (const offset_t row : row_of) {
    offset_t sum = 0;
    for (offset_t g = 0; g < d.groups.count; ++g)
      sum += static_cast<offset_t>(d.size(row, g, ragged - sum));
    const offset_t live = arguments.tail == Tail::keep ? sum : ragged;
    needed += arguments.cols * (contracting ? arguments.rows * arguments.slabs
                                : batch     ? arguments.rows * live
                                            : live);
  }
  require(written == needed, "the tiles do not cover the output");
  require((tiles <= VariantType::template tiles_at_most<block_m, block_n>(arguments)),
          "more tiles than tiles_at_most says");
}

}  // namespace integers
#pragma GCC visibility pop

inline void run_integers(Input& in) {
  switch (in.byte() % 10) {
    case 0: integers::check_sizes(in); break;
    case 1:
    case 2: integers::check_cursor(in); break;
    case 3: integers::check_fault_report(in); break;
    case 4: integers::check_tile_order(in); break;
    case 5: integers::check_decoder<rg::kernel::NonContracting>(in); break;
    case 6: integers::check_decoder<rg::kernel::Contracting>(in); break;
    case 7: integers::check_decoder<rg::kernel::Batch>(in); break;
    case 8: integers::check_plan_text(in); break;
    default: integers::check_canonicalise(in); break;
  }
}

}  // namespace fuzz
