// SPDX-License-Identifier: Apache-2.0
// Products of given operands in every row, judged element by element: for values that show how
// often a result was rounded.
#pragma once

#include <utility>
#include <vector>

#include "support/conformance.hpp"
#include "support/every_row.hpp"

namespace support {

/// One group of all rows; the result of every row, in f64.
template <class L, class R, class O, class Right>
void check_products(const std::vector<L>& a,
                    const std::vector<R>& b,
                    offset_t m,
                    offset_t k,
                    offset_t n,
                    const rg::Options& options,
                    const Right& right) {
  const DeviceArray<L> lhs(a);
  const DeviceArray<R> rhs(b);
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>{static_cast<std::int32_t>(m)});
  DeviceArray<O> out(static_cast<std::size_t>(m * n));
  const auto call = rg::describe(rg::view(std::as_const(lhs).data(), m, k),
                                 rg::view(std::as_const(rhs).data(), 1, k, n),
                                 rg::GroupSizes(sizes.data(), 1),
                                 rg::view(out.data(), m, n),
                                 options);
  with_every_row(call,
                 options,
                 out,
                 poisoned<O>(out.elems()),
                 [&](const std::vector<O>& got, const std::string&) {
                   int wrong = 0;
                   for (std::size_t i = 0; i < got.size(); ++i)
                     if (!right(static_cast<double>(rg::Element<O>::widen(got[i])), i)) ++wrong;
                   CHECK(wrong == 0);
                 });
}

}  // namespace support
