// SPDX-License-Identifier: Apache-2.0
// The smallest use: three experts' weights, ragged rows, on whatever this is compiled for.
// [quick_start]
#include <raggedgemm/raggedgemm.hpp>

#include <cstdio>
#include <vector>

int main() {
  namespace rg = raggedgemm;
  const int m = 6, k = 4, n = 3, g = 3;
  std::vector<float> tokens(m * k, 1.0F);       // lhs [m, k]
  std::vector<float> weights(g * k * n, 0.5F);  // rhs [g, k, n]
  std::vector<int> sizes = {4, 0, 1};           // rows of each group; row 5 belongs to none
  std::vector<float> out(m * n, -1.0F);         // out [m, n]

  const rg::Status status = rg::ragged_dot(rg::view(tokens.data(), m, k),
                                           rg::view(weights.data(), g, k, n),
                                           rg::GroupSizes(sizes.data(), g),
                                           rg::view(out.data(), m, n),
                                           {.platform = rg::Platform::host});
  if (!status.ok()) return std::puts(status.message().c_str()), 1;
  std::printf("row 4: %g, row 5: %g\n", out[4 * n], out[5 * n]);  // row 4: 2, row 5: 0
}
// [quick_start]
