// SPDX-License-Identifier: Apache-2.0
// Chooses the vendor's BLAS for the platform that this file is compiled for.
// Without one (RAGGEDGEMM_BENCH_BLAS unset) every question is answered "none".
#include "backends/blas.hpp"

#include "raggedgemm/base/macros.hpp"

#if !defined(RAGGEDGEMM_BENCH_BLAS)

namespace raggedgemm::bench {

std::string blas_name() { return "none"; }
std::string blas_why_not(DType) { return "this program was built without a vendor BLAS"; }
Status blas_multiply(DType, const Gemm&) {
  return {StatusCode::unsupported_option, "vendor BLAS", 0, 1, "built without one"};
}

}  // namespace raggedgemm::bench

#elif RG_PLATFORM_CUDA
#include "backends/blas_cuda.hpp"
#elif RG_PLATFORM_HIP
#include "backends/blas_hip.hpp"
#else
#include "backends/blas_host.hpp"
#endif
