// SPDX-License-Identifier: Apache-2.0
// Runs calls with the workspace that their plan wants: exactly as many bytes, poisoned, between
// guards.
#pragma once

#include <memory>

#include "raggedgemm/ragged_dot.hpp"
#include "support/device_array.hpp"

namespace support {

/// The workspace of one plan.
class Workspace {
 public:
  explicit Workspace(const raggedgemm::Plan& plan) {
    bytes_ = raggedgemm::workspace_bytes(plan);
    if (bytes_ > 0)
      memory_ = std::make_unique<DeviceArray<unsigned char>>(static_cast<std::size_t>(bytes_));
  }

  [[nodiscard]] void* data() const { return memory_ != nullptr ? memory_->data() : nullptr; }
  [[nodiscard]] std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] bool guards_intact() { return memory_ == nullptr || memory_->guards_intact(); }

 private:
  std::int64_t bytes_ = 0;
  std::unique_ptr<DeviceArray<unsigned char>> memory_;
};

/// run(call, options, epilogue) with the workspace of its plan. A call that needs some is through
/// when this returns.
template <class Call, class E = raggedgemm::Identity>
raggedgemm::Status run_with_workspace(const Call& call,
                                      raggedgemm::Options options,
                                      const E& epilogue = {}) {
  const raggedgemm::Result<raggedgemm::Plan> plan = raggedgemm::make_plan<E>(call, options);
  if (!plan.ok()) return plan.status();
  Workspace workspace(plan.value());
  if (workspace.bytes() == 0) return raggedgemm::run(call, options, epilogue);
  Call with = call;
  with.pointers.workspace = workspace.data();
  options.workspace = workspace.data();
  options.workspace_bytes = workspace.bytes();
  const raggedgemm::Status status = raggedgemm::run(with, options, epilogue);
  if (!status.ok()) return status;
  const raggedgemm::Status done = runtime::synchronize();
  CHECK(workspace.guards_intact());
  return done;
}

}  // namespace support
