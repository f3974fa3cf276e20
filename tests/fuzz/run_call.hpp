// SPDX-License-Identifier: Apache-2.0
// run_call: builds a Spec, asks the library, and compares every byte that the call could reach with
// the oracle's: the output, its gaps and guards, the inputs, the fault report, the Status.
#pragma once

#include "fuzz/oracle.hpp"
#include "raggedgemm/erased.hpp"
#include "raggedgemm/plan/serialise.hpp"
#include "raggedgemm/ragged_dot_general.hpp"
#include "raggedgemm/raggedgemm.hpp"

namespace fuzz {

/// Adds one more than the slab's number: shows whether tails are transformed.
struct AddSlab : rg::Epilogue {
  template <class T, int Width>
  rg::Chunk<T, Width> transform(rg::Chunk<T, Width> chunk, const rg::OutputPosition& at) const {
    for (int v = 0; v < Width; ++v) chunk[v] += static_cast<T>(1 + at.slab);
    return chunk;
  }
};

template <class T, int Rank>
rg::View<T, Rank> view_of(const rg::Tensor& t) {
  rg::View<T, Rank> view;
  view.data = static_cast<T*>(const_cast<void*>(t.data));
  for (int d = 0; d < Rank; ++d) {
    view.extent[static_cast<std::size_t>(d)] = t.extent[d];
    view.stride[static_cast<std::size_t>(d)] = t.stride[d];
  }
  return view;
}

inline rg::Status bind_and_run(const rg::Result<rg::Plan>& plan,
                               const rg::Pointers& pointers,
                               const rg::KernelSet& kernels,
                               Route route,
                               const void* epilogue) {
  if (!plan.ok()) return plan.status();
  rg::Plan chosen = plan.value();
  if (route == Route::text) {
    const std::string text = rg::to_text(chosen);
    const rg::Result<rg::Plan> read = rg::plan_from_text(text, kernels);
    if (!read.ok()) fail("a plan's text is refused: " + read.status().message() + ": " + text);
    require(rg::to_text(read.value()) == text, "a plan's text changes when it is read");
    chosen = read.value();
  }
  const rg::Result<rg::BoundCall> bound = rg::bind(chosen, pointers);
  if (!bound.ok()) return bound.status();
  return rg::run(bound.value(), epilogue, nullptr);
}

/// A described call, by the route of the spec.
template <class DescribedCall, class E>
rg::Status run_described(const Built& b, const DescribedCall& call, const E& epilogue) {
  if (b.spec.route == Route::explained) (void)rg::explain<E>(call, b.options);
  if (b.spec.route == Route::call || b.spec.route == Route::explained)
    return rg::run(call, b.options, epilogue);
  return bind_and_run(rg::make_plan<E>(call, b.options),
                      call.pointers,
                      rg::kernel_sets::kernels_for<E>(call, b.options),
                      b.spec.route,
                      &epilogue);
}

template <class In, class Out, class E>
rg::Status run_fixed(const Built& b, const E& epilogue) {
  const rg::Groups& groups = b.groups.groups;
  const rg::Options& o = b.options;
  const bool plain = b.spec.route == Route::call && std::is_same_v<E, rg::Identity>;
  switch (b.spec.variant) {
    case Variant::non_contracting: {
      const auto lhs = view_of<const In, 2>(b.lhs.tensor);
      const auto rhs = view_of<const In, 3>(b.rhs.tensor);
      const auto out = view_of<Out, 2>(b.out.tensor);
      if (plain) return rg::ragged_dot(lhs, rhs, groups, out, o);
      return run_described(b, rg::describe(lhs, rhs, groups, out, o), epilogue);
    }
    case Variant::contracting: {
      const auto lhs = view_of<const In, 2>(b.lhs.tensor);
      const auto rhs = view_of<const In, 2>(b.rhs.tensor);
      const auto out = view_of<Out, 3>(b.out.tensor);
      if (plain) return rg::ragged_dot_contracting(lhs, rhs, groups, out, o);
      return run_described(b, rg::describe_contracting(lhs, rhs, groups, out, o), epilogue);
    }
    case Variant::batch: break;
  }
  const auto lhs = view_of<const In, 3>(b.lhs.tensor);
  const auto rhs = view_of<const In, 3>(b.rhs.tensor);
  const auto out = view_of<Out, 3>(b.out.tensor);
  if (plain) return rg::ragged_dot_batch(lhs, rhs, groups, out, o);
  return run_described(b, rg::describe_batch(lhs, rhs, groups, out, o), epilogue);
}

inline rg::MutableTensor mutable_out(const Built& b) {
  const rg::Tensor& t = b.out.tensor;
  rg::MutableTensor out{const_cast<void*>(t.data), t.dtype, t.rank, {}, {}};
  std::copy_n(t.extent, rg::max_rank, out.extent);
  std::copy_n(t.stride, rg::max_rank, out.stride);
  return out;
}

/// The general call of views, for the ranks of this program.
template <int LhsRank, int RhsRank, int OutRank>
bool run_general_views(const Built& b, rg::Status& status) {
  if (b.lhs.tensor.rank != LhsRank || b.rhs.tensor.rank != RhsRank || b.out.tensor.rank != OutRank)
    return false;
  status = rg::ragged_dot_general(view_of<const float, LhsRank>(b.lhs.tensor),
                                  view_of<const float, RhsRank>(b.rhs.tensor),
                                  b.groups,
                                  view_of<float, OutRank>(b.out.tensor),
                                  b.dims,
                                  b.options);
  return true;
}

inline rg::Status run_general(const Built& b) {
  rg::Status status;
  if (b.spec.route == Route::call && b.spec.types == Types::f32 && b.spec.salt % 2 == 0 &&
      (run_general_views<2, 3, 2>(b, status) || run_general_views<3, 3, 3>(b, status) ||
       run_general_views<3, 3, 4>(b, status)))
    return status;
  if (b.spec.route == Route::call)
    return rg::erased::ragged_dot_general(
        b.lhs.tensor, b.rhs.tensor, b.groups, mutable_out(b), b.dims, b.options);
  const rg::Result<rg::erased::Call> call =
      rg::erased::describe(b.lhs.tensor, b.rhs.tensor, b.groups, mutable_out(b), b.dims, b.options);
  if (!call.ok()) return call.status();
  if (b.spec.route == Route::explained) {
    (void)rg::erased::explain(call.value(), b.options);
    return rg::erased::run(call.value(), b.options);
  }
  const rg::Identity identity;
  return bind_and_run(rg::erased::make_plan(call.value(), b.options),
                      call.value().pointers,
                      rg::erased::kernels_for(call.value().problem, b.options),
                      b.spec.route,
                      &identity);
}

inline rg::Status run_library(const Built& b) {
  if (b.spec.general) return run_general(b);
  if (b.spec.epilogue) return run_fixed<float, float>(b, AddSlab{});
  switch (b.spec.types) {
    case Types::bf16: return run_fixed<rg::bf16, rg::bf16>(b, rg::Identity{});
    case Types::bf16_to_f32: return run_fixed<rg::bf16, float>(b, rg::Identity{});
    case Types::f32: break;
  }
  return run_fixed<float, float>(b, rg::Identity{});
}

inline void check_status(const rg::Status& status) {
  if (status.ok()) return;
  if (*status.operand() == '\0') fail("a Status without an operand: " + status.message());
  if (std::string(rg::name_of(status.code())) == "unknown") fail("a Status without a name");
}

/// Compares out with what it must be; zeros of either sign are equal where beta adds something.
inline void check_output(const Built& b, const std::vector<unsigned char>& expected) {
  const unsigned char* const got = b.out.memory.data();
  if (expected.empty() || std::memcmp(got, expected.data(), expected.size()) == 0) return;
  const rg::DType dtype = b.out.tensor.dtype;
  const std::size_t bytes = static_cast<std::size_t>(rg::bytes_of(dtype));
  for (std::size_t at = 0; at < expected.size(); at += bytes) {
    if (std::memcmp(got + at, expected.data() + at, bytes) == 0) continue;
    const double is = value_at(got + at, dtype);
    const double needed = value_at(expected.data() + at, dtype);
    const bool untouched = std::all_of(expected.begin() + static_cast<std::ptrdiff_t>(at),
                                       expected.begin() + static_cast<std::ptrdiff_t>(at + bytes),
                                       [](unsigned char byte) { return byte == 0xFF; });
    if (!untouched && std::isnan(is) && std::isnan(needed)) continue;
    if (b.spec.beta != 0 && is == 0 && needed == 0) continue;
    fail("out at memory position " + std::to_string(at / bytes) + " is " +
         (std::signbit(is) && is == 0 ? "-0" : std::to_string(is)) + ", needed " +
         (untouched ? "untouched" : std::to_string(needed)));
  }
}

inline void check_fault(const Built& b, const Oracle& oracle) {
  if (!b.spec.fault) return;
  rg::Fault got;
  std::memcpy(static_cast<void*>(&got), b.fault.data(), sizeof got);
  const bool written = got.group != -1 || static_cast<std::int32_t>(got.code) != -1;
  if (!written) fail("no fault report");
  if (b.spec.defect == Defect::dims) return;  // the edited call has other rows of groups
  const rg::Fault needed = oracle.fault();
  constexpr std::int64_t saturates = std::int64_t{1} << 62;  // a sum; where is not promised
  const bool same_value =
      got.value == needed.value || (needed.code == rg::FaultCode::sum_exceeds_extent &&
                                    got.value >= saturates && needed.value >= saturates);
  if (got.code != needed.code || got.group != needed.group || !same_value)
    fail("the fault report says code " + std::to_string(static_cast<int>(got.code)) + ", group " +
         std::to_string(got.group) + ", value " + std::to_string(got.value) + "; needed code " +
         std::to_string(static_cast<int>(needed.code)) + ", group " + std::to_string(needed.group) +
         ", value " + std::to_string(needed.value));
}

struct CallCounts {
  std::uint64_t ran = 0;
  std::uint64_t refused = 0;
};
inline CallCounts call_counts;

inline void run_call(const Spec& spec) {
  Built b;
  build(spec, b);
  Oracle oracle(b);
  std::vector<unsigned char> expected;
  if (b.expect == Expect::run) expected = oracle.expected();
  // What a refused call must leave alone.
  const std::vector<unsigned char> out_before = b.out.memory.copy();
  std::vector<std::pair<const Memory*, std::vector<unsigned char>>> inputs;
  const auto keep_inputs = [&] {
    inputs.clear();
    for (const Memory* memory : {&b.lhs.memory,
                                 &b.rhs.memory,
                                 &b.c.memory,
                                 &b.entries,
                                 &b.lhs_index,
                                 &b.out_index,
                                 &b.group_alpha})
      inputs.emplace_back(memory,
                          memory->bytes() > 0 ? memory->copy() : std::vector<unsigned char>());
  };
  bool filled = b.expect == Expect::run;
  if (b.expect == Expect::either) {
    // Whether it is accepted, without running: the inputs get their values only then.
    const bool accepted =
        b.spec.general
            ? rg::erased::describe(
                  b.lhs.tensor, b.rhs.tensor, b.groups, mutable_out(b), b.dims, b.options)
                  .ok()
            : b.out.is_empty();
    if (accepted && b.spec.defect == Defect::dims) {
      expected = oracle.expected();
      filled = true;
    }
  }
  keep_inputs();
  const rg::Status status = run_library(b);
  check_status(status);
  if (b.expect == Expect::refuse && status.ok())
    fail(std::string("a call with the defect ") + defect_names[static_cast<int>(spec.defect)] +
         " was accepted");
  const bool too_many_dims = b.spec.general &&
                             status.code() == rg::StatusCode::unsupported_option &&
                             std::string(status.operand()) == "dimension numbers";
  if (b.expect == Expect::run && !status.ok() && !too_many_dims)
    fail("a good call was refused: " + status.message());
  for (const auto& [memory, before] : inputs)
    if (!before.empty() && std::memcmp(before.data(), memory->data(), before.size()) != 0)
      fail("an input was written");
  if (status.ok()) {
    ++call_counts.ran;
    if (filled) check_output(b, expected);
    check_fault(b, oracle);
  } else {
    ++call_counts.refused;
    if (b.out.memory.copy() != out_before) fail("a refused call wrote to out");
    if (b.spec.fault)
      for (std::size_t i = 0; i < sizeof(rg::Fault); ++i)
        require(b.fault.data()[i] == 0xFF, "a refused call wrote a fault report");
  }
  b.lhs.memory.check_guards("lhs");
  b.rhs.memory.check_guards("rhs");
  b.out.memory.check_guards("out");
  b.c.memory.check_guards("c");
  if (b.spec.fault) b.fault.check_guards("fault");
}

}  // namespace fuzz
