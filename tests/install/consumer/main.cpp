// SPDX-License-Identifier: Apache-2.0
// All sources of the program must give the same, right results, and each the answers of its own
// compiler.
#include <cstdio>

#include "sample.hpp"

int main() {
  namespace rg = raggedgemm;
  std::vector<float> expected(6 * 7, 0.0F);
  const int group_of_row[] = {0, 0, 2, 2, 2};
  for (int m = 0; m < 5; ++m)
    for (int n = 0; n < 7; ++n)
      for (int k = 0; k < 4; ++k)
        expected[static_cast<std::size_t>(m * 7 + n)] +=
            static_cast<float>(((m * 4 + k) % 5) * (((group_of_row[m] * 4 + k) * 7 + n) % 3));
  int wrong = 0;
  const auto check = [&](bool right, const char* what) {
    std::printf("%s: %s\n", what, right ? "right" : "WRONG");
    if (!right) ++wrong;
  };
  check(user::first_result() == expected, "first source");
  check(user::second_result() == expected, "second source");
  check(user::first_cuda_status() == rg::StatusCode::platform_not_compiled,
        "a .cpp has no CUDA kernels of its own");
#if defined(USER_HAS_CU)
  check(user::cu_result() == expected, ".cu source");
  const rg::StatusCode status = user::cu_cuda_status();
  check(status == rg::StatusCode::ok || status == rg::StatusCode::no_device ||
            status == rg::StatusCode::no_kernel,
        "a .cu has CUDA kernels");
  std::printf("the .cu's plan on CUDA: %s\n", rg::name_of(status));
#endif
  return wrong;
}
