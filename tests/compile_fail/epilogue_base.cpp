// SPDX-License-Identifier: Apache-2.0
// expect: an epilogue must derive from raggedgemm::Epilogue

#include "raggedgemm/ragged_dot.hpp"

struct Plain {};  // not derived from Epilogue
float x[1];
int sizes[1];
auto call = raggedgemm::describe(raggedgemm::view(x, 1, 1),
                                 raggedgemm::view(x, 1, 1, 1),
                                 raggedgemm::GroupSizes(sizes, 1),
                                 raggedgemm::view(x, 1, 1));
auto status = raggedgemm::run(call, {}, Plain{});
