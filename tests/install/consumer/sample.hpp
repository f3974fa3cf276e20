// SPDX-License-Identifier: Apache-2.0
// One call, made by every source of the user's programs.
#pragma once

#include <raggedgemm/raggedgemm.hpp>

#include <vector>

namespace user {

/// What the sources of a program say.
std::vector<float> first_result();
std::vector<float> second_result();
std::vector<float> cu_result();
raggedgemm::StatusCode first_cuda_status();
raggedgemm::StatusCode cu_cuda_status();

namespace {

/// Groups of 2, 0 and 3 rows of 6; the last row is tail.
inline raggedgemm::Status sample(std::vector<float>& out, raggedgemm::Platform platform) {
  namespace rg = raggedgemm;
  std::vector<float> lhs;
  std::vector<float> rhs;
  for (int i = 0; i < 6 * 4; ++i) lhs.push_back(static_cast<float>(i % 5));
  for (int i = 0; i < 3 * 4 * 7; ++i) rhs.push_back(static_cast<float>(i % 3));
  const int sizes[] = {2, 0, 3};
  out.assign(6 * 7, -1.0F);
  return rg::ragged_dot(rg::view(lhs.data(), 6, 4),
                        rg::view(rhs.data(), 3, 4, 7),
                        rg::GroupSizes(sizes, 3),
                        rg::view(out.data(), 6, 7),
                        {.platform = platform});
}

inline std::vector<float> host_result() {
  std::vector<float> out;
  if (!sample(out, raggedgemm::Platform::host).ok()) out.clear();
  return out;
}

}  // namespace
}  // namespace user
