// SPDX-License-Identifier: Apache-2.0
// On a device, in a stream: sizes are written by the device side and never read by the host.
// One text for CUDA, HIP and the CPU; runtime::native is the platform that compiles it.
#include <raggedgemm/platform/runtime.hpp>
#include <raggedgemm/raggedgemm.hpp>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace rg = raggedgemm;
namespace rt = raggedgemm::runtime::native;

namespace {

/// A device copy of a host vector, freed with the object.
template <class T>
struct DeviceArray {
  explicit DeviceArray(const std::vector<T>& host)
      : data(static_cast<T*>(rt::allocate(host.size() * sizeof(T)))) {
    if (data != nullptr)
      ready = rt::copy_to_device(data, host.data(), host.size() * sizeof(T)).ok();
  }
  ~DeviceArray() { rt::release(data); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* data;
  bool ready = false;
};

}  // namespace

int main() {
  if (const auto device = rt::device(); !device.ok()) {
    std::printf("SKIPPED: %s\n", device.status().message().c_str());
    return 77;
  }
  const int m = 1000, k = 256, n = 128, g = 4;
  std::vector<int> sizes = {300, 0, 450, 200};  // the last 50 rows belong to no group
  DeviceArray<rg::bf16> lhs(std::vector<rg::bf16>(m * k, rg::to_bf16(0.5F)));
  DeviceArray<rg::bf16> rhs(std::vector<rg::bf16>(g * k * n, rg::to_bf16(0.25F)));
  DeviceArray<int> device_sizes(sizes);
  DeviceArray<rg::bf16> out(std::vector<rg::bf16>(m * n, rg::to_bf16(-1.0F)));
  if (!(lhs.ready && rhs.ready && device_sizes.ready && out.ready)) {
    std::puts("allocation failed");
    return 1;
  }

  // Describe once, plan once: neither depends on the sizes.
  const rt::Stream stream;
  const rg::Options options{.stream = stream.get()};
  const auto call = rg::describe(rg::view(lhs.data, m, k),
                                 rg::view(rhs.data, g, k, n),
                                 rg::GroupSizes(device_sizes.data, g),
                                 rg::view(out.data, m, n),
                                 options);
  std::printf("%s", rg::explain(call, options).c_str());
  if (const rg::Status status = rg::run(call, options); !status.ok()) {
    std::puts(status.message().c_str());
    return 1;
  }
  if (!stream.synchronize().ok()) return 1;

  std::vector<rg::bf16> result(m * n);
  if (!rt::copy_to_host(result.data(), out.data, result.size() * sizeof(rg::bf16)).ok()) return 1;
  const float inside = rg::to_float(result[949 * n]);
  const float tail = rg::to_float(result[950 * n]);
  std::printf("row 949: %g (32 expected), row 950: %g (0 expected)\n",
              static_cast<double>(inside),
              static_cast<double>(tail));
  return inside == 32.0F && tail == 0.0F ? 0 : 1;
}
