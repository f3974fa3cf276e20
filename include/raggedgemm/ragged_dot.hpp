// SPDX-License-Identifier: Apache-2.0
// The calls: ragged_dot, ragged_dot_contracting, ragged_dot_batch, and their plans.
// Header-only by default; with raggedgemm::compiled linked (RAGGEDGEMM_COMPILED), calls without a
// custom epilogue go to that library and no kernel body is compiled here.
#pragma once

#include <type_traits>

#include "raggedgemm/epilogue/transform.hpp"
#include "raggedgemm/numeric/types_of.hpp"
#include "raggedgemm/plan/plan.hpp"
#include "raggedgemm/plan/select.hpp"
#include "raggedgemm/problem/extent_checks.hpp"
#include "raggedgemm/problem/group_sizes.hpp"
#include "raggedgemm/problem/options.hpp"
#include "raggedgemm/problem/problem.hpp"
#include "raggedgemm/problem/view.hpp"

#if defined(RAGGEDGEMM_COMPILED)
#include "raggedgemm/dispatch/compiled.hpp"
#else
#include "raggedgemm/dispatch/launch.hpp"
#endif

namespace raggedgemm {

namespace detail {

template <class T, int Rank, class Pointer>
BasicTensor<Pointer> tensor_of(const View<T, Rank>& view, Pointer data) noexcept {
  static_assert(Rank <= max_rank, "views of a general ragged dot have a rank of at most 8");
  BasicTensor<Pointer> tensor;
  tensor.data = data;
  tensor.dtype = dtype_of<T>;
  tensor.rank = Rank;
  for (int d = 0; d < Rank; ++d) {
    tensor.extent[d] = view.extent[static_cast<std::size_t>(d)];
    tensor.stride[d] = view.stride[static_cast<std::size_t>(d)];
  }
  return tensor;
}

}  // namespace detail

/// A view as a tensor of run-time rank.
template <class T, int Rank>
Tensor tensor(const View<T, Rank>& view) noexcept {
  return detail::tensor_of(view, static_cast<const void*>(view.data));
}
template <class T, int Rank>
MutableTensor mutable_tensor(const View<T, Rank>& view) noexcept {
  return detail::tensor_of(view, static_cast<void*>(view.data));
}

/// A call in canonical form: the problem and the pointers. Made by describe().
template <Variant V, class Lhs, class Rhs, class Out>
struct Call {
  Problem problem;
  Pointers pointers;
  Status status;  ///< what is wrong with the operands, if anything
};

namespace detail {

/// Strides and checks of options.c for an output view.
template <class O, int Rank>
Status describe_c(Strides& c, const View<O, Rank>& out, const Options& options) {
  if (options.c.data == nullptr) return {};
  if (options.c.rank != Rank || options.c.dtype != dtype_of<O>)
    return {StatusCode::extent_mismatch,
            "options.c rank",
            options.c.rank,
            Rank,
            "c needs the output's dtype and rank"};
  for (int d = 0; d < Rank; ++d)
    if (options.c.extent[d] != out.extent[static_cast<std::size_t>(d)])
      return {StatusCode::extent_mismatch,
              "options.c extent",
              options.c.extent[d],
              out.extent[static_cast<std::size_t>(d)],
              "c needs the output's extents"};
  c = {Rank == 3 ? options.c.stride[0] : 0, options.c.stride[Rank - 2], options.c.stride[Rank - 1]};
  return {};
}

template <Variant V, class Lhs, class Rhs, class Out>
void set_types(Call<V, Lhs, Rhs, Out>& call) {
  static_cast<void>(Types<Lhs, Rhs, Out>{});  // checks the combination
  call.problem.variant = V;
  call.problem.lhs_dtype = dtype_of<Lhs>;
  call.problem.rhs_dtype = dtype_of<Rhs>;
  call.problem.out_dtype = dtype_of<Out>;
}

}  // namespace detail

/// lhs [m, k] · rhs [g, k, n] → out [m, n], rows ragged.
template <class L, class R, class O>
auto describe(const View<L, 2>& lhs,
              const View<R, 3>& rhs,
              const Groups& groups,
              const View<O, 2>& out,
              const Options& options = {}) {
  Call<Variant::non_contracting, std::remove_const_t<L>, std::remove_const_t<R>, O> call;
  Problem& p = call.problem;
  p.rows = detail::ragged_extent_of(lhs.extent[0], out.extent[0], options);
  p.lhs_extent = lhs.extent[0];
  p.out_extent = out.extent[0];
  p.depth = lhs.extent[1];
  p.cols = rhs.extent[2];
  p.slabs = rhs.extent[0];
  p.a = {0, lhs.stride[0], lhs.stride[1]};
  p.b = {rhs.stride[0], rhs.stride[1], rhs.stride[2]};
  p.d = {0, out.stride[0], out.stride[1]};
  call.pointers = {lhs.data, rhs.data, out.data, groups};
  call.status = detail::first_error(
      detail::same_extent("rhs.k", rhs.extent[1], lhs.extent[1], "must equal lhs.k"),
      detail::check_ragged_extent(p.rows, options),
      detail::check_out_rows("out.m", out.extent[0], p.rows, "must equal lhs.m", options),
      detail::same_extent("out.n", out.extent[1], rhs.extent[2], "must equal rhs.n"),
      detail::check_groups(groups, rhs.extent[0], options),
      detail::describe_c(p.c, out, options));
  detail::set_types(call);
  complete(p, call.pointers, options);
  return call;
}

/// lhs [m, k], rhs [m, n] → out [g, k, n], reduction ragged.
template <class L, class R, class O>
auto describe_contracting(const View<L, 2>& lhs,
                          const View<R, 2>& rhs,
                          const Groups& groups,
                          const View<O, 3>& out,
                          const Options& options = {}) {
  Call<Variant::contracting, std::remove_const_t<L>, std::remove_const_t<R>, O> call;
  Problem& p = call.problem;
  p.depth = detail::ragged_extent_of(lhs.extent[0], rhs.extent[0], options);
  p.lhs_extent = lhs.extent[0];
  p.out_extent = out.extent[1];
  p.rows = lhs.extent[1];
  p.cols = rhs.extent[1];
  p.slabs = out.extent[0];
  p.a = {0, lhs.stride[1], lhs.stride[0]};
  p.b = {0, rhs.stride[0], rhs.stride[1]};
  p.d = {out.stride[0], out.stride[1], out.stride[2]};
  call.pointers = {lhs.data, rhs.data, out.data, groups};
  call.status = detail::first_error(
      detail::check_ragged_extent(p.depth, options),
      detail::same_extent("rhs.m", rhs.extent[0], p.depth, "must equal lhs.m"),
      detail::check_out_rows("out.k", out.extent[1], lhs.extent[1], "must equal lhs.k", options),
      detail::same_extent("out.n", out.extent[2], rhs.extent[1], "must equal rhs.n"),
      detail::check_groups(groups, out.extent[0], options),
      detail::describe_c(p.c, out, options));
  detail::set_types(call);
  complete(p, call.pointers, options);
  return call;
}

/// lhs [b, m, k] · rhs [b, k, n] → out [b, m, n]; batches past the sum of the sizes are dead.
template <class L, class R, class O>
auto describe_batch(const View<L, 3>& lhs,
                    const View<R, 3>& rhs,
                    const Groups& groups,
                    const View<O, 3>& out,
                    const Options& options = {}) {
  Call<Variant::batch, std::remove_const_t<L>, std::remove_const_t<R>, O> call;
  Problem& p = call.problem;
  p.slabs = detail::ragged_extent_of(lhs.extent[0], rhs.extent[0], options);
  p.lhs_extent = lhs.extent[0];
  p.out_extent = out.extent[1];
  p.rows = lhs.extent[1];
  p.depth = lhs.extent[2];
  p.cols = rhs.extent[2];
  p.a = {lhs.stride[0], lhs.stride[1], lhs.stride[2]};
  p.b = {rhs.stride[0], rhs.stride[1], rhs.stride[2]};
  p.d = {out.stride[0], out.stride[1], out.stride[2]};
  call.pointers = {lhs.data, rhs.data, out.data, groups};
  call.status = detail::first_error(
      detail::check_ragged_extent(p.slabs, options),
      detail::same_extent("rhs.b", rhs.extent[0], p.slabs, "must equal lhs.b"),
      detail::same_extent("rhs.k", rhs.extent[1], lhs.extent[2], "must equal lhs.k"),
      detail::same_extent("out.b", out.extent[0], p.slabs, "must equal lhs.b"),
      detail::check_out_rows("out.m", out.extent[1], lhs.extent[1], "must equal lhs.m", options),
      detail::same_extent("out.n", out.extent[2], rhs.extent[2], "must equal rhs.n"),
      detail::describe_c(p.c, out, options));
  detail::set_types(call);
  complete(p, call.pointers, options);
  return call;
}

inline namespace RG_PLATFORM {

namespace kernel_sets {

#if defined(RAGGEDGEMM_COMPILED)

/// The kernels of raggedgemm::compiled.
template <Platform Where, class E, Variant V, class Lhs, class Rhs, class Out>
KernelSet kernels_on(const Call<V, Lhs, Rhs, Out>&) noexcept {
  static_assert(std::is_same_v<E, Identity>,
                "a source that links raggedgemm::compiled has no kernel bodies for a custom "
                "epilogue; it must link raggedgemm::raggedgemm");
  return compiled::kernels(Where, V, dtype_of<Lhs>, dtype_of<Rhs>, dtype_of<Out>);
}

inline Platform default_platform() noexcept { return compiled::default_platform(); }

#else

/// The kernels that this source instantiates: the core rows.
template <Platform Where, class E, Variant V, class Lhs, class Rhs, class Out>
KernelSet kernels_on(const Call<V, Lhs, Rhs, Out>&) noexcept {
  return dispatch::kernels<Where, dispatch::variant_type<V>, Types<Lhs, Rhs, Out>, E, false>();
}

inline Platform default_platform() noexcept { return runtime::native::platform; }

#endif

/// The kernels that may run a call, for the platform the options ask for.
template <class E, Variant V, class Lhs, class Rhs, class Out>
KernelSet kernels_for(const Call<V, Lhs, Rhs, Out>& call, const Options& options) noexcept {
  const Platform where =
      options.platform == Platform::automatic ? default_platform() : options.platform;
  if (where == Platform::host) return kernels_on<Platform::host, E>(call);
#if defined(RAGGEDGEMM_COMPILED)
  if (where == Platform::cuda) return kernels_on<Platform::cuda, E>(call);
  if (where == Platform::hip) return kernels_on<Platform::hip, E>(call);
#else
  if constexpr (runtime::has_gpu_platform) {
    if (where == runtime::native::platform) return kernels_on<runtime::native::platform, E>(call);
  }
#endif
  KernelSet none;
  none.platform = where;
  none.variant = V;
  none.lhs_dtype = dtype_of<Lhs>;
  none.rhs_dtype = dtype_of<Rhs>;
  none.out_dtype = dtype_of<Out>;
  return none;
}

}  // namespace kernel_sets

/// Chooses kernel, grid and tile order for a described call. The plan holds no pointer and may be
/// used again with any operands of the same problem, at least as aligned.
///
/// `E` is the type of the epilogue that calls of this plan will pass.
/// Errors: what describe() found; those of make_plan(problem, options, set) in plan/select.hpp.
/// Cost: no device work; kernel attributes are asked once a device.
template <class E = Identity, Variant V, class Lhs, class Rhs, class Out>
Result<Plan> make_plan(const Call<V, Lhs, Rhs, Out>& call, const Options& options = {}) noexcept {
  if (!call.status.ok()) return call.status;
  return make_plan(call.problem, options, kernel_sets::kernels_for<E>(call, options));
}

/// Plans, binds and enqueues a described call.
template <Variant V, class Lhs, class Rhs, class Out, class E = Identity>
Status run(const Call<V, Lhs, Rhs, Out>& call,
           const Options& options = {},
           const E& epilogue = {}) noexcept {
  static_assert(std::is_base_of_v<Epilogue, E> && std::is_trivially_copyable_v<E>,
                "an epilogue must derive from raggedgemm::Epilogue and be trivially copyable; wrap "
                "a functor in elementwise()");
  const Result<Plan> plan = make_plan<E>(call, options);
  if (!plan.ok()) return plan.status();
  if (const Status status = check_workspace(plan.value(), options); !status.ok()) return status;
  const Result<BoundCall> bound = bind(plan.value(), call.pointers);
  if (!bound.ok()) return bound.status();
  return run(bound.value(), &epilogue, options.stream);
}

/// Why a call runs as it does, or which check it fails, in a few lines for people.
template <class E = Identity, Variant V, class Lhs, class Rhs, class Out>
std::string explain(const Call<V, Lhs, Rhs, Out>& call, const Options& options = {}) {
  const Result<Plan> plan = make_plan<E>(call, options);
  if (!plan.ok()) return plan.status().message();
  return explain(plan.value(), kernel_sets::kernels_for<E>(call, options));
}

/// out[m, n] = Σ_k lhs[m, k] · rhs[g(m), k, n], rows ragged: group g holds the rows
/// [Σ_{h<g} size_h, Σ_{h≤g} size_h).
///
/// Shapes: lhs [m, k], rhs [g, k, n], groups [g] (GroupSizes, GroupEndOffsets) or [g + 1]
/// (GroupOffsets), out [m, n]; device memory, any strides and alignment.
/// Guarantees: products are exact, sums f32 in a fixed order (bitwise repeatable), one rounding.
/// Rows in no group are as options.tail says (default: +0.0). Sizes may be anything: negative
/// counts as 0, ranges are cut at m. A row depends on its own lhs row and group only (where a
/// workspace lets the depth be cut, its rounding on other groups' sizes, too: options.whole_depth).
/// out must not overlap an input. Errors: those of describe(), make_plan() and bind().
/// Cost: one launch; no allocation, no host synchronisation, graph-capturable.
template <class L, class R, class O>
Status ragged_dot(const View<L, 2>& lhs,
                  const View<R, 3>& rhs,
                  const Groups& groups,
                  const View<O, 2>& out,
                  const Options& options = {}) noexcept {
  return run(describe(lhs, rhs, groups, out, options), options);
}

/// The same with an epilogue: out = epilogue(alpha · product + beta · out), on f32 values.
template <class L, class R, class O, class E>
requires std::is_base_of_v<Epilogue, E> Status ragged_dot(const View<L, 2>& lhs,
                                                          const View<R, 3>& rhs,
                                                          const Groups& groups,
                                                          const View<O, 2>& out,
                                                          const E& epilogue,
                                                          const Options& options = {})
noexcept { return run(describe(lhs, rhs, groups, out, options), options, epilogue); }

/// out[g, k, n] = Σ_{m in group g} lhs[m, k] · rhs[m, n], reduction ragged (the weight gradient).
///
/// Shapes: lhs [m, k], rhs [m, n], groups as in ragged_dot, out [g, k, n]; device memory, any
/// strides. Guarantees: every slab is written, an empty group's with +0.0 (beta · out for beta
/// != 0); rows past the sum take part in nothing, NaN in them included. Otherwise as ragged_dot.
template <class L, class R, class O>
Status ragged_dot_contracting(const View<L, 2>& lhs,
                              const View<R, 2>& rhs,
                              const Groups& groups,
                              const View<O, 3>& out,
                              const Options& options = {}) noexcept {
  return run(describe_contracting(lhs, rhs, groups, out, options), options);
}

/// The same with an epilogue.
template <class L, class R, class O, class E>
requires std::is_base_of_v<Epilogue, E> Status ragged_dot_contracting(const View<L, 2>& lhs,
                                                                      const View<R, 2>& rhs,
                                                                      const Groups& groups,
                                                                      const View<O, 3>& out,
                                                                      const E& epilogue,
                                                                      const Options& options = {})
noexcept { return run(describe_contracting(lhs, rhs, groups, out, options), options, epilogue); }

/// out[b, m, n] = Σ_k lhs[b, m, k] · rhs[b, k, n] for b < Σ sizes; batches past the sum are as
/// options.tail says. `Groups{}` (no sizes) makes every batch live.
///
/// Shapes: lhs [b, m, k], rhs [b, k, n], out [b, m, n]; device memory, any strides (0: an operand
/// shared by all batches). Otherwise as ragged_dot.
template <class L, class R, class O>
Status ragged_dot_batch(const View<L, 3>& lhs,
                        const View<R, 3>& rhs,
                        const Groups& groups,
                        const View<O, 3>& out,
                        const Options& options = {}) noexcept {
  return run(describe_batch(lhs, rhs, groups, out, options), options);
}

/// The same with an epilogue.
template <class L, class R, class O, class E>
requires std::is_base_of_v<Epilogue, E> Status ragged_dot_batch(const View<L, 3>& lhs,
                                                                const View<R, 3>& rhs,
                                                                const Groups& groups,
                                                                const View<O, 3>& out,
                                                                const E& epilogue,
                                                                const Options& options = {})
noexcept { return run(describe_batch(lhs, rhs, groups, out, options), options, epilogue); }

}  // namespace RG_PLATFORM
}  // namespace raggedgemm
