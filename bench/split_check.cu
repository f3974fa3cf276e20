// SPDX-License-Identifier: Apache-2.0
// Split depth on one Hopper GPU: products of few tiles, whole and in 2 to 32 parts. Each result in
// parts is compared with the whole one; times are medians of graphs of 32 calls on changing
// operands (the L2 does not hold them), microseconds a call.
//   nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -Iinclude bench/split_check.cu
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "gpu.cuh"
#include "raggedgemm/raggedgemm.hpp"

namespace rg = raggedgemm;
using rg::bf16;
using rg::index_t;
using rg::offset_t;
using rg::Variant;

namespace {

constexpr index_t row_named(const char* name) {
  for (index_t row = 0; row < rg::config_rows; ++row) {
    const char* a = rg::config_row(row).name;
    const char* b = name;
    while (*a != '\0' && *a == *b) ++a, ++b;
    if (*a == *b) return row;
  }
  return -1;
}

template <Variant V, index_t Row>
rg::KernelEntry entry() {
  return rg::dispatch::kernel_entry<rg::Platform::cuda,
                                    Row,
                                    rg::dispatch::variant_type<V>,
                                    rg::Types<bf16, bf16, bf16>,
                                    rg::Identity>();
}

__global__ void fill_noise(bf16* to, std::size_t elems, std::uint32_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < elems;
       i += std::size_t{gridDim.x} * blockDim.x)
    to[i] = rg::Element<bf16>::round(noise(i, seed));
}

struct Shape {
  offset_t m, k, n, g;
};

int failures = 0;

/// The product of a shape, on one of several copies of its operands.
template <Variant V>
class Product {
 public:
  explicit Product(const Shape& s)
      : s_(s),
        lhs_elems_(s.m * s.k),
        rhs_elems_(V == Variant::contracting ? s.m * s.n : s.g * s.k * s.n),
        out_elems_(V == Variant::contracting ? s.g * s.k * s.n : s.m * s.n),
        copies_(std::clamp(
            offset_t{150'000'000} / (lhs_elems_ + rhs_elems_), offset_t{2}, offset_t{calls})),
        lhs_(lhs_elems_ * copies_),
        rhs_(rhs_elems_ * copies_),
        out_(out_elems_),
        workspace_(rg::most_parts * out_elems_),
        sizes_(even_sizes(s)) {
    fill_noise<<<1320, 256>>>(lhs_.get(), lhs_.elems(), 1);
    fill_noise<<<1320, 256>>>(rhs_.get(), rhs_.elems(), 2);
    require(cudaStreamCreate(&stream_), "stream");
    require(cudaDeviceSynchronize(), "fill");
  }
  ~Product() { static_cast<void>(cudaStreamDestroy(stream_)); }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  [[nodiscard]] auto describe(offset_t copy, const rg::Options& o) const {
    const bf16* const lhs = lhs_.get() + copy % copies_ * lhs_elems_;
    const bf16* const rhs = rhs_.get() + copy % copies_ * rhs_elems_;
    const rg::GroupSizes groups(sizes_.get(), s_.g);
    if constexpr (V == Variant::contracting)
      return rg::describe_contracting(rg::view(lhs, s_.m, s_.k),
                                      rg::view(rhs, s_.m, s_.n),
                                      groups,
                                      rg::view(out_.get(), s_.g, s_.k, s_.n),
                                      o);
    else
      return rg::describe(rg::view(lhs, s_.m, s_.k),
                          rg::view(rhs, s_.g, s_.k, s_.n),
                          groups,
                          rg::view(out_.get(), s_.m, s_.n),
                          o);
  }

  [[nodiscard]] rg::Options options(bool with_workspace) const {
    rg::Options o;
    o.workspace = workspace_.get();
    o.workspace_bytes = with_workspace ? static_cast<std::int64_t>(workspace_.bytes()) : 0;
    return o;
  }

  void enqueue(const rg::Plan& plan, offset_t copy) {
    const rg::Identity identity;
    const auto bound = rg::bind(plan, describe(copy, options(true)).pointers);
    const rg::Status status =
        bound.ok() ? rg::run(bound.value(), &identity, stream_) : bound.status();
    if (status.ok()) return;
    std::printf("FAILED: %s\n", status.message().c_str());
    ++failures;
  }

  std::vector<float> result(const rg::Plan& plan) {
    workspace_.fill(0xFF);  // NaN
    out_.fill(0xFF);
    enqueue(plan, 0);
    require(cudaStreamSynchronize(stream_), "call");
    std::vector<bf16> narrow(static_cast<std::size_t>(out_elems_));
    require(cudaMemcpy(narrow.data(), out_.get(), out_.bytes(), cudaMemcpyDeviceToHost), "result");
    std::vector<float> wide;
    for (const bf16 x : narrow) wide.push_back(rg::to_float(x));
    return wide;
  }

  double microseconds(const rg::Plan& plan) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    require(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), "capture");
    for (int i = 0; i < calls; ++i) enqueue(plan, i);
    require(cudaStreamEndCapture(stream_, &graph), "capture");
    require(cudaGraphInstantiate(&ready, graph, 0), "graph");
    cudaEvent_t start = nullptr;
    cudaEvent_t stop = nullptr;
    require(cudaEventCreate(&start), "event");
    require(cudaEventCreate(&stop), "event");
    std::vector<double> times;
    for (int i = 0; i < 14; ++i) {
      require(cudaEventRecord(start, stream_), "event");
      require(cudaGraphLaunch(ready, stream_), "graph");
      require(cudaEventRecord(stop, stream_), "event");
      require(cudaEventSynchronize(stop), "graph");
      float milliseconds = 0;
      require(cudaEventElapsedTime(&milliseconds, start, stop), "event");
      if (i >= 3) times.push_back(1e3 * static_cast<double>(milliseconds) / calls);
    }
    static_cast<void>(cudaEventDestroy(start));
    static_cast<void>(cudaEventDestroy(stop));
    static_cast<void>(cudaGraphExecDestroy(ready));
    static_cast<void>(cudaGraphDestroy(graph));
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

 private:
  static constexpr int calls = 32;

  static std::vector<std::int32_t> even_sizes(const Shape& s) {
    std::vector<std::int32_t> sizes(static_cast<std::size_t>(s.g));
    for (offset_t i = 0; i < s.g; ++i)
      sizes[static_cast<std::size_t>(i)] =
          static_cast<std::int32_t>(s.m / s.g + (i < s.m % s.g ? 1 : 0));
    return sizes;
  }

  Shape s_;
  offset_t lhs_elems_;
  offset_t rhs_elems_;
  offset_t out_elems_;
  offset_t copies_;
  Buffer<bf16> lhs_;
  Buffer<bf16> rhs_;
  Buffer<bf16> out_;
  Buffer<float> workspace_;
  Buffer<std::int32_t> sizes_;
  cudaStream_t stream_ = nullptr;
};

template <Variant V>
void compare(const Shape& s, const std::vector<rg::KernelEntry>& entries) {
  Product<V> product(s);
  rg::KernelSet set;
  set.entries = entries.data();
  set.count = static_cast<index_t>(entries.size());
  set.platform = rg::Platform::cuda;
  set.device = &rg::runtime::gpu::device;
  set.variant = V;
  set.lhs_dtype = set.rhs_dtype = set.out_dtype = rg::DType::bf16;
  const rg::Options lent = product.options(true);
  rg::Options forced = lent;
  forced.config_row = entries.front().row;
  const rg::Problem problem = product.describe(0, lent).problem;
  const auto whole = rg::make_plan(problem, product.options(false), set);
  const auto chosen = rg::make_plan(problem, lent, set);
  const auto in_parts = rg::make_plan(problem, forced, set);
  if (!whole.ok() || !chosen.ok() || !in_parts.ok()) {
    std::printf("FAILED: %s\n", in_parts.status().message().c_str());
    ++failures;
    return;
  }
  const std::vector<float> expected = product.result(whole.value());
  std::printf("%-11s %lld,%lld,%lld,%lld: whole %.1f (%s), chosen %d parts;",
              V == Variant::contracting ? "contracting" : "rows",
              static_cast<long long>(s.m),
              static_cast<long long>(s.k),
              static_cast<long long>(s.n),
              static_cast<long long>(s.g),
              product.microseconds(whole.value()),
              rg::config_row(whole.value().kernel.row).name,
              chosen.value().parts);
  // The same products added in another order. A part of 32 that is missing would be off by some
  // 0.06 roots of the depth.
  const double depth = static_cast<double>(V == Variant::contracting ? s.m / s.g : s.k);
  for (const index_t parts : {2, 3, 4, 6, 8, 12, 16, 24, 32}) {
    rg::Plan plan = in_parts.value();
    plan.blocks = static_cast<index_t>(rg::min_of(
        offset_t{plan.blocks} * parts / plan.parts,
        offset_t{plan.kernel.blocks_per_multiprocessor()} * set.device().value().multiprocessors));
    plan.parts = parts;
    const std::vector<float> got = product.result(plan);
    bool right = true;
    for (std::size_t i = 0; i < got.size(); ++i)
      right = right && std::fabs(got[i] - expected[i]) <=
                           0x1p-7 * std::fabs(expected[i]) + 0x1p-14 * std::sqrt(depth);
    if (!right) ++failures;
    std::printf(" %d: %.1f%s", parts, product.microseconds(plan), right ? "" : " WRONG");
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

int main() {
  constexpr auto rows = Variant::non_contracting;
  constexpr auto depth = Variant::contracting;
  const std::vector<rg::KernelEntry> forward{
      entry<rows, row_named("wgmma_nn_swapped_128x128x64_split")>(),
      entry<rows, row_named("wgmma_nn_swapped_128x128x64")>(),
      entry<rows, row_named("wgmma_nn_swapped_256x128x64")>()};
  const std::vector<rg::KernelEntry> gradient{
      entry<depth, row_named("wgmma_tn_128x128x64_split")>(),
      entry<depth, row_named("wgmma_tn_128x256x64")>(),
      entry<depth, row_named("wgmma_tn_128x128x64")>()};
  for (const Shape& s : {Shape{16, 7168, 512, 8},
                         Shape{16, 7168, 256, 1},
                         Shape{8, 4096, 512, 1},
                         Shape{64, 7168, 1024, 4},
                         Shape{64, 2048, 512, 8},
                         Shape{64, 1024, 512, 8},
                         Shape{128, 8192, 1024, 4},
                         Shape{256, 16384, 1024, 4},
                         Shape{16, 7168, 1024, 8},
                         Shape{1024, 8192, 512, 4}})
    compare<rows>(s, forward);
  for (const Shape& s : {Shape{8192, 512, 512, 2},
                         Shape{65536, 256, 512, 4},
                         Shape{4096, 1024, 1024, 1},
                         Shape{4096, 512, 512, 4},
                         Shape{16384, 768, 512, 4},
                         Shape{65536, 128, 128, 8}})
    compare<depth>(s, gradient);
  if (failures != 0) std::printf("%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
