// SPDX-License-Identifier: Apache-2.0
// The cuBLAS peers as plain C functions: one grouped call, and one product a group. The host knows
// the sizes. Row-major operands are handed over as their column-major transposes.
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <vector>

namespace {

constexpr std::size_t workspace_bytes = 64U << 20U;
cublasHandle_t blas = nullptr;
void* workspace = nullptr;

struct Plan {
  std::vector<cublasOperation_t> op_a, op_b;
  std::vector<int> m, n, k, lda, ldb, ldc, sizes;
  std::vector<float> one, zero;
  std::vector<const void*> a, b;
  std::vector<void*> c;
  void* device_pointers = nullptr;  // a, b and c, one after another

  template <class Pointer>
  Pointer* on_device(std::size_t which) const {
    return static_cast<Pointer*>(device_pointers) + which * m.size();
  }
  void add(bool transposed_a, bool transposed_b, int rows, int cols, int depth) {
    op_a.push_back(transposed_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    op_b.push_back(transposed_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    m.push_back(rows);
    n.push_back(cols);
    k.push_back(depth);
    lda.push_back(transposed_a ? depth : rows);
    ldb.push_back(transposed_b ? cols : depth);
    ldc.push_back(rows);
    sizes.push_back(1);
    one.push_back(1);
    zero.push_back(0);
  }
};

}  // namespace

extern "C" {

int cb_init(void* stream) {
  if (blas == nullptr && cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS) return 1;
  if (workspace == nullptr && cudaMalloc(&workspace, workspace_bytes) != cudaSuccess) return 2;
  if (cublasSetStream(blas, static_cast<cudaStream_t>(stream)) != CUBLAS_STATUS_SUCCESS) return 3;
  return cublasSetWorkspace(blas, workspace, workspace_bytes);
}

int cb_version() {
  int version = 0;
  cublasGetVersion(blas, &version);
  return version;
}

/// Operands as in rg_plan() of ours.cu, but sizes on the host. Empty groups are left out: with
/// variant 2 their slabs are not written. Null when memory is short.
void* cb_plan(int variant,
              int e,
              const int* sizes,
              int c,
              int o,
              const std::uint16_t* x,
              const std::uint16_t* w,
              std::uint16_t* out) {
  auto* plan = new Plan;
  const std::int64_t slab = std::int64_t{c} * o;
  std::int64_t row = 0;
  for (int g = 0; g < e; row += sizes[g++]) {
    if (sizes[g] <= 0) continue;
    plan->b.push_back(x + row * c);
    if (variant == 2) {
      plan->add(false, true, o, c, sizes[g]);
      plan->a.push_back(w + row * o);
      plan->c.push_back(out + g * slab);
    } else {
      plan->add(variant == 1, false, o, sizes[g], c);
      plan->a.push_back(w + g * slab);
      plan->c.push_back(out + row * o);
    }
  }
  const std::size_t bytes = plan->m.size() * sizeof(void*);
  bool ok = cudaMalloc(&plan->device_pointers, 3 * bytes + 1) == cudaSuccess;
  const auto copy = [&](std::size_t which, const void* from) {
    ok = ok && cudaMemcpy(plan->on_device<void*>(which), from, bytes, cudaMemcpyHostToDevice) ==
                   cudaSuccess;
  };
  copy(0, plan->a.data());
  copy(1, plan->b.data());
  copy(2, plan->c.data());
  if (ok) return plan;
  delete plan;
  return nullptr;
}

int cb_grouped(const void* handle) {
  const Plan& p = *static_cast<const Plan*>(handle);
  return cublasGemmGroupedBatchedEx(blas,
                                    p.op_a.data(),
                                    p.op_b.data(),
                                    p.m.data(),
                                    p.n.data(),
                                    p.k.data(),
                                    p.one.data(),
                                    p.on_device<const void*>(0),
                                    CUDA_R_16BF,
                                    p.lda.data(),
                                    p.on_device<const void*>(1),
                                    CUDA_R_16BF,
                                    p.ldb.data(),
                                    p.zero.data(),
                                    p.on_device<void*>(2),
                                    CUDA_R_16BF,
                                    p.ldc.data(),
                                    static_cast<int>(p.m.size()),
                                    p.sizes.data(),
                                    CUBLAS_COMPUTE_32F);
}

int cb_loop(const void* handle) {
  const Plan& p = *static_cast<const Plan*>(handle);
  for (std::size_t i = 0; i < p.m.size(); ++i) {
    const cublasStatus_t status = cublasGemmEx(blas,
                                               p.op_a[i],
                                               p.op_b[i],
                                               p.m[i],
                                               p.n[i],
                                               p.k[i],
                                               &p.one[i],
                                               p.a[i],
                                               CUDA_R_16BF,
                                               p.lda[i],
                                               p.b[i],
                                               CUDA_R_16BF,
                                               p.ldb[i],
                                               &p.zero[i],
                                               p.c[i],
                                               CUDA_R_16BF,
                                               p.ldc[i],
                                               CUBLAS_COMPUTE_32F,
                                               CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return 0;
}

void cb_free(void* handle) {
  auto* plan = static_cast<Plan*>(handle);
  cudaFree(plan->device_pointers);
  delete plan;
}

}  // extern "C"
