// SPDX-License-Identifier: Apache-2.0
// decode: bytes → Spec. Extents are small, with tile edges now and then; sizes, strides and index
// entries are often hostile; one call in four has a defect.
#pragma once

#include <cmath>

#include "fuzz/spec.hpp"

namespace fuzz {

inline offset_t decode_extent(Input& in, bool may_be_large) {
  static constexpr offset_t usual[] = {2, 3, 1, 4, 5, 0, 7, 2, 3, 6, 1, 3, 4, 5, 2, 1};
  static constexpr offset_t edges[] = {16, 17, 33, 95, 97, 193, 257, 9};
  const std::uint8_t choice = in.byte();
  if (may_be_large && choice >= 253) return edges[in.byte() % 8];
  return usual[choice % 16];
}

inline Layout decode_layout(Input& in, bool is_input) {
  Layout layout;
  const std::uint8_t what = in.byte();
  if (what < 96) {
    layout.order = what < 64 ? 0 : what;
    return layout;
  }
  layout.order = static_cast<std::uint32_t>(in.between(0, 40319));
  layout.unit = in.pick<offset_t>({1, 1, 1, 2, 3});
  if ((what & 1) != 0) layout.reversed = in.byte();
  if ((what & 2) != 0) layout.padded = in.byte();
  layout.pad = in.between(1, 5);
  if (is_input && (what & 12) == 12) layout.shared = in.byte();
  layout.shift = static_cast<int>(in.between(0, 7));
  return layout;
}

inline void decode_entries(Input& in, Spec& s) {
  const offset_t extent = s.ragged_extent();
  const bool sums = in.one_in(2);  // offsets made from sizes, or raw
  std::int64_t sum = 0;
  const int flavour = in.byte() % 8;
  for (std::int64_t& entry : s.entries) {
    std::int64_t value = 0;
    if (flavour < 4)
      value = in.between(0, std::max<offset_t>(extent, 0) / (flavour + 1));
    else if (flavour < 6)
      value = in.between(-2, extent + 2);
    else
      value = in.hostile(extent);
    if (s.kind != GroupKind::sizes && sums) {
      const bool overflows = __builtin_add_overflow(sum, value, &sum);
      value = sum;
      if (overflows) sum = 0;
    }
    entry = value;
  }
}

inline Spec decode(Input& in) {
  Spec s;
  const std::uint8_t first = in.byte();
  s.variant = static_cast<Variant>(first % 3);
  s.general = (first / 3) % 3 == 2;
  s.types = static_cast<Types>((first / 9) % 3);
  s.route = static_cast<Route>(in.byte() % 4);
  const std::uint8_t defect = in.byte();
  s.salt = defect / 64;
  if (defect >= 192) {
    s.defect = static_cast<Defect>(defect % defect_count);
    s.defect_value = in.hostile(4);
  }
  const auto some = [&](std::int64_t low, std::int64_t high) {
    Extents extents(static_cast<std::size_t>(in.between(low, high)));
    for (offset_t& e : extents) e = decode_extent(in, !s.general);
    return extents;
  };
  if (s.general) {
    s.batch = some(s.variant == Variant::batch ? 1 : 0, 2);
    s.contract = some(s.variant == Variant::contracting ? 1 : 0, 3);
    s.lhs_free = some(s.variant == Variant::non_contracting ? 1 : 0, 3);
    s.rhs_free = some(0, 2);
    s.ragged_at = static_cast<std::size_t>(
        in.between(0, static_cast<std::int64_t>(s.ragged_kind().size()) - 1));
    s.prefix_groups = in.one_in(2);
    // Places in a random order: each dimension takes a random free seat.
    const auto seat = [&](std::vector<Place>& places, char kind, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i)
        places.insert(places.begin() + in.between(0, static_cast<std::int64_t>(places.size())),
                      Place{kind, i});
    };
    for (const bool is_lhs : {true, false}) {
      std::vector<Place>& places = is_lhs ? s.lhs_places : s.rhs_places;
      seat(places, 'f', (is_lhs ? s.lhs_free : s.rhs_free).size());
      seat(places, 'c', s.contract.size());
      seat(places, 'b', s.batch.size());
      if (!is_lhs && s.variant == Variant::non_contracting) seat(places, 'g', 1);
    }
  } else {
    s.batch = some(s.variant == Variant::batch ? 1 : 0, s.variant == Variant::batch ? 1 : 0);
    s.contract = some(1, 1);
    s.lhs_free = some(1, 1);
    s.rhs_free = some(1, 1);
  }
  // At most some thousand multiplications: the largest extents give way.
  for (;;) {
    offset_t work = 1;
    offset_t* largest = nullptr;
    for (Extents* extents : {&s.batch, &s.contract, &s.lhs_free, &s.rhs_free})
      for (offset_t& e : *extents) {
        work *= std::max<offset_t>(e, 1);
        if (largest == nullptr || e > *largest) largest = &e;
      }
    if (work <= 12000) break;
    *largest = *largest > 8 ? *largest / 4 : *largest / 2;
  }
  s.slabs = in.pick<offset_t>({2, 3, 1, 4, 0, 5, 1, 9});
  s.kind =
      in.pick({GroupKind::sizes, GroupKind::sizes, GroupKind::end_offsets, GroupKind::offsets});
  if (s.variant == Variant::batch && in.one_in(8)) s.kind = GroupKind::none;
  s.type = static_cast<IndexType>(in.byte() % 8);
  if (s.variant != Variant::batch && in.one_in(5)) {
    s.group_offset = in.between(0, 3);
    s.more_groups = in.between(0, 2);
  }
  s.lhs = decode_layout(in, true);
  s.rhs = decode_layout(in, true);
  s.out = decode_layout(in, false);
  const std::uint8_t options = in.byte();
  s.tail = static_cast<Tail>(options % 4 % 3);
  if ((options & 4) != 0) {
    s.alpha = in.pick({2.0, -1.0, 0.0, -3.0, 0.5, 1.0, -0.0, 4.0});
    if (in.one_in(32)) s.alpha = in.pick<double>({HUGE_VAL, NAN, -HUGE_VAL});
  }
  if ((options & 8) != 0) s.beta = in.pick({1.0, -1.0, 2.0, 0.0, -0.5, 3.0});
  if ((options & 16) != 0 && in.one_in(2)) {
    s.has_c = true;
    s.c = decode_layout(in, true);
  }
  s.group_alpha = (options & 32) != 0 && in.one_in(2);
  s.fault = (options & 64) != 0 && in.one_in(2);
  s.host_row = (options & 128) != 0 && in.one_in(2);
  s.epilogue = in.one_in(8);
  s.gathers = in.one_in(5);
  s.scatters = in.one_in(5);
  s.lhs_extent = s.ragged_extent();
  if (s.gathers) s.lhs_extent = decode_extent(in, false);
  if (s.scatters) s.out_extent = decode_extent(in, false);
  s.tells_extent = in.one_in(3);
  normalise(s);
  decode_entries(in, s);
  for (std::int32_t& i : s.lhs_index)
    i = in.one_in(6)
            ? static_cast<std::int32_t>(in.hostile(s.lhs_extent))
            : static_cast<std::int32_t>(in.between(0, std::max<offset_t>(s.lhs_extent - 1, 0)));
  // A rotation, past the end of out, with holes.
  const std::int32_t turn = in.byte();
  const std::int32_t ends = static_cast<std::int32_t>(s.out_extent);
  for (std::size_t i = 0; i < s.out_index.size(); ++i)
    s.out_index[i] = in.one_in(8) ? static_cast<std::int32_t>(in.hostile(ends))
                                  : (static_cast<std::int32_t>(i) + turn) % (ends + 1);
  normalise(s);
  return s;
}

}  // namespace fuzz
