// SPDX-License-Identifier: Apache-2.0
// Options of a call: all have a default, all are named at the call by designated initialisers.
#pragma once

#include <cstdint>

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/problem/tensor.hpp"

namespace raggedgemm {

/// Where a call runs. `automatic` is the platform of the compiler that built the caller: the host
/// for a C++ compiler, CUDA for nvcc, HIP for hipcc; in a program that links raggedgemm::compiled,
/// the platform that library was built for. It never falls back to another one.
enum class Platform : std::int32_t { automatic, host, cuda, hip };

constexpr const char* name_of(Platform platform) noexcept {
  switch (platform) {
    case Platform::automatic: return "automatic";
    case Platform::host: return "host";
    case Platform::cuda: return "cuda";
    case Platform::hip: return "hip";
  }
  return "unknown";
}

/// What happens to output that belongs to no group (rows past the sum; batches past the sum).
enum class Tail : std::int32_t {
  zero,     ///< the product is zero there: written as +0.0, or as beta·c where beta != 0
  keep,     ///< not touched
  compute,  ///< batch only: multiplied like any other batch
};

/// Which kernels a call may use.
enum class Selection : std::int32_t {
  any,           ///< the best kernel that fits, however slow; explain() says which
  require_fast,  ///< only matrix-core kernels (on the host: any); else Status no_fast_kernel
};

/// What is wrong with a group description, if anything. Never an error of the call: results are
/// defined for every description (negative counts as 0, ranges are cut at the extent).
enum class FaultCode : std::int32_t {
  none,
  negative_size,       ///< a size below zero
  decreasing_offsets,  ///< an offset below the one before it
  sum_exceeds_extent,  ///< the groups end past the ragged extent
};

/// Where a call reports the first faulty group, in the order of the description.
struct Fault {
  FaultCode code = FaultCode::none;
  std::int64_t group = 0;  ///< the group, rows of the description one after the other
  std::int64_t value = 0;  ///< the size; for sum_exceeds_extent the sum, saturated
};

/// Options of every ragged dot.
struct Options {
  void* stream = nullptr;  ///< cudaStream_t or hipStream_t; the host runs at once, in the caller
  double alpha = 1.0;      ///< out = epilogue(alpha·product + beta·c)
  double beta = 0.0;       ///< 0: c is not read, NaN in it included
  Tail tail = Tail::zero;
  Platform platform = Platform::automatic;
  Selection selection = Selection::any;
  bool allow_tf32 = false;  ///< f32 operands may be rounded to 10 bits of mantissa, where a kernel
                            ///< is faster for it (explain() says whether); a permission, no more
  Tensor c =
      {};  ///< what beta scales: out's dtype and extents, own strides; without data: out itself
  const float* group_alpha = nullptr;  ///< device memory, one further factor a slab of rhs (or out)
  /// Gather: lhs's ragged index i is read at lhs_index[i] (zero where lhs has no such index).
  const std::int32_t* lhs_index = nullptr;
  /// Scatter: row i of the product (of each slab's, where out has slabs) goes to row out_index[i]
  /// of out, which may have any number of rows; an entry that is none of them drops the row. Two
  /// equal entries are the caller's to avoid: which row is kept is not defined.
  const std::int32_t* out_index = nullptr;
  /// ≥ 0: the product's extent along the ragged dimension, which is how many entries lhs_index has.
  /// −1: as the other operands say (out's rows in ragged_dot, rhs's extent in the others).
  std::int64_t ragged_extent = -1;
  std::int64_t group_offset = -1;  ///< ≥ 0: a shard, groups [group_offset, group_offset + slabs)
  Fault* fault = nullptr;          ///< device memory: the first fault, written by every call
  index_t config_row = -1;         ///< force this row of the config table; -1: selection decides
  /// Device memory, 16-byte aligned, contents arbitrary, of one call at a time;
  /// workspace_bytes(plan) is what a plan uses of it. With some, a call may first copy operands
  /// that are not aligned as matrix engines want them; and, unless whole_depth, a call whose tiles
  /// are fewer than the device's multiprocessors may cut its depth into parts, as many as their
  /// sums fit here, and add them up in a fixed order by a second launch (bitwise repeatable, but
  /// other bits than without); on Hopper, of a call of a few rounds of tiles, those of the last
  /// round, so that a row's bits depend on the sizes of other groups, too.
  void* workspace = nullptr;
  std::int64_t workspace_bytes = 0;
  bool whole_depth = false;  ///< the depth is never cut: by the same row of the config table, a
                             ///< row's bits depend on its lhs row and its group alone
};

}  // namespace raggedgemm
