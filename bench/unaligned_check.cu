// SPDX-License-Identifier: Apache-2.0
// Checks and times calls that a copy engine cannot load: lines that are not 16-byte aligned, odd
// extents, gathered lhs; with and without a workspace to copy operands to. Results are compared
// with a loop of cuBLAS calls on an aligned copy, times with those of the aligned call. Modes:
// check, time, all; without one, all.
//   nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a --split-compile=0 -Iinclude
//     bench/unaligned_check.cu -lcublas
#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gpu.cuh"
#include "raggedgemm/raggedgemm.hpp"

namespace rg = raggedgemm;
using rg::bf16;
using rg::index_t;
using rg::offset_t;
using rg::Variant;

namespace {

/// An operand of `lines` lines of `elems` elements, at every place that a call may have it.
struct Lines {
  offset_t lines;
  offset_t elems;
  offset_t pitch;
  offset_t shift;  ///< elements between a 256-byte boundary and the first line
  [[nodiscard]] offset_t memory() const { return shift + (lines - 1) * pitch + elems; }
};

/// The values of the logical operand: line `i` lies at line index[i] of the memory (nowhere, if
/// that is outside, and then its values are zero).
__global__ void fill_lines(bf16* aligned,
                           offset_t aligned_pitch,
                           bf16* placed,
                           Lines at,
                           offset_t logical_lines,
                           const std::int32_t* index,
                           offset_t index_unit,
                           std::uint32_t seed) {
  for (offset_t i = blockIdx.x * offset_t{blockDim.x} + threadIdx.x; i < logical_lines * at.elems;
       i += offset_t{gridDim.x} * blockDim.x) {
    const offset_t line = i / at.elems;
    const offset_t elem = i % at.elems;
    const offset_t entry = index != nullptr ? index[line / index_unit] : line / index_unit;
    const offset_t to = entry * index_unit + line % index_unit;
    const bool exists = entry >= 0 && to < at.lines;
    // Two lines may be read from one place: what lies there depends on the place alone.
    const bf16 value =
        exists ? rg::to_bf16(noise(static_cast<std::uint64_t>(to * at.elems + elem), seed))
               : bf16{};
    aligned[line * aligned_pitch + elem] = value;
    if (exists) placed[at.shift + to * at.pitch + elem] = value;
  }
}

struct Findings {
  unsigned long long wrong;
  unsigned long long first;
  float got;
  float want;
};

__global__ void compare(const bf16* got,
                        offset_t got_pitch,
                        const bf16* want,
                        offset_t want_pitch,
                        offset_t lines,
                        offset_t cols,
                        float scale,
                        Findings* findings) {
  for (offset_t i = blockIdx.x * offset_t{blockDim.x} + threadIdx.x; i < lines * cols;
       i += offset_t{gridDim.x} * blockDim.x) {
    const float g = rg::to_float(got[i / cols * got_pitch + i % cols]);
    const float w = rg::to_float(want[i / cols * want_pitch + i % cols]);
    // One rounding to bf16 apart, and sums in another order.
    if (fabsf(g - w) <= fabsf(w) * 0x1p-7F + scale * 0x1p-14F) continue;
    if (atomicAdd(&findings->wrong, 1ULL) == 0) {
      findings->first = static_cast<unsigned long long>(i);
      findings->got = g;
      findings->want = w;
    }
  }
}

struct Case {
  const char* name;
  offset_t m = 0;
  offset_t k = 0;
  offset_t n = 0;
  std::vector<std::int32_t> sizes;
  bool transposed = false;  ///< rhs: layout nt
  offset_t a_pad = 0;       ///< elements that a pitch is longer
  offset_t b_pad = 0;
  offset_t d_pad = 0;
  offset_t a_shift = 0;  ///< elements that the first line lies off a 256-byte boundary
  offset_t b_shift = 0;
  bool gathers = false;
};

/// In the place of a row: the selected one, which may copy operands to a workspace.
constexpr index_t with_workspace = -2;

int failures = 0;
int checks = 0;

offset_t aligned_pitch(offset_t elems) { return (elems + 7) / 8 * 8; }

/// A call in memory, and its aligned copy.
template <Variant V>
class Call {
 public:
  Call(const Case& c, cublasHandle_t blas)
      : case_(c),
        blas_(blas),
        groups_(static_cast<offset_t>(c.sizes.size())),
        slabs_(V == Variant::batch ? groups_ : 1),
        entries_(V == Variant::batch ? groups_ : c.m),
        a_at_{slabs_ * c.m, c.k, c.k + c.a_pad, c.a_shift},
        b_at_{b_lines(), b_elems(), b_elems() + c.b_pad, c.b_shift},
        d_lines_(V == Variant::contracting ? groups_ * c.k : slabs_ * c.m),
        a_(a_at_.memory()),
        b_(b_at_.memory()),
        d_(d_lines_ * (c.n + c.d_pad)),
        a_copy_(a_at_.lines * aligned_pitch(c.k)),
        b_copy_(b_at_.lines * aligned_pitch(b_elems())),
        d_copy_(d_lines_ * aligned_pitch(c.n)),
        sizes_(c.sizes),
        index_(index_values()),
        findings_(1) {
    a_.fill(0xFF);  // NaN, where no element of the operand lies
    b_.fill(0xFF);
    const std::int32_t* const index = c.gathers ? index_.get() : nullptr;
    fill_lines<<<1320, 256>>>(a_copy_.get(),
                              aligned_pitch(c.k),
                              a_.get(),
                              a_at_,
                              a_at_.lines,
                              index,
                              V == Variant::batch ? c.m : 1,
                              1);
    fill_lines<<<1320, 256>>>(
        b_copy_.get(), aligned_pitch(b_elems()), b_.get(), b_at_, b_at_.lines, nullptr, 1, 2);
    const rg::Options o = options(with_workspace);
    if (const auto plan = rg::make_plan(describe(o), o); plan.ok())
      workspace_ = std::make_unique<Buffer<uint4>>(rg::workspace_bytes(plan.value()) / 16 + 1);
    if (workspace_ != nullptr) workspace_->fill(0xFF);
    require(cudaDeviceSynchronize(), "fill");
  }

  [[nodiscard]] rg::Options options(index_t row) const {
    rg::Options o;
    o.config_row = row == with_workspace ? -1 : row;
    if (row == with_workspace) {
      o.workspace = workspace_ != nullptr ? workspace_->get() : nullptr;
      o.workspace_bytes = workspace_ != nullptr ? workspace_->bytes() : INT64_MAX;
    }
    o.lhs_index = case_.gathers ? index_.get() : nullptr;
    return o;
  }

  [[nodiscard]] auto describe(const rg::Options& o) const {
    const Case& c = case_;
    const bf16* const a = a_.get() + a_at_.shift;
    const bf16* const b = b_.get() + b_at_.shift;
    const offset_t d_pitch = c.n + c.d_pad;
    const rg::GroupSizes groups(sizes_.get(), groups_);
    const rg::View<const bf16, 3> weights(b,
                                          {groups_, c.k, c.n},
                                          {(c.transposed ? c.n : c.k) * b_at_.pitch,
                                           c.transposed ? 1 : b_at_.pitch,
                                           c.transposed ? b_at_.pitch : 1});
    if constexpr (V == Variant::non_contracting)
      return rg::describe(rg::View<const bf16, 2>(a, {c.m, c.k}, {a_at_.pitch, 1}),
                          weights,
                          groups,
                          rg::View<bf16, 2>(d_.get(), {c.m, c.n}, {d_pitch, 1}),
                          o);
    else if constexpr (V == Variant::contracting)
      return rg::describe_contracting(
          rg::View<const bf16, 2>(a, {c.m, c.k}, {a_at_.pitch, 1}),
          rg::View<const bf16, 2>(b, {c.m, c.n}, {b_at_.pitch, 1}),
          groups,
          rg::View<bf16, 3>(d_.get(), {groups_, c.k, c.n}, {c.k * d_pitch, d_pitch, 1}),
          o);
    else
      return rg::describe_batch(
          rg::View<const bf16, 3>(a, {groups_, c.m, c.k}, {c.m * a_at_.pitch, a_at_.pitch, 1}),
          weights,
          rg::Groups{},
          rg::View<bf16, 3>(d_.get(), {groups_, c.m, c.n}, {c.m * d_pitch, d_pitch, 1}),
          o);
  }

  /// One cuBLAS call a group, on the copy.
  void reference() {
    const Case& c = case_;
    const offset_t a_pitch = aligned_pitch(c.k);
    const offset_t b_pitch = aligned_pitch(b_elems());
    const offset_t d_pitch = aligned_pitch(c.n);
    require(cudaMemset(d_copy_.get(), 0, d_copy_.bytes()), "clear");
    offset_t row = 0;
    for (offset_t g = 0; g < groups_; ++g) {
      const offset_t size = V == Variant::batch ? c.m : c.sizes[static_cast<std::size_t>(g)];
      const float one = 1;
      const float zero = 0;
      const bool contracting = V == Variant::contracting;
      const auto i = [](offset_t v) { return static_cast<int>(v); };
      const bf16* const a = a_copy_.get() + row * a_pitch;
      const bf16* const b =
          b_copy_.get() + (contracting ? row : g * (c.transposed ? c.n : c.k)) * b_pitch;
      bf16* const d = d_copy_.get() + (contracting ? g * c.k : row) * d_pitch;
      row += size;
      if (size == 0) continue;
      if (cublasGemmEx(blas_,
                       c.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                       contracting ? CUBLAS_OP_T : CUBLAS_OP_N,
                       i(c.n),
                       i(contracting ? c.k : size),
                       i(contracting ? size : c.k),
                       &one,
                       b,
                       CUDA_R_16BF,
                       i(b_pitch),
                       a,
                       CUDA_R_16BF,
                       i(a_pitch),
                       &zero,
                       d,
                       CUDA_R_16BF,
                       i(d_pitch),
                       CUBLAS_COMPUTE_32F,
                       CUBLAS_GEMM_DEFAULT) != CUBLAS_STATUS_SUCCESS) {
        std::printf("FAILED: cuBLAS\n");
        ++failures;
      }
    }
  }

  /// Runs the call with a row and compares. False when the row cannot run it.
  bool check(index_t row) {
    const rg::Options o = options(row);
    d_.fill(0xFF);
    findings_.fill(0);
    const rg::Status status = rg::run(describe(o), o);
    if (row >= 0 && (status.code() == rg::StatusCode::config_not_applicable ||
                     status.code() == rg::StatusCode::no_kernel))
      return false;
    ++checks;
    const char* const name = row == with_workspace ? "selected row, workspace"
                             : row < 0             ? "selected row"
                                                   : rg::config_row(row).name;
    if (!status.ok()) {
      std::printf("FAILED: %s, %s: %s\n", name, case_.name, status.message().c_str());
      ++failures;
      return true;
    }
    const offset_t depth = V == Variant::contracting
                               ? *std::max_element(case_.sizes.begin(), case_.sizes.end())
                               : case_.k;
    compare<<<1320, 256>>>(d_.get(),
                           case_.n + case_.d_pad,
                           d_copy_.get(),
                           aligned_pitch(case_.n),
                           d_lines_,
                           case_.n,
                           std::sqrt(static_cast<float>(depth)),
                           findings_.get());
    Findings f{};
    require(cudaMemcpy(&f, findings_.get(), sizeof f, cudaMemcpyDeviceToHost), case_.name);
    if (f.wrong != 0) {
      std::printf("FAILED: %s %s, %s: %llu wrong, line %llu col %llu: got %g, want %g\n",
                  rg::name_of(V),
                  name,
                  case_.name,
                  f.wrong,
                  f.first / static_cast<unsigned long long>(case_.n),
                  f.first % static_cast<unsigned long long>(case_.n),
                  static_cast<double>(f.got),
                  static_cast<double>(f.want));
      ++failures;
    }
    return true;
  }

  /// Median microseconds of the call with cold caches; the row that selection takes if row is -1.
  double microseconds(index_t row, const Buffer<uint4>& cold, Buffer<std::uint32_t>& sink) {
    const rg::Options o = options(row);
    const auto call = describe(o);
    cudaEvent_t start = nullptr;
    cudaEvent_t stop = nullptr;
    require(cudaEventCreate(&start), "event");
    require(cudaEventCreate(&stop), "event");
    std::vector<double> times;
    for (int i = 0; i < 11; ++i) {
      evict<<<1056, 256>>>(cold.get(), cold.elems(), sink.get());
      require(cudaEventRecord(start), "event");
      const rg::Status status = rg::run(call, o);
      require(cudaEventRecord(stop), "event");
      require(cudaEventSynchronize(stop), "timed call");
      if (!status.ok()) {
        std::printf("FAILED: %s: %s\n", case_.name, status.message().c_str());
        ++failures;
        return 1e9;
      }
      float milliseconds = 0;
      require(cudaEventElapsedTime(&milliseconds, start, stop), "event");
      if (i >= 3) times.push_back(1e3 * static_cast<double>(milliseconds));
    }
    static_cast<void>(cudaEventDestroy(start));
    static_cast<void>(cudaEventDestroy(stop));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

  /// Name of the row that selection takes, with or without a workspace.
  [[nodiscard]] std::string selected(index_t row) const {
    const rg::Options o = options(row);
    const auto plan = rg::make_plan(describe(o), o);
    if (!plan.ok()) return "none";
    const std::string name = rg::config_row(plan.value().kernel.row).name;
    return plan.value().copies.any() ? "copies, " + name : name;
  }

 private:
  [[nodiscard]] offset_t b_lines() const {
    if (V == Variant::contracting) return case_.m;
    return groups_ * (case_.transposed ? case_.n : case_.k);
  }
  [[nodiscard]] offset_t b_elems() const {
    return V != Variant::contracting && case_.transposed ? case_.k : case_.n;
  }
  /// A permutation; in small cases with entries that exist nowhere, and some twice.
  [[nodiscard]] std::vector<std::int32_t> index_values() const {
    std::vector<std::int32_t> index(static_cast<std::size_t>(entries_));
    for (offset_t i = 0; i < entries_; ++i)
      index[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(entries_ % 7919 == 0 ? i : (i * 7919 + 13) % entries_);
    if (entries_ < 1000)
      for (std::size_t i = 0; i < index.size(); ++i) {
        if (i % 11 == 3) index[i] = -1;
        if (i % 11 == 5) index[i] = static_cast<std::int32_t>(entries_);
        if (i % 11 == 7) index[i] = 2147483647;
        if (i % 11 == 8) index[i] = index[i - 7];
      }
    return index;
  }

  Case case_;
  cublasHandle_t blas_;
  offset_t groups_;
  offset_t slabs_;
  offset_t entries_;
  Lines a_at_;
  Lines b_at_;
  offset_t d_lines_;
  Buffer<bf16> a_;
  Buffer<bf16> b_;
  Buffer<bf16> d_;
  Buffer<bf16> a_copy_;
  Buffer<bf16> b_copy_;
  Buffer<bf16> d_copy_;
  Buffer<std::int32_t> sizes_;
  Buffer<std::int32_t> index_;
  Buffer<Findings> findings_;
  std::unique_ptr<Buffer<uint4>> workspace_;
};

template <Variant V>
void check_case(const Case& c, cublasHandle_t blas) {
  Call<V> call(c, blas);
  call.reference();
  static_cast<void>(call.check(-1));
  static_cast<void>(call.check(with_workspace));
  for (index_t row = 0; row < rg::config_rows; ++row)
    if (rg::config_row(row).config.engine != rg::EngineId::simple)
      static_cast<void>(call.check(row));
}

void check_everything(cublasHandle_t blas) {
  const std::vector<std::int32_t> sizes[] = {
      {1, 0, 129, 300, 0, 255, 92}, {40, 3, 64, 65, 0, 1}, {333}};
  struct Extent {
    offset_t k, n;
  };
  for (const auto& s : sizes) {
    offset_t m = 0;
    for (const std::int32_t size : s) m += size;
    for (const Extent& e :
         {Extent{200, 136}, Extent{201, 137}, Extent{515, 770}, Extent{1, 1}, Extent{31, 300}})
      for (const bool transposed : {false, true})
        for (const bool gathers : {false, true})
          for (const offset_t off : {0, 1, 2, 3, 4, 7}) {
            Case c;
            c.name = "small";
            c.m = m;
            c.k = e.k;
            c.n = e.n;
            c.sizes = s;
            c.transposed = transposed;
            c.gathers = gathers;
            c.a_shift = off;
            c.b_shift = off * 3 % 8;
            c.a_pad = off % 3;
            c.b_pad = off / 2;
            c.d_pad = off;
            check_case<Variant::non_contracting>(c, blas);
            if (!transposed) check_case<Variant::contracting>(c, blas);
            if (s.size() > 1) {
              c.m = 77;
              check_case<Variant::batch>(c, blas);
            }
          }
  }
  std::printf("%d checks, %d failed\n", checks, failures);
  std::fflush(stdout);
}

struct Shape {
  offset_t m, k, n, g;
};

/// One line a case: its row, time, rate and the share of the aligned call's rate.
template <Variant V>
void time_shape(const Shape& s, bool transposed, cublasHandle_t blas, const Buffer<uint4>& cold) {
  Buffer<std::uint32_t> sink(1);
  Case aligned;
  aligned.name = "aligned";
  aligned.m = s.m;
  aligned.k = s.k;
  aligned.n = s.n;
  aligned.transposed = transposed;
  aligned.sizes.assign(static_cast<std::size_t>(s.g), static_cast<std::int32_t>(s.m / s.g));
  std::vector<Case> cases{aligned};
  const auto add = [&](const char* name, const auto& change) {
    Case c = aligned;
    c.name = name;
    change(c);
    cases.push_back(c);
  };
  add("gathered", [](Case& c) { c.gathers = true; });
  add("pitch of k odd", [](Case& c) { c.a_pad = 1, c.b_pad = c.transposed ? 1 : 0; });
  add("pitch of n odd", [](Case& c) { c.b_pad = 1; });
  add("both pitches odd", [](Case& c) { c.a_pad = c.b_pad = 1; });
  add("k + 1, n + 1", [](Case& c) { c.k += 1, c.n += 1; });
  add("k + 2, n + 2", [](Case& c) { c.k += 2, c.n += 2; });
  add("pointers off by 2 bytes", [](Case& c) { c.a_shift = c.b_shift = 1; });
  add("both pitches odd, gathered", [](Case& c) { c.a_pad = c.b_pad = 1, c.gathers = true; });
  double aligned_rate = 0;
  const auto report = [&](Call<V>& call, const Case& c, index_t row, const std::string& name) {
    static_cast<void>(call.check(row));
    const double us = call.microseconds(row, cold, sink);
    const double rate =
        2e-6 * static_cast<double>(c.m) * static_cast<double>(c.k) * static_cast<double>(c.n) / us;
    if (aligned_rate == 0) aligned_rate = rate;
    std::printf("%-16s %s %lldx%lldx%lldx%lld %-28s %-28s %9.1f us %6.1f TFLOP/s  %.3f\n",
                rg::name_of(V),
                transposed ? "nt" : "nn",
                static_cast<long long>(c.m),
                static_cast<long long>(c.k),
                static_cast<long long>(c.n),
                static_cast<long long>(s.g),
                c.name,
                name.c_str(),
                us,
                rate,
                rate / aligned_rate);
    std::fflush(stdout);
  };
  for (const Case& c : cases) {
    Call<V> call(c, blas);
    call.reference();
    report(call, c, -1, call.selected(-1));
    if (const std::string copies = call.selected(with_workspace); copies.rfind("copies", 0) == 0)
      report(call, c, with_workspace, copies);
    if (c.name != aligned.name) continue;
    for (index_t row = 0; row < rg::config_rows; ++row) {
      const rg::Options o = call.options(row);
      if (rg::config_row(row).config.engine == rg::EngineId::mma_sync &&
          rg::make_plan(call.describe(o), o).ok())
        report(call, c, row, rg::config_row(row).name);
    }
  }
}

void time_everything(cublasHandle_t blas) {
  Buffer<uint4> cold((256 << 20) / offset_t{sizeof(uint4)});
  cold.fill(0);
  const Shape shapes[] = {{15360, 6144, 20480, 32}, {8192, 7168, 4096, 32}};
  for (const Shape& s : shapes) {
    time_shape<Variant::non_contracting>(s, false, blas, cold);
    time_shape<Variant::non_contracting>(s, true, blas, cold);
    time_shape<Variant::contracting>(s, false, blas, cold);
  }
  time_shape<Variant::non_contracting>({1024, 7168, 4096, 64}, false, blas, cold);
  time_shape<Variant::non_contracting>({1024, 7168, 4096, 64}, true, blas, cold);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "all";
  if (mode != "check" && mode != "time" && mode != "all") {
    std::printf("modes: check, time, all\n");
    return 2;
  }
  cublasHandle_t blas = nullptr;
  if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS) return 2;
  // Sums of bf16 parts would be less exact than what is checked.
  static_cast<void>(cublasSetMathMode(blas, CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION));
  if (mode != "time") check_everything(blas);
  if (mode != "check") time_everything(blas);
  static_cast<void>(cublasDestroy(blas));
  return failures == 0 ? 0 : 1;
}
