// SPDX-License-Identifier: Apache-2.0
// expect: bit_as needs two types of the same size

#include "raggedgemm/base/bit_cast.hpp"

auto x = raggedgemm::bit_as<double>(1.0F);
