// SPDX-License-Identifier: Apache-2.0
// expect: and be trivially copyable; wrap a functor in elementwise

#include <string>

#include "raggedgemm/ragged_dot.hpp"

struct WithString : raggedgemm::Identity {
  std::string name;  // cannot travel as a kernel parameter
};
float x[1];
int sizes[1];
auto call = raggedgemm::describe(raggedgemm::view(x, 1, 1),
                                 raggedgemm::view(x, 1, 1, 1),
                                 raggedgemm::GroupSizes(sizes, 1),
                                 raggedgemm::view(x, 1, 1));
auto status = raggedgemm::run(call, {}, WithString{});
