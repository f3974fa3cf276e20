// SPDX-License-Identifier: Apache-2.0
// expect: group sizes must be integers of 8 to 64 bits

#include "raggedgemm/problem/group_sizes.hpp"

float sizes[1];
raggedgemm::GroupSizes groups(sizes, 1);
