// SPDX-License-Identifier: Apache-2.0
// native: the library's own call, ragged_dot or ragged_dot_contracting, as a user writes it.
// Every run plans, binds and launches; the plan of prepare() is only looked at.
#include "backends/backend.hpp"
#include "dtypes.hpp"
#include "raggedgemm/raggedgemm.hpp"
#include "text.hpp"

namespace raggedgemm::bench {

namespace {

/// visit(call) with the described call of a workload.
template <class T, class Visit>
auto visit_typed(const Workload& w, const Operands& operands, const Options& options, Visit visit) {
  const Multiply& p = w.multiply;
  const T* const lhs = static_cast<const T*>(operands.lhs.data());
  const T* const rhs = static_cast<const T*>(operands.rhs.data());
  T* const out = static_cast<T*>(operands.out.data());
  const GroupSizes groups(static_cast<const std::int32_t*>(operands.sizes.data()), p.g);
  if (p.form == Form::tn)
    return visit(describe_contracting(
        view(lhs, p.m, p.c), view(rhs, p.m, p.o), groups, view(out, p.g, p.c, p.o), options));
  const auto weights =
      p.form == Form::nn ? view(rhs, p.g, p.c, p.o) : view(rhs, p.g, p.o, p.c).transposed();
  return visit(describe(view(lhs, p.m, p.c), weights, groups, view(out, p.m, p.o), options));
}

template <class Visit>
auto visit_call(const Workload& w, const Operands& operands, const Options& options, Visit visit) {
  return visit_dtype(
      w.dtype, [&](auto type) { return visit_typed<decltype(type)>(w, operands, options, visit); });
}

class Native final : public Backend {
 public:
  explicit Native(index_t config_row) { options_.config_row = config_row; }

  Prepared prepare(const Workload& workload, const Operands& operands) override {
    Prepared prepared;
    const Result<Plan> plan = visit_call(
        workload, operands, options_, [&](const auto& call) { return make_plan(call, options_); });
    if (!plan.ok()) {
      prepared.state = Prepared::State::not_available;
      prepared.note = plan.status().message();
      return prepared;
    }
    const ConfigRow& row = config_row(plan.value().kernel.row);
    prepared.row = plan.value().kernel.row;
    prepared.note = row.name;
    prepared.engine = raggedgemm::name_of(row.config.engine);
    prepared.extra_bytes = static_cast<double>(workspace_bytes(plan.value()));
    if (prepared.extra_bytes > 0) {
      workspace_ = Buffer::make(prepared.extra_bytes);
      if (!workspace_) {
        prepared.state = Prepared::State::out_of_memory;
        return prepared;
      }
      options_.workspace = workspace_.data();
      options_.workspace_bytes = workspace_.bytes();
    }
    return prepared;
  }

  Status run(const Workload& workload, const Operands& operands) override {
    return visit_call(workload, operands, options_, [&](const auto& call) {
      return raggedgemm::run(call, options_);
    });
  }

 private:
  Options options_;
  Buffer workspace_;
};

}  // namespace

std::unique_ptr<Backend> make_native(index_t config_row) {
  return std::make_unique<Native>(config_row);
}

}  // namespace raggedgemm::bench
