// SPDX-License-Identifier: Apache-2.0
// Measures the three ceilings.
// Each is the best of several runs: a ceiling is what the machine can do, not what it did on
// average.
#include "floor.hpp"

#include <algorithm>
#include <functional>

#include "backends/backend.hpp"
#include "backends/blas.hpp"
#include "device_loop.hpp"
#include "text.hpp"

namespace raggedgemm::bench {

namespace {

/// Best of `runs` after one warm-up, in seconds; 0 if a run fails.
double best_seconds(int runs, const std::function<Status()>& call) {
  if (!call().ok() || !device::synchronize().ok()) return 0;
  device::Stopwatch watch;
  double best = 0;
  for (int i = 0; i < runs; ++i) {
    watch.start(nullptr);
    if (!call().ok()) return 0;
    watch.stop(nullptr);
    const double seconds = 1e-6 * watch.microseconds();
    best = i == 0 ? seconds : std::min(best, seconds);
  }
  return best;
}

void measure_memory(Ceilings& ceilings) {
  constexpr offset_t rows = on_gpu ? 1 << 16 : 2;  // on the host one long run a thread
  constexpr offset_t row_bytes = (on_gpu ? offset_t{1} << 30 : offset_t{1} << 28) / rows;
  constexpr double bytes = static_cast<double>(rows * row_bytes);
  const Buffer to = Buffer::make(bytes);
  const Buffer from = Buffer::make(bytes);
  if (!to || !from) return;
  constexpr int runs = on_gpu ? 20 : 4;
  static_cast<void>(device::fill(from.data(), 0, static_cast<std::size_t>(from.bytes())));
  const auto rate = [](double moved_bytes, double seconds) {
    return seconds > 0 ? moved_bytes / seconds : 0;
  };
  const double copy = best_seconds(runs, [&] {
    return copy_rows(rows, row_bytes, DenseRows{to.bytes_data(), from.bytes_data(), row_bytes});
  });
  const double clear = best_seconds(runs, [&] {
    return copy_rows(rows, row_bytes, DenseRows{to.bytes_data(), nullptr, row_bytes});
  });
  const double fill = best_seconds(
      runs, [&] { return device::fill(to.data(), 0, static_cast<std::size_t>(to.bytes())); });
  ceilings.copy_bytes = rate(2 * bytes, copy);
  ceilings.write_bytes = std::max(rate(bytes, clear), rate(bytes, fill));
}

/// One large product as a workload of one group, so that any backend can measure it.
void measure_matmul(DType dtype, Ceilings& ceilings) {
  constexpr offset_t extent = on_gpu ? 8192 : 2048;
  Workload w;
  w.shape = {extent, extent, extent, 1, ""};
  w.dtype = dtype;
  w.sizes = {static_cast<std::int32_t>(extent)};
  w.seed = 1;
  w.complete();
  Operands operands;
  if (!Operands::make(w, operands)) return;
  const bool blas = blas_why_not(dtype).empty();
  const std::unique_ptr<Backend> backend = blas ? make_loop() : make_native(-1);
  const Prepared prepared = backend->prepare(w, operands);
  if (prepared.state != Prepared::State::ready) return;
  const double seconds = best_seconds(on_gpu ? 10 : 3, [&] { return backend->run(w, operands); });
  if (seconds > 0) ceilings.matmul_flops = w.useful_flops() / seconds;
  ceilings.matmul_name = format("%lld^3 %s by %s%s",
                                static_cast<long long>(extent),
                                raggedgemm::name_of(dtype),
                                blas ? "" : "our own kernel ",
                                prepared.note.c_str());
}

}  // namespace

double Ceilings::floor_us(const Workload& workload) const {
  const auto time_us = [](double amount, double rate) {
    return rate > 0 ? 1e6 * amount / rate : 0;
  };
  return std::max({time_us(workload.useful_flops(), matmul_flops),
                   time_us(workload.useful_bytes(), copy_bytes),
                   time_us(workload.out_bytes(), write_bytes)});
}

std::string Ceilings::text() const {
  return format("R %.3g TFLOP/s (%s), W copy %.4g GB/s, S fill %.4g GB/s",
                1e-12 * matmul_flops,
                matmul_name.empty() ? "not measured" : matmul_name.c_str(),
                1e-9 * copy_bytes,
                1e-9 * write_bytes);
}

Ceilings measure_ceilings(DType dtype) {
  Ceilings ceilings;
  measure_memory(ceilings);
  measure_matmul(dtype, ceilings);
  return ceilings;
}

}  // namespace raggedgemm::bench
