// SPDX-License-Identifier: Apache-2.0
// expect: views of a general ragged dot have a rank of at most 8

#include "raggedgemm/ragged_dot_general.hpp"

float x[1];
auto tensor = raggedgemm::tensor(raggedgemm::view(x, 1, 1, 1, 1, 1, 1, 1, 1, 1));
