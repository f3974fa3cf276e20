// SPDX-License-Identifier: Apache-2.0
// expect: has no kernel bodies for a custom epilogue

#define RAGGEDGEMM_COMPILED  // as linking raggedgemm::compiled does
#include "raggedgemm/raggedgemm.hpp"

float x[1];
int sizes[1];
auto status = raggedgemm::ragged_dot(raggedgemm::view(x, 1, 1),
                                     raggedgemm::view(x, 1, 1, 1),
                                     raggedgemm::GroupSizes(sizes, 1),
                                     raggedgemm::view(x, 1, 1),
                                     raggedgemm::relu());
