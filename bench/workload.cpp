// SPDX-License-Identifier: Apache-2.0
// Work and bytes of a workload; its operands in device memory.
// The model of bytes is that of the floor: everything once, weights of non-empty groups only.
#include "workload.hpp"

#include <algorithm>

#include "device_loop.hpp"
#include "dtypes.hpp"
#include "text.hpp"

namespace raggedgemm::bench {

void Workload::complete() {
  multiply = multiply_of(op, shape);
  offsets.assign(1, 0);
  sum = largest = non_empty = 0;
  for (const std::int32_t size : sizes) {
    sum += size;
    largest = std::max(largest, offset_t{size});
    non_empty += size > 0 ? 1 : 0;
    offsets.push_back(sum);
  }
}

double Workload::useful_flops() const {
  return 2.0 * static_cast<double>(sum) * static_cast<double>(multiply.c) *
         static_cast<double>(multiply.o);
}

double Workload::out_bytes() const {
  return static_cast<double>(multiply.out_elems()) * bytes_of(dtype);
}

double Workload::useful_bytes() const {
  const bool contracting = multiply.form == Form::tn;
  const double rows = static_cast<double>(sum);
  const double c = static_cast<double>(multiply.c);
  const double o = static_cast<double>(multiply.o);
  const double rhs_elems = contracting ? rows * o : static_cast<double>(non_empty) * c * o;
  return (rows * c + rhs_elems) * bytes_of(dtype) + out_bytes();
}

std::string Workload::name() const {
  return format("%s/dtype:%s/m:%lld/k:%lld/n:%lld/g:%lld/sizes:%s",
                name_of(op),
                raggedgemm::name_of(dtype),
                static_cast<long long>(shape.m),
                static_cast<long long>(shape.k),
                static_cast<long long>(shape.n),
                static_cast<long long>(shape.g),
                sizes_name.c_str());
}

namespace {

template <class T>
struct FillRandom {
  T* to;
  std::uint64_t seed;
  RG_HOST_DEVICE void operator()(offset_t i) const {
    to[i] = Element<T>::round(random_value(seed, i));
  }
};

Status fill_random(DType dtype, void* to, offset_t elems, std::uint64_t seed) {
  return visit_dtype(dtype, [&](auto type) {
    using T = decltype(type);
    return for_each_index(elems, FillRandom<T>{static_cast<T*>(to), seed});
  });
}

}  // namespace

double random_element(DType dtype, std::uint64_t seed, offset_t i) {
  return visit_dtype(dtype, [&](auto type) {
    using T = decltype(type);
    return static_cast<double>(Element<T>::widen(Element<T>::round(random_value(seed, i))));
  });
}

bool Operands::make(const Workload& w, Operands& operands) {
  operands = Operands{};
  const double elem_bytes = bytes_of(w.dtype);
  const std::size_t sizes_bytes = w.sizes.size() * sizeof w.sizes[0];
  const std::size_t offsets_bytes = w.offsets.size() * sizeof w.offsets[0];
  struct Wanted {
    Buffer& buffer;
    double bytes;
  };
  const Wanted wanted[] = {{operands.lhs, elem_bytes * static_cast<double>(w.multiply.lhs_elems())},
                           {operands.rhs, elem_bytes * static_cast<double>(w.multiply.rhs_elems())},
                           {operands.out, elem_bytes * static_cast<double>(w.multiply.out_elems())},
                           {operands.sizes, static_cast<double>(sizes_bytes)},
                           {operands.offsets, static_cast<double>(offsets_bytes)}};
  double total = 0;
  for (const Wanted& want : wanted) total += want.bytes;
  if (!fits_in_memory(total)) return false;
  for (const Wanted& want : wanted) {
    want.buffer = Buffer::make(want.bytes);
    if (!want.buffer) {
      operands = Operands{};
      return false;
    }
  }
  const Status steps[] = {
      fill_random(w.dtype, operands.lhs.data(), w.multiply.lhs_elems(), w.seed),
      fill_random(w.dtype, operands.rhs.data(), w.multiply.rhs_elems(), w.seed + 1),
      device::copy_to_device(operands.sizes.data(), w.sizes.data(), sizes_bytes),
      device::copy_to_device(operands.offsets.data(), w.offsets.data(), offsets_bytes),
      device::synchronize()};
  return std::all_of(std::begin(steps), std::end(steps), [](const Status& s) { return s.ok(); });
}

}  // namespace raggedgemm::bench
