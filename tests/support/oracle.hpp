// SPDX-License-Identifier: Apache-2.0
// The oracle: a ragged dot as plain loops in f64, on dense row-major copies of the operands.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "raggedgemm/problem/problem.hpp"
#include "support/sizes.hpp"

namespace support {

using raggedgemm::Variant;

/// Shapes in the API's letters. `slabs` is G, or B for the batch variant.
struct Shape {
  Variant variant = Variant::non_contracting;
  offset_t slabs = 0;
  offset_t m = 0;
  offset_t k = 0;
  offset_t n = 0;
};

using Extent3 = std::array<offset_t, 3>;

/// Operand shapes as [slab, row, col]; an operand without slabs has one.
inline Extent3 lhs_extent(const Shape& s) {
  return {s.variant == Variant::batch ? s.slabs : 1, s.m, s.k};
}
inline Extent3 rhs_extent(const Shape& s) {
  if (s.variant == Variant::contracting) return {1, s.m, s.n};
  return {s.slabs, s.k, s.n};
}
inline Extent3 out_extent(const Shape& s) {
  if (s.variant == Variant::non_contracting) return {1, s.m, s.n};
  if (s.variant == Variant::contracting) return {s.slabs, s.k, s.n};
  return {s.slabs, s.m, s.n};
}
inline std::size_t elems_of(const Extent3& e) {
  return static_cast<std::size_t>(e[0] * e[1] * e[2]);
}

/// Extent of the dimension that the groups cut.
inline offset_t ragged_extent(const Shape& s) {
  return s.variant == Variant::batch ? s.slabs : s.m;
}

struct Reference {
  std::vector<double> product;  ///< Σ a·b
  std::vector<double> absdot;   ///< Σ |a·b|
  std::vector<char> live;       ///< whether the element belongs to a group
};

/// `live_extent`: rows (batches) that belong to a group.
inline Reference reference(const Shape& s,
                           const std::vector<double>& lhs,
                           const std::vector<double>& rhs,
                           const std::vector<Range>& ranges,
                           offset_t live_extent) {
  Reference r;
  const std::size_t elems = elems_of(out_extent(s));
  r.product.assign(elems, 0.0);
  r.absdot.assign(elems, 0.0);
  r.live.assign(elems, 0);
  const auto add = [&](offset_t out, offset_t a, offset_t b) {
    const double product = lhs[static_cast<std::size_t>(a)] * rhs[static_cast<std::size_t>(b)];
    r.product[static_cast<std::size_t>(out)] += product;
    r.absdot[static_cast<std::size_t>(out)] += std::fabs(product);
  };
  const auto mark = [&](offset_t begin, offset_t end) {
    for (offset_t i = begin; i < end; ++i) r.live[static_cast<std::size_t>(i)] = 1;
  };
  switch (s.variant) {
    case Variant::non_contracting:
      for (std::size_t g = 0; g < ranges.size(); ++g) {
        mark(ranges[g].begin * s.n, ranges[g].end * s.n);
        for (offset_t m = ranges[g].begin; m < ranges[g].end; ++m)
          for (offset_t k = 0; k < s.k; ++k)
            for (offset_t n = 0; n < s.n; ++n)
              add(m * s.n + n, m * s.k + k, (static_cast<offset_t>(g) * s.k + k) * s.n + n);
      }
      break;
    case Variant::contracting:
      mark(0, static_cast<offset_t>(elems));
      for (std::size_t g = 0; g < ranges.size(); ++g)
        for (offset_t m = ranges[g].begin; m < ranges[g].end; ++m)
          for (offset_t k = 0; k < s.k; ++k)
            for (offset_t n = 0; n < s.n; ++n)
              add((static_cast<offset_t>(g) * s.k + k) * s.n + n, m * s.k + k, m * s.n + n);
      break;
    case Variant::batch:
      mark(0, live_extent * s.m * s.n);
      for (offset_t b = 0; b < live_extent; ++b)
        for (offset_t m = 0; m < s.m; ++m)
          for (offset_t k = 0; k < s.k; ++k)
            for (offset_t n = 0; n < s.n; ++n)
              add((b * s.m + m) * s.n + n, (b * s.m + m) * s.k + k, (b * s.k + k) * s.n + n);
      break;
  }
  return r;
}

}  // namespace support
