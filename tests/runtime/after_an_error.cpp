// SPDX-License-Identifier: Apache-2.0
// Calls after errors of someone else's: one that the runtime only remembers is not the call's own,
// and one that the device does not recover from is a Status of every later call. A program of its
// own, because nothing of the device works after it.

#include <raggedgemm/raggedgemm.hpp>

#include <cstdio>
#include <vector>

#include "support/gpu.hpp"

#if !RG_PLATFORM_CUDA

int main() {
  std::puts("SKIPPED: only CUDA says what a device error leaves behind");
  return 77;
}

#else

namespace {

namespace rg = raggedgemm;
namespace rt = raggedgemm::runtime::native;

constexpr int m = 8, k = 4, n = 8, g = 2;

__global__ void give_up() { __trap(); }

int failures = 0;

void check(bool right, const char* what) {
  if (right) return;
  ++failures;
  std::printf("wrong: %s\n", what);
}

template <class T>
T* device_copy(const std::vector<T>& host) {
  auto* const data = static_cast<T*>(rt::allocate(host.size() * sizeof(T)));
  check(data != nullptr && rt::copy_to_device(data, host.data(), host.size() * sizeof(T)).ok(),
        "upload");
  return data;
}

}  // namespace

int main() {
  if (support::gpu::device_count() == 0) {
    std::puts("SKIPPED: no device");
    return 77;
  }
  const float* const lhs = device_copy(std::vector<float>(m * k, 2.0F));
  const float* const rhs = device_copy(std::vector<float>(g * k * n, 3.0F));
  std::vector<float> result(m * n, -1.0F);
  float* const out = device_copy(result);
  const std::int32_t* const sizes = device_copy(std::vector<std::int32_t>{3, 5});
  const auto call = [&] {
    return rg::ragged_dot(
        rg::view(lhs, m, k), rg::view(rhs, g, k, n), rg::GroupSizes(sizes, g), rg::view(out, m, n));
  };

  // An error that the runtime remembers until it is asked: left by someone who did not ask.
  void* none = nullptr;
  check(cudaMalloc(&none, std::size_t{1} << 60) != cudaSuccess, "an allocation that cannot be");
  const rg::Status remembered = call();
  std::printf("after a failed allocation: %s\n", remembered.message().c_str());
  check(remembered.ok(), "a call after an error that was not its own");
  check(rt::synchronize().ok() &&
            rt::copy_to_host(result.data(), out, result.size() * sizeof(float)).ok(),
        "download");
  for (const float value : result) check(value == 2.0F * 3.0F * k, "the result");

  // An error that ends the device's context.
  give_up<<<1, 1>>>();
  check(!rt::synchronize().ok(), "a kernel that gives up");
  for (int i = 0; i < 2; ++i) {
    const rg::Status lost = call();
    std::printf("after a kernel that gave up: %s\n", lost.message().c_str());
    check(lost.code() == rg::StatusCode::vendor_error || lost.code() == rg::StatusCode::no_device,
          "a call on a lost device");
  }
  std::printf("after_an_error: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}

#endif
