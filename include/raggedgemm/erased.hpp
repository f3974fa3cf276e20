// SPDX-License-Identifier: Apache-2.0
// The type-erased call: dtypes, ranks and dimension numbers known at run time only, as foreign
// function interfaces have them. Over raggedgemm::compiled; compiles no kernel.
#pragma once

#include <string>

#include "raggedgemm/dispatch/compiled.hpp"
#include "raggedgemm/epilogue/transform.hpp"
#include "raggedgemm/plan/plan.hpp"
#include "raggedgemm/plan/select.hpp"
#include "raggedgemm/problem/canonicalise.hpp"

namespace raggedgemm::erased {

/// A call in canonical form.
struct Call {
  Problem problem;
  Pointers pointers;
};

/// Errors: the twelve shape conditions and those of canonicalise().
inline Result<Call> describe(const Tensor& lhs,
                             const Tensor& rhs,
                             const GroupTensor& groups,
                             const MutableTensor& out,
                             const DimensionNumbers& dims,
                             const Options& options = {}) noexcept {
  const Result<Problem> problem = canonicalise(lhs, rhs, groups, out, dims, options);
  if (!problem.ok()) return problem.status();
  Call call;
  call.problem = problem.value();
  call.pointers = {lhs.data, rhs.data, out.data, groups.groups};
  call.pointers.groups.count = call.problem.group_count;
  complete(call.problem, call.pointers, options);
  return call;
}

/// The kernels of raggedgemm::compiled that may run a problem.
inline KernelSet kernels_for(const Problem& p, const Options& options) noexcept {
  const Platform where =
      options.platform == Platform::automatic ? compiled::default_platform() : options.platform;
  return compiled::kernels(where, p.variant, p.lhs_dtype, p.rhs_dtype, p.out_dtype);
}

/// As raggedgemm::make_plan, for a described call.
inline Result<Plan> make_plan(const Call& call, const Options& options = {}) noexcept {
  return raggedgemm::make_plan(call.problem, options, kernels_for(call.problem, options));
}

/// Plans, binds and enqueues a described call, without a custom epilogue.
/// Errors: those of make_plan() and bind(), workspace_too_small.
inline Status run(const Call& call, const Options& options = {}) noexcept {
  const Result<Plan> plan = make_plan(call, options);
  if (!plan.ok()) return plan.status();
  if (const Status status = check_workspace(plan.value(), options); !status.ok()) return status;
  const Result<BoundCall> bound = bind(plan.value(), call.pointers);
  if (!bound.ok()) return bound.status();
  const Identity identity;
  return raggedgemm::run(bound.value(), &identity, options.stream);
}

/// Describes and runs a general ragged dot.
inline Status ragged_dot_general(const Tensor& lhs,
                                 const Tensor& rhs,
                                 const GroupTensor& groups,
                                 const MutableTensor& out,
                                 const DimensionNumbers& dims,
                                 const Options& options = {}) noexcept {
  const Result<Call> call = describe(lhs, rhs, groups, out, dims, options);
  return call.ok() ? run(call.value(), options) : call.status();
}

/// Why a call runs as it does, or which check it fails.
inline std::string explain(const Call& call, const Options& options = {}) {
  const Result<Plan> plan = make_plan(call, options);
  if (!plan.ok()) return plan.status().message();
  return raggedgemm::explain(plan.value(), kernels_for(call.problem, options));
}

}  // namespace raggedgemm::erased
