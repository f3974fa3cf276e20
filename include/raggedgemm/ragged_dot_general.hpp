// SPDX-License-Identifier: Apache-2.0
// ragged_dot_general: any ranks and dimension numbers of the three variants, by strides, without a
// transposing copy. What JAX and XLA call ragged_dot_general, with per-prefix groups.
#pragma once

#include "raggedgemm/problem/canonicalise.hpp"
#include "raggedgemm/ragged_dot.hpp"

namespace raggedgemm {
/// A general call in canonical form; its variant V is what the dimension numbers mean.
template <Variant V, class L, int LRank, class R, int RRank, class O, int ORank>
auto describe_general(const View<L, LRank>& lhs,
                      const View<R, RRank>& rhs,
                      const GroupTensor& groups,
                      const View<O, ORank>& out,
                      const DimensionNumbers& dims,
                      const Options& options = {}) {
  Call<V, std::remove_const_t<L>, std::remove_const_t<R>, O> call;
  const Result<Problem> problem =
      canonicalise(tensor(lhs), tensor(rhs), groups, mutable_tensor(out), dims, options);
  call.status = problem.status();
  if (!problem.ok()) return call;
  call.problem = problem.value();
  call.pointers = {lhs.data, rhs.data, out.data, groups.groups};
  call.pointers.groups.count = call.problem.group_count;
  detail::set_types(call);
  complete(call.problem, call.pointers, options);
  return call;
}

inline namespace RG_PLATFORM {

/// The general ragged dot. For a prefix index p with offsets s_g = Σ_{h<g} size[p, h]:
///
///     non-contracting  out[b, m, n] = Σ_k lhs[b, m, k] · rhs[g, b, k, n], s_g ≤ m_ragged < s_g +
///     size contracting      out[g, b, m, n] = Σ_{k_outer, k_inner} Σ_{k in group g} lhs · rhs
///     batch            out[b, m, n] = Σ_k lhs[b, m, k] · rhs[b, k, n], b_ragged < Σ_g size
///
/// Shapes: views of any rank up to 8 and any strides; result dimensions in the order that
/// DimensionNumbers states; groups [g] or [prefix…, g]. Every gradient is such a call, too.
/// Errors: the twelve shape conditions, each a Status of its own; those of ragged_dot().
/// Cost: as ragged_dot(); dimensions that cannot be merged are walked by the general kernels,
/// which explain() says.
template <class L, int LRank, class R, int RRank, class O, int ORank, class E = Identity>
Status ragged_dot_general(const View<L, LRank>& lhs,
                          const View<R, RRank>& rhs,
                          const GroupTensor& groups,
                          const View<O, ORank>& out,
                          const DimensionNumbers& dims,
                          const Options& options = {},
                          const E& epilogue = {}) noexcept {
  // The variant is known from here on; a wrong list is refused by any of the three.
  const Variant variant =
      dims.lhs_ragged.count == 1 ? detail::variant_of(dims) : Variant::non_contracting;
  switch (variant) {
    case Variant::non_contracting:
      return run(describe_general<Variant::non_contracting>(lhs, rhs, groups, out, dims, options),
                 options,
                 epilogue);
    case Variant::contracting:
      return run(describe_general<Variant::contracting>(lhs, rhs, groups, out, dims, options),
                 options,
                 epilogue);
    case Variant::batch:
      return run(describe_general<Variant::batch>(lhs, rhs, groups, out, dims, options),
                 options,
                 epilogue);
  }
  return {};
}

}  // namespace RG_PLATFORM
}  // namespace raggedgemm
