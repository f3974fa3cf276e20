// SPDX-License-Identifier: Apache-2.0
// loop: one library product a group, with sizes that the host knows; no memory beyond the operands.
// Empty groups cost nothing but the clearing of their slab of a weight gradient.
#include "backends/backend.hpp"
#include "backends/blas.hpp"

namespace raggedgemm::bench {

namespace {

class Loop final : public Backend {
 public:
  Prepared prepare(const Workload& workload, const Operands&) override {
    Prepared prepared;
    prepared.note = blas_why_not(workload.dtype);
    if (!prepared.note.empty())
      prepared.state = Prepared::State::not_available;
    else
      prepared.note = blas_name();
    return prepared;
  }

  Status run(const Workload& w, const Operands& operands) override {
    const Multiply& p = w.multiply;
    const offset_t elem_bytes = bytes_of(w.dtype);
    const bool contracting = p.form == Form::tn;
    for (offset_t g = 0; g < p.g; ++g) {
      const offset_t begin = w.offsets[static_cast<std::size_t>(g)];
      const offset_t size = w.sizes[static_cast<std::size_t>(g)];
      char* const slab = operands.out.bytes_data() + g * p.c * p.o * elem_bytes;
      if (size == 0) {
        if (!contracting) continue;
        const std::size_t slab_bytes = static_cast<std::size_t>(p.c * p.o * elem_bytes);
        if (const Status s = device::fill(slab, 0, slab_bytes); !s.ok()) return s;
        continue;
      }
      Gemm gemm;
      gemm.transpose_a = contracting;
      gemm.transpose_b = p.form == Form::nt;
      gemm.m = contracting ? p.c : size;
      gemm.n = p.o;
      gemm.k = contracting ? size : p.c;
      gemm.a = operands.lhs.bytes_data() + begin * p.c * elem_bytes;
      gemm.b = operands.rhs.bytes_data() + (contracting ? begin * p.o : g * p.c * p.o) * elem_bytes;
      gemm.c = contracting ? slab : operands.out.bytes_data() + begin * p.o * elem_bytes;
      if (const Status s = blas_multiply(w.dtype, gemm); !s.ok()) return s;
    }
    if (contracting || w.sum == p.m) return {};
    return device::fill(operands.out.bytes_data() + w.sum * p.o * elem_bytes,
                        0,
                        static_cast<std::size_t>((p.m - w.sum) * p.o * elem_bytes));
  }
};

}  // namespace

std::unique_ptr<Backend> make_loop() { return std::make_unique<Loop>(); }

}  // namespace raggedgemm::bench
