// SPDX-License-Identifier: Apache-2.0
// expect: out must be a float where lhs or rhs is one

#include <cstdint>

#include "raggedgemm/ragged_dot.hpp"

float x[1];
std::int8_t y[1];
int sizes[1];
auto call = raggedgemm::describe(raggedgemm::view(x, 1, 1),
                                 raggedgemm::view(x, 1, 1, 1),
                                 raggedgemm::GroupSizes(sizes, 1),
                                 raggedgemm::view(y, 1, 1));
