// SPDX-License-Identifier: Apache-2.0
#include "sample.hpp"

std::vector<float> user::cu_result() { return host_result(); }

// A plan only: the operands are host memory.
raggedgemm::StatusCode user::cu_cuda_status() {
  namespace rg = raggedgemm;
  alignas(16) static float memory[1024];
  static int sizes[3];
  const auto call = rg::describe(rg::view(memory, 6, 4),
                                 rg::view(memory, 3, 4, 7),
                                 rg::GroupSizes(sizes, 3),
                                 rg::view(memory, 6, 7));
  return rg::make_plan(call, {.platform = rg::Platform::cuda}).status().code();
}
