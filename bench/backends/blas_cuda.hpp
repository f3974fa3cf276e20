// SPDX-License-Identifier: Apache-2.0
// cuBLAS: f32, f16 and bf16 products with f32 accumulation. Included by blas.cpp alone.
// Row-major operands are column-major ones exchanged: cᵀ = bᵀ · aᵀ.
#pragma once

#include <cublas_v2.h>

#include "backends/blas.hpp"
#include "text.hpp"

namespace raggedgemm::bench {

namespace {

/// The handle, made once; null if cuBLAS cannot start.
cublasHandle_t blas_handle() {
  static const cublasHandle_t handle = [] {
    cublasHandle_t made = nullptr;
    return cublasCreate(&made) == CUBLAS_STATUS_SUCCESS ? made : nullptr;
  }();
  return handle;
}

cudaDataType_t blas_type(DType dtype) {
  if (dtype == DType::bf16) return CUDA_R_16BF;
  if (dtype == DType::f16) return CUDA_R_16F;
  return CUDA_R_32F;
}

}  // namespace

std::string blas_name() {
  int version = 0;
  if (blas_handle() == nullptr ||
      cublasGetVersion(blas_handle(), &version) != CUBLAS_STATUS_SUCCESS)
    return "cuBLAS";
  return format("cuBLAS %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
}

std::string blas_why_not(DType) {
  return blas_handle() != nullptr ? "" : "cuBLAS does not start on this device";
}

Status blas_multiply(DType dtype, const Gemm& gemm) {
  const float one = 1.0F;
  const float zero = 0.0F;
  const auto type = blas_type(dtype);
  const auto op_first = gemm.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  const auto op_second = gemm.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int first_pitch = static_cast<int>(gemm.b_pitch());
  const int second_pitch = static_cast<int>(gemm.a_pitch());
  const int n = static_cast<int>(gemm.n);
  const int m = static_cast<int>(gemm.m);
  const int k = static_cast<int>(gemm.k);
  const cublasStatus_t status = gemm.batches == 1
                                    ? cublasGemmEx(blas_handle(),
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
                                                   CUBLAS_COMPUTE_32F,
                                                   CUBLAS_GEMM_DEFAULT)
                                    : cublasGemmStridedBatchedEx(blas_handle(),
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
                                                                 CUBLAS_COMPUTE_32F,
                                                                 CUBLAS_GEMM_DEFAULT);
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  return {StatusCode::vendor_error, "cublasGemmEx", status, CUBLAS_STATUS_SUCCESS};
}

}  // namespace raggedgemm::bench
