// SPDX-License-Identifier: Apache-2.0
// padded: every group expanded to the same number of rows (its capacity), one batched library
// product, and the result gathered back. Timed as a whole; padded:M is the publication's default.
#include "backends/backend.hpp"
#include "backends/blas.hpp"
#include "device_loop.hpp"

namespace raggedgemm::bench {

namespace {

/// Slot s of the padded array [G, capacity] holds row s % capacity of group s / capacity.
struct Slots {
  const std::int64_t* offsets;  // [G + 1]
  offset_t capacity;
  offset_t row_bytes;

  /// Row of the ragged array, or -1 for a slot of padding.
  [[nodiscard]] RG_HOST_DEVICE offset_t ragged_row(offset_t slot) const {
    const offset_t group = slot / capacity;
    const offset_t row = offsets[group] + slot - group * capacity;
    return row < offsets[group + 1] ? row : -1;
  }
};

struct ExpandRows {
  Slots slots;
  const char* ragged;
  char* padded;
  RG_HOST_DEVICE RowCopy operator()(offset_t slot) const {
    const offset_t row = slots.ragged_row(slot);
    return {padded + slot * slots.row_bytes, row >= 0 ? ragged + row * slots.row_bytes : nullptr};
  }
};

struct GatherRows {
  Slots slots;
  const char* padded;
  char* ragged;
  RG_HOST_DEVICE RowCopy operator()(offset_t slot) const {
    const offset_t row = slots.ragged_row(slot);
    return {row >= 0 ? ragged + row * slots.row_bytes : nullptr, padded + slot * slots.row_bytes};
  }
};

class Padded final : public Backend {
 public:
  explicit Padded(bool capacity_is_m) : capacity_is_m_(capacity_is_m) {}

  Prepared prepare(const Workload& w, const Operands&) override {
    Prepared prepared;
    prepared.note = blas_why_not(w.dtype);
    if (!prepared.note.empty()) {
      prepared.state = Prepared::State::not_available;
      return prepared;
    }
    prepared.note = blas_name();
    const Multiply& p = w.multiply;
    capacity_ = max_of(capacity_is_m_ ? p.m : w.largest, offset_t{1});
    const double slots = static_cast<double>(p.g) * static_cast<double>(capacity_);
    const double elem_bytes = bytes_of(w.dtype);
    const double c_bytes = slots * static_cast<double>(p.c) * elem_bytes;
    const double o_bytes = slots * static_cast<double>(p.o) * elem_bytes;
    prepared.extra_bytes = c_bytes + o_bytes;
    if (fits_in_memory(prepared.extra_bytes)) {
      padded_c_ = Buffer::make(c_bytes);
      padded_o_ = Buffer::make(o_bytes);
    }
    if (!padded_c_ || !padded_o_) prepared.state = Prepared::State::out_of_memory;
    return prepared;
  }

  Status run(const Workload& w, const Operands& operands) override {
    const Multiply& p = w.multiply;
    const offset_t elem_bytes = bytes_of(w.dtype);
    const offset_t slots = p.g * capacity_;
    const std::int64_t* const offsets = static_cast<const std::int64_t*>(operands.offsets.data());
    const Slots c_slots{offsets, capacity_, p.c * elem_bytes};
    const Slots o_slots{offsets, capacity_, p.o * elem_bytes};
    const bool contracting = p.form == Form::tn;

    const Status expanded =
        copy_rows(slots,
                  c_slots.row_bytes,
                  ExpandRows{c_slots, operands.lhs.bytes_data(), padded_c_.bytes_data()});
    if (!expanded.ok()) return expanded;

    Gemm gemm;
    gemm.batches = p.g;
    gemm.a = padded_c_.data();
    gemm.a_batch_stride = capacity_ * p.c;
    gemm.n = p.o;
    if (contracting) {
      const Status also =
          copy_rows(slots,
                    o_slots.row_bytes,
                    ExpandRows{o_slots, operands.rhs.bytes_data(), padded_o_.bytes_data()});
      if (!also.ok()) return also;
      gemm.transpose_a = true;
      gemm.m = p.c;
      gemm.k = capacity_;
      gemm.b = padded_o_.data();
      gemm.b_batch_stride = capacity_ * p.o;
      gemm.c = operands.out.data();
      gemm.c_batch_stride = p.c * p.o;
      return blas_multiply(w.dtype, gemm);
    }
    gemm.transpose_b = p.form == Form::nt;
    gemm.m = capacity_;
    gemm.k = p.c;
    gemm.b = operands.rhs.data();
    gemm.b_batch_stride = p.c * p.o;
    gemm.c = padded_o_.data();
    gemm.c_batch_stride = capacity_ * p.o;
    if (const Status s = blas_multiply(w.dtype, gemm); !s.ok()) return s;
    const Status gathered =
        copy_rows(slots,
                  o_slots.row_bytes,
                  GatherRows{o_slots, padded_o_.bytes_data(), operands.out.bytes_data()});
    if (!gathered.ok() || w.sum == p.m) return gathered;
    return device::fill(operands.out.bytes_data() + w.sum * o_slots.row_bytes,
                        0,
                        static_cast<std::size_t>((p.m - w.sum) * o_slots.row_bytes));
  }

 private:
  bool capacity_is_m_;
  offset_t capacity_ = 0;
  Buffer padded_c_;  // [g, capacity, c]
  Buffer padded_o_;  // [g, capacity, o]
};

}  // namespace

std::unique_ptr<Backend> make_padded(bool capacity_is_m) {
  return std::make_unique<Padded>(capacity_is_m);
}

}  // namespace raggedgemm::bench
