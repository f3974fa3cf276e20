// SPDX-License-Identifier: Apache-2.0
// hipBLAS: f32, f16 and bf16 products with f32 accumulation. Included by blas.cpp alone.
// Row-major operands are column-major ones exchanged: cᵀ = bᵀ · aᵀ.
#pragma once

// With hipDataType and hipblasComputeType_t: CMake asks for it with HIPBLAS_V2, which ROCm 6 needs
// and later releases ignore.
#include <hipblas/hipblas.h>

#include "backends/blas.hpp"
#include "text.hpp"

namespace raggedgemm::bench {

namespace {

/// The handle, made once; null if hipBLAS cannot start.
hipblasHandle_t blas_handle() {
  static const hipblasHandle_t handle = [] {
    hipblasHandle_t made = nullptr;
    return hipblasCreate(&made) == HIPBLAS_STATUS_SUCCESS ? made : nullptr;
  }();
  return handle;
}

hipDataType blas_type(DType dtype) {
  if (dtype == DType::bf16) return HIP_R_16BF;
  if (dtype == DType::f16) return HIP_R_16F;
  return HIP_R_32F;
}

}  // namespace

std::string blas_name() { return "hipBLAS"; }

std::string blas_why_not(DType) {
  return blas_handle() != nullptr ? "" : "hipBLAS does not start on this device";
}

Status blas_multiply(DType dtype, const Gemm& gemm) {
  const float one = 1.0F;
  const float zero = 0.0F;
  const auto type = blas_type(dtype);
  const auto op_first = gemm.transpose_b ? HIPBLAS_OP_T : HIPBLAS_OP_N;
  const auto op_second = gemm.transpose_a ? HIPBLAS_OP_T : HIPBLAS_OP_N;
  const int first_pitch = static_cast<int>(gemm.b_pitch());
  const int second_pitch = static_cast<int>(gemm.a_pitch());
  const int n = static_cast<int>(gemm.n);
  const int m = static_cast<int>(gemm.m);
  const int k = static_cast<int>(gemm.k);
  const hipblasStatus_t status = gemm.batches == 1
                                     ? hipblasGemmEx(blas_handle(),
                                                     op_first,
                                                     op_second,
                                                     n,
                                                     m,
                                                     k,
                                                     &one,
                                                     gemm.b,
                                                     type,
                                                     first_pitch,
                                                     gemm.a,
                                                     type,
                                                     second_pitch,
                                                     &zero,
                                                     gemm.c,
                                                     type,
                                                     n,
                                                     HIPBLAS_COMPUTE_32F,
                                                     HIPBLAS_GEMM_DEFAULT)
                                     : hipblasGemmStridedBatchedEx(blas_handle(),
                                                                   op_first,
                                                                   op_second,
                                                                   n,
                                                                   m,
                                                                   k,
                                                                   &one,
                                                                   gemm.b,
                                                                   type,
                                                                   first_pitch,
                                                                   gemm.b_batch_stride,
                                                                   gemm.a,
                                                                   type,
                                                                   second_pitch,
                                                                   gemm.a_batch_stride,
                                                                   &zero,
                                                                   gemm.c,
                                                                   type,
                                                                   n,
                                                                   gemm.c_batch_stride,
                                                                   static_cast<int>(gemm.batches),
                                                                   HIPBLAS_COMPUTE_32F,
                                                                   HIPBLAS_GEMM_DEFAULT);
  if (status == HIPBLAS_STATUS_SUCCESS) return {};
  return {StatusCode::vendor_error, "hipblasGemmEx", status, HIPBLAS_STATUS_SUCCESS};
}

}  // namespace raggedgemm::bench
