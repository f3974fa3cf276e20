// SPDX-License-Identifier: Apache-2.0
// Two groups of two rows, on the CPU.
#include <raggedgemm/raggedgemm.hpp>

#include <cstdio>
#include <vector>

int main() {
  namespace rg = raggedgemm;
  const std::vector<float> lhs = {1, 2, 3, 4};        // [4, 1]
  const std::vector<float> rhs = {1, 2, 3, 4, 5, 6};  // [2, 1, 3]
  const std::vector<int> sizes = {2, 2};
  std::vector<float> out(12);
  const rg::Status status = rg::ragged_dot(rg::view(lhs.data(), 4, 1),
                                           rg::view(rhs.data(), 2, 1, 3),
                                           rg::GroupSizes(sizes.data(), 2),
                                           rg::view(out.data(), 4, 3),
                                           {.platform = rg::Platform::host});
  if (!status.ok()) return std::puts(status.message().c_str()), 1;
  const std::vector<float> expected = {1, 2, 3, 2, 4, 6, 12, 15, 18, 16, 20, 24};
  std::printf("raggedgemm %s: %s\n", rg::version_string, out == expected ? "right" : "wrong");
  return out == expected ? 0 : 1;
}
