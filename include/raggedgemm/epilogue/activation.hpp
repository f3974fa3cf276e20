// SPDX-License-Identifier: Apache-2.0
// Activations: relu, silu and gelu on the f32 accumulator.
#pragma once

#include <cmath>

#include "raggedgemm/epilogue/transform.hpp"

namespace raggedgemm {

/// max(x, 0); NaN stays NaN.
struct Relu {
  template <class T>
  RG_HOST_DEVICE T operator()(T x) const {
    return x < T{0} ? T{0} : x;
  }
};

/// x / (1 + e^-x), also called swish.
struct Silu {
  RG_HOST_DEVICE float operator()(float x) const { return x / (1.0F + expf(-x)); }
};

/// x·Φ(x) with the exact Gaussian integral.
struct Gelu {
  RG_HOST_DEVICE float operator()(float x) const {
    return 0.5F * x * (1.0F + erff(x * 0.70710678118654752F));  // 1 / sqrt(2)
  }
};

constexpr auto relu() { return elementwise(Relu{}); }
constexpr auto silu() { return elementwise(Silu{}); }
constexpr auto gelu() { return elementwise(Gelu{}); }

}  // namespace raggedgemm
