// SPDX-License-Identifier: Apache-2.0
// raggedgemm as plain C functions for run.py, bf16. Selection is the library's own, untuned, with a
// workspace of 32 MiB that all calls share, as cuBLAS has one in torch.
#include <cstdint>
#include <string>

#include "raggedgemm/raggedgemm.hpp"

namespace rg = raggedgemm;

namespace {

/// A bound call (the plan and its tensor maps), and what was chosen.
struct Handle {
  rg::BoundCall bound;
  std::string row;
  std::string why;
};

std::string last_error;

rg::Options options_with_workspace() {
  constexpr std::size_t bytes = std::size_t{32} << 20;
  static void* const memory = [] {
    void* made = nullptr;
    return cudaMalloc(&made, bytes) == cudaSuccess ? made : nullptr;
  }();
  rg::Options options;
  options.workspace = memory;
  options.workspace_bytes = memory != nullptr ? std::int64_t{bytes} : 0;
  return options;
}

template <class Call>
Handle* handle_of(const Call& call, const rg::Options& options) {
  const auto plan = rg::make_plan(call, options);
  if (!plan.ok()) return last_error = plan.status().message(), nullptr;
  const auto bound = rg::bind(plan.value(), call.pointers);
  if (!bound.ok()) return last_error = bound.status().message(), nullptr;
  return new Handle{
      bound.value(), rg::config_row(plan.value().kernel.row).name, rg::explain(call, options)};
}

}  // namespace

extern "C" {

/// variant 0: x[m,c] w[e,c,o] -> out[m,o]; 1: x[m,c] w[e,o,c] -> out[m,o];
/// 2: x[m,c] w[m,o] -> out[e,c,o]. Device pointers; sizes: int32 [e], on the device.
/// Returns null on an error: see rg_error().
void* rg_plan(int variant,
              std::int64_t m,
              std::int64_t c,
              std::int64_t o,
              std::int64_t e,
              const void* x,
              const void* w,
              const void* sizes,
              void* out) {
  const auto lhs = rg::view(static_cast<const rg::bf16*>(x), m, c);
  const auto* rhs = static_cast<const rg::bf16*>(w);
  auto* to = static_cast<rg::bf16*>(out);
  const rg::GroupSizes groups(static_cast<const std::int32_t*>(sizes), e);
  const rg::Options options = options_with_workspace();
  switch (variant) {
    case 0:
      return handle_of(
          rg::describe(lhs, rg::view(rhs, e, c, o), groups, rg::view(to, m, o), options), options);
    case 1:
      return handle_of(
          rg::describe(
              lhs, rg::view(rhs, e, o, c).transposed(), groups, rg::view(to, m, o), options),
          options);
    case 2:
      return handle_of(rg::describe_contracting(
                           lhs, rg::view(rhs, m, o), groups, rg::view(to, e, c, o), options),
                       options);
    default: return last_error = "variant is 0, 1 or 2", nullptr;
  }
}

/// One launch; 0 or an error.
int rg_run(const void* handle, void* stream) {
  const rg::Identity epilogue;
  const rg::Status status = rg::run(static_cast<const Handle*>(handle)->bound, &epilogue, stream);
  if (status.ok()) return 0;
  last_error = status.message();
  return 1;
}

const char* rg_row(const void* handle) { return static_cast<const Handle*>(handle)->row.c_str(); }
const char* rg_explain(const void* handle) {
  return static_cast<const Handle*>(handle)->why.c_str();
}
const char* rg_error() { return last_error.c_str(); }
void rg_free(void* handle) { delete static_cast<Handle*>(handle); }

}  // extern "C"
