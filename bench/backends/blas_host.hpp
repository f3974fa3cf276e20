// SPDX-License-Identifier: Apache-2.0
// OpenBLAS (or another CBLAS) on the host: sgemm only. Included by blas.cpp alone.
// A batch is a loop of products, each with all of the library's threads.
#pragma once

#include <cblas.h>

#include "backends/blas.hpp"
#include "text.hpp"

namespace raggedgemm::bench {

std::string blas_name() {
#if defined(OPENBLAS_SEQUENTIAL)               // OpenBLAS's cblas.h defines it
  std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …"
  const std::size_t end = config.find(' ', config.find(' ') + 1);
  return format("%s (%s kernels, %d threads)",
                config.substr(0, end).c_str(),
                openblas_get_corename(),
                openblas_get_num_threads());
#else
  return "CBLAS";
#endif
}

std::string blas_why_not(DType dtype) {
  if (dtype == DType::f32) return "";
  return format("the host's BLAS has no %s product", name_of(dtype));
}

Status blas_multiply(DType, const Gemm& gemm) {
  for (offset_t batch = 0; batch < gemm.batches; ++batch)
    cblas_sgemm(CblasRowMajor,
                gemm.transpose_a ? CblasTrans : CblasNoTrans,
                gemm.transpose_b ? CblasTrans : CblasNoTrans,
                static_cast<int>(gemm.m),
                static_cast<int>(gemm.n),
                static_cast<int>(gemm.k),
                1.0F,
                static_cast<const float*>(gemm.a) + batch * gemm.a_batch_stride,
                static_cast<int>(gemm.a_pitch()),
                static_cast<const float*>(gemm.b) + batch * gemm.b_batch_stride,
                static_cast<int>(gemm.b_pitch()),
                0.0F,
                static_cast<float*>(gemm.c) + batch * gemm.c_batch_stride,
                static_cast<int>(gemm.n));
  return {};
}

}  // namespace raggedgemm::bench
