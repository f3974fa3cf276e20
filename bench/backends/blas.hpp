// SPDX-License-Identifier: Apache-2.0
// The vendor's matrix multiplication: OpenBLAS, cuBLAS or hipBLAS, behind one call.
// What `loop` and `padded` are made of, and what the floor's matmul rate is measured with.
#pragma once

#include <string>

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/base/status.hpp"
#include "raggedgemm/problem/dtype.hpp"

namespace raggedgemm::bench {

/// c [m, n] = a [m, k] · b [k, n], all row-major, `batches` times. Strides count elements.
struct Gemm {
  bool transpose_a = false;  ///< a is stored [k, m]
  bool transpose_b = false;  ///< b is stored [n, k]
  offset_t m = 0;
  offset_t n = 0;
  offset_t k = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  offset_t batches = 1;
  offset_t a_batch_stride = 0;
  offset_t b_batch_stride = 0;
  offset_t c_batch_stride = 0;

  [[nodiscard]] offset_t a_pitch() const { return transpose_a ? m : k; }
  [[nodiscard]] offset_t b_pitch() const { return transpose_b ? k : n; }
};

/// "OpenBLAS", "cuBLAS", "hipBLAS" or "none", with its version or kernel where it tells.
std::string blas_name();

/// Why the BLAS cannot multiply this type here; empty if it can.
std::string blas_why_not(DType dtype);

/// Enqueues the product on the default stream; f32 accumulation. Requires: blas_why_not() is empty,
/// all extents positive.
Status blas_multiply(DType dtype, const Gemm& gemm);

}  // namespace raggedgemm::bench
