// SPDX-License-Identifier: Apache-2.0
// The first ragged dots of a process, one for each engine and variant, are made while a stream is
// being captured: planning, kernel attributes and tensor maps must all be legal there. The graph is
// replayed three times, with other sizes and data each time. A program of its own, because any test
// before it would have made the first call.

#include <raggedgemm/raggedgemm.hpp>

#include <cstdio>
#include <vector>

#include "support/gpu.hpp"

#if !(RG_PLATFORM_CUDA || RG_PLATFORM_HIP)

int main() {
  std::puts("SKIPPED: the host has no streams to capture");
  return 77;
}

#else

namespace {

namespace rg = raggedgemm;
namespace rt = raggedgemm::runtime::native;
using rg::bf16;

constexpr int m = 256, k = 64, n = 128, g = 4;
constexpr int b = 6, batch_m = 32;

template <class T>
struct Array {
  explicit Array(std::size_t elems)
      : host(elems), data(static_cast<T*>(rt::allocate(elems * sizeof(T)))) {}
  ~Array() { rt::release(data); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  bool upload() { return rt::copy_to_device(data, host.data(), host.size() * sizeof(T)).ok(); }
  bool download() { return rt::copy_to_host(host.data(), data, host.size() * sizeof(T)).ok(); }
  /// Small whole numbers: sums are exact.
  void fill(int seed) {
    for (std::size_t i = 0; i < host.size(); ++i)
      host[i] = rg::Element<T>::round(static_cast<float>((seed + static_cast<int>(i) * 7) % 5 - 2));
  }
  [[nodiscard]] float at(int i) const {
    return rg::Element<T>::widen(host[static_cast<std::size_t>(i)]);
  }
  std::vector<T> host;
  T* data;
};

int failures = 0;

void check(bool right, const char* what) {
  if (right) return;
  ++failures;
  std::printf("wrong: %s\n", what);
}

bool reported(const char* what, const rg::Status& status) {
  std::printf("%s: %s\n", what, status.message().c_str());
  return status.ok();
}

/// Operands of ragged_dot and of the contracting variant, in one element type.
template <class T>
struct Rows {
  Array<T> lhs{m * k};
  Array<T> rhs{g * k * n};
  Array<T> gradient{m * n};
  Array<float> out{m * n};
  Array<float> weights{g * k * n};

  bool set(int seed) {
    lhs.fill(seed);
    rhs.fill(seed + 1);
    gradient.fill(seed + 2);
    for (float& value : out.host) value = -77;
    for (float& value : weights.host) value = -77;
    return lhs.upload() && rhs.upload() && gradient.upload() && out.upload() && weights.upload();
  }

  bool run(const rg::Groups& groups, const rg::Options& options, const char* type) {
    const T* l = lhs.data;
    const T* r = rhs.data;
    const T* d = gradient.data;
    std::printf("%s ", type);
    const bool first = reported(
        "ragged_dot",
        rg::ragged_dot(
            rg::view(l, m, k), rg::view(r, g, k, n), groups, rg::view(out.data, m, n), options));
    std::printf("%s ", type);
    return reported("ragged_dot_contracting",
                    rg::ragged_dot_contracting(rg::view(l, m, k),
                                               rg::view(d, m, n),
                                               groups,
                                               rg::view(weights.data, g, k, n),
                                               options)) &&
           first;
  }

  bool right(const std::vector<std::int32_t>& sizes) {
    if (!out.download() || !weights.download()) return false;
    bool all = true;
    int row = 0;
    for (int group = 0; group < g; ++group) {
      const int begin = row;
      row += sizes[static_cast<std::size_t>(group)];
      for (int i = begin; i < row; ++i)
        for (int col = 0; col < n; ++col) {
          float sum = 0;
          for (int j = 0; j < k; ++j) sum += lhs.at(i * k + j) * rhs.at((group * k + j) * n + col);
          all = all && out.at(i * n + col) == sum;
        }
      for (int j = 0; j < k; ++j)
        for (int col = 0; col < n; ++col) {
          float sum = 0;
          for (int i = begin; i < row; ++i) sum += lhs.at(i * k + j) * gradient.at(i * n + col);
          all = all && weights.at((group * k + j) * n + col) == sum;
        }
    }
    for (int i = row * n; i < m * n; ++i) all = all && out.at(i) == 0;
    return all;
  }
};

}  // namespace

int main() {
  // No call of the library here: not even a question about the device.
  if (support::gpu::device_count() == 0) {
    std::puts("SKIPPED: no device");
    return 77;
  }
  Rows<bf16> half;
  Rows<float> single;
  Rows<rg::fp8_e4m3fn> eight;
  Array<bf16> x(b * batch_m * k);
  Array<bf16> y(b * k * n);
  Array<float> z(b * batch_m * n);
  Array<std::int32_t> sizes(g);
  sizes.host = {0, 0, 0, 0};
  check(sizes.upload() && half.set(0) && single.set(0) && eight.set(0), "set up");
  check(rt::synchronize().ok(), "synchronize");

  const rt::Stream stream;
  support::gpu::Graph graph;
  const rg::Options options{.stream = stream.get()};
  const rg::GroupSizes groups(sizes.data, g);
  if (!graph.begin(stream.get())) {
    std::puts("capture could not begin");
    return 1;
  }
  const bool bf16_ok = half.run(groups, options, "bf16");
  const bool f32_ok = single.run(groups, options, "f32");
  const bool fp8_ok = eight.run(groups, options, "e4m3fn");
  const bool batch_ok =
      reported("bf16 ragged_dot_batch",
               rg::ragged_dot_batch(rg::view(static_cast<const bf16*>(x.data), b, batch_m, k),
                                    rg::view(static_cast<const bf16*>(y.data), b, k, n),
                                    rg::GroupSizes(sizes.data, 2),
                                    rg::view(z.data, b, batch_m, n),
                                    options));
  const bool captured = graph.end();
  check(bf16_ok && f32_ok && fp8_ok && batch_ok, "a first call in a capture");
  check(captured, "the capture");
  if (failures > 0) return 1;

  const std::vector<std::int32_t> rounds[] = {{3, 2, 200, 11}, {0, 1, 0, 255}, {130, 0, 126, 0}};
  for (int round = 0; round < 3; ++round) {
    sizes.host = rounds[round];
    x.fill(round + 5);
    y.fill(round + 6);
    check(sizes.upload() && half.set(round) && single.set(round + 10) && eight.set(round + 20) &&
              x.upload() && y.upload() && rt::synchronize().ok(),
          "upload");
    check(graph.launch(), "replay");
    check(half.right(sizes.host), "bf16 of a replay");
    check(single.right(sizes.host), "f32 of a replay");
    check(eight.right(sizes.host), "e4m3fn of a replay");
    check(z.download(), "download");
    const int live = sizes.host[0] + sizes.host[1] < b ? sizes.host[0] + sizes.host[1] : b;
    bool all = true;
    for (int i = 0; i < b * batch_m; ++i)
      for (int col = 0; col < n; ++col) {
        float sum = 0;
        for (int j = 0; j < k && i < live * batch_m; ++j)
          sum += x.at(i * k + j) * y.at((i / batch_m * k + j) * n + col);
        all = all && z.at(i * n + col) == sum;
      }
    check(all, "bf16 batch of a replay");
  }
  std::printf("first_call_in_capture: 7 calls captured, 3 replays, %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

#endif
