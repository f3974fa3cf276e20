// SPDX-License-Identifier: Apache-2.0
// The native runtime: memory, copies and the device's description, on the platform under test.

#include "raggedgemm/platform/runtime.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/device_array.hpp"

namespace {

using namespace raggedgemm;

TEST_CASE("The runtime describes its device", "[platform][device]") {
  const Result<Device> device = runtime::native::device();
  REQUIRE(device.ok());
  CHECK(device.value().platform == runtime::native::platform);
  CHECK(device.value().multiprocessors >= 1);
  CHECK(device.value().chiplets >= 1);
  CHECK(std::string(device.value().name) != "");
  if (runtime::has_gpu_platform) CHECK(device.value().shared_bytes >= 48 * 1024);
}

TEST_CASE("Copies and fills reach the device and come back", "[platform][device]") {
  support::DeviceArray<std::int32_t> array(std::vector<std::int32_t>{1, 2, 3, 4, 5});
  CHECK(array.get() == std::vector<std::int32_t>{1, 2, 3, 4, 5});
  REQUIRE(runtime::native::fill(array.data() + 1, 0, 2 * sizeof(std::int32_t)).ok());
  REQUIRE(runtime::native::synchronize().ok());
  CHECK(array.get() == std::vector<std::int32_t>{1, 0, 0, 4, 5});
  CHECK(array.guards_intact());
}

TEST_CASE("Copies and allocations of nothing are allowed", "[platform][device]") {
  CHECK(runtime::native::copy_to_device(nullptr, nullptr, 0).ok());
  CHECK(runtime::native::copy_to_host(nullptr, nullptr, 0).ok());
  void* const nothing = runtime::native::allocate(0);
  CHECK(nothing != nullptr);
  runtime::native::release(nothing);
}

TEST_CASE("Allocations are aligned to 256 bytes", "[platform][device]") {
  for (const std::size_t bytes : {1U, 100U, 4096U}) {
    void* const memory = runtime::native::allocate(bytes);
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % 256 == 0);
    runtime::native::release(memory);
  }
}

TEST_CASE("DeviceArray sees a write outside its elements", "[support][device]") {
  support::DeviceArray<std::uint16_t> array(3, 1);
  CHECK(array.guards_intact());
#if !defined(SUPPORT_ASAN)  // there the write itself would end the program
  const std::uint16_t value = 7;
  REQUIRE(runtime::native::copy_to_device(array.data() + 3, &value, sizeof value).ok());
  CHECK(!array.guards_intact());
#endif
}

TEST_CASE("A stopwatch measures time that has passed", "[platform][device]") {
  runtime::native::Stopwatch watch;
  watch.start(nullptr);
  watch.stop(nullptr);
  CHECK(watch.microseconds() >= 0.0);
}

}  // namespace
