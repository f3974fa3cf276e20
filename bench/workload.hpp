// SPDX-License-Identifier: Apache-2.0
// Workload: one product to measure: class, shape, element type and group sizes; and its operands.
// What useful work, bytes and floor mean is defined here.
#pragma once

#include <string>
#include <vector>

#include "buffer.hpp"
#include "raggedgemm/problem/dtype.hpp"
#include "shapes.hpp"

namespace raggedgemm::bench {

struct Workload {
  OpClass op = OpClass::fwd_wi;
  Shape shape;
  DType dtype = DType::f32;
  std::string sizes_name;
  std::vector<std::int32_t> sizes;  ///< of each group
  std::uint64_t seed = 0;

  // Derived by complete():
  Multiply multiply;
  std::vector<std::int64_t> offsets;  ///< first row of each group, and the sum: G + 1
  offset_t sum = 0;                   ///< rows in groups
  offset_t largest = 0;               ///< size of the largest group
  offset_t non_empty = 0;             ///< groups with rows

  void complete();

  /// Multiply-adds times two of the rows in groups.
  [[nodiscard]] double useful_flops() const;
  /// Operands and output once each; weights of non-empty groups only; outputs whole.
  [[nodiscard]] double useful_bytes() const;
  [[nodiscard]] double out_bytes() const;
  /// "fwd_wi/dtype:bf16/m:3840/k:2048/n:1408/g:64/sizes:balanced"
  [[nodiscard]] std::string name() const;
};

/// Device memory of a workload.
///
/// Element i of lhs is random_element(seed, i), of rhs random_element(seed + 1, i): the check knows
/// every input without reading it back.
struct Operands {
  Buffer lhs;
  Buffer rhs;
  Buffer out;
  Buffer sizes;    ///< [G] int32
  Buffer offsets;  ///< [G + 1] int64

  /// Allocates and fills. False if it does not fit.
  static bool make(const Workload& workload, Operands& operands);
};

/// Uniform in [-1, 1), a multiple of 2^-23: exact in f32.
RG_HOST_DEVICE inline float random_value(std::uint64_t seed, offset_t i) {
  std::uint64_t z =
      (static_cast<std::uint64_t>(i) + seed * 0xD1342543DE82EF95U) * 0x9E3779B97F4A7C15U;
  z = (z ^ (z >> 32)) * 0xBF58476D1CE4E5B9U;
  return static_cast<float>(static_cast<std::int32_t>((z ^ (z >> 29)) >> 40)) * 0x1p-23F - 1.0F;
}

/// random_value after the rounding of the element type.
double random_element(DType dtype, std::uint64_t seed, offset_t i);

}  // namespace raggedgemm::bench
