// SPDX-License-Identifier: Apache-2.0
// expect: element type must be float, double

#include "raggedgemm/ragged_dot.hpp"

long double x[1];
int sizes[1];
auto call = raggedgemm::describe(raggedgemm::view(x, 1, 1),
                                 raggedgemm::view(x, 1, 1, 1),
                                 raggedgemm::GroupSizes(sizes, 1),
                                 raggedgemm::view(x, 1, 1));
