// SPDX-License-Identifier: Apache-2.0
// Calls in a running program: plans used again, threads, stream order without synchronisation,
// graph replay, refused calls that leave nothing behind, and what a call does not do: allocate or
// wait. (The first call of a process inside a capture is a program of its own, tests/runtime.)

#include <raggedgemm/raggedgemm.hpp>

#include <atomic>
#include <cstdlib>
#include <new>
#include <thread>

#include "support/every_row.hpp"
#include "support/gpu.hpp"
#include "support/scale.hpp"
#include "support/sizes.hpp"
#include "support/workspace.hpp"

#if !(RG_PLATFORM_CUDA || RG_PLATFORM_HIP)
// On the host every allocation of the calling thread, and of the process, is counted.
namespace {
std::atomic<long> allocations{0};
thread_local long own_allocations = 0;

void* counted(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  ++own_allocations;
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  return alignment <= alignof(std::max_align_t)
             ? std::malloc(bytes == 0 ? 1 : bytes)
             : std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}
void* counted_or_abort(std::size_t bytes, std::size_t alignment) {
  void* const memory = counted(bytes, alignment);
  if (memory == nullptr) std::abort();
  return memory;
}
/// Not inlined: GCC 12 would take the pair of malloc and an inlined delete for a mismatch.
[[gnu::noinline]] void give_back(void* memory) noexcept { std::free(memory); }
}  // namespace

void* operator new(std::size_t bytes) { return counted_or_abort(bytes, 1); }
void* operator new[](std::size_t bytes) { return counted_or_abort(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_or_abort(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes, 1); }
void* operator new(std::size_t bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { give_back(memory); }
void operator delete[](void* memory) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete[](void* memory, std::size_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { give_back(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { give_back(memory); }
#endif

// Device code is not in an unnamed namespace: nvcc's stubs could not name it.
namespace runtime_test {

namespace rg = raggedgemm;
using rg::bf16;
using rg::offset_t;

constexpr offset_t m = 64, k = 32, n = 48, g = 4;

/// What round `round` of a loop puts into sizes and lhs: the same on host and device.
RG_HOST_DEVICE constexpr std::int32_t size_in(int round, int group) {
  return (round * 7 + group * 13) % 17;  // their sum is at most 64
}
RG_HOST_DEVICE constexpr float lhs_in(int round, int element) {
  return static_cast<float>((round * 3 + element * 5 + element / 32) % 7 - 3);
}

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP
/// Writes the sizes and lhs of a round.
__global__ void produce_on_device(int round, std::int32_t* sizes, bf16* lhs) {
  const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int step = static_cast<int>(gridDim.x * blockDim.x);
  if (first < static_cast<int>(g)) sizes[first] = size_in(round, first);
  for (int i = first; i < static_cast<int>(m * k); i += step)
    lhs[i] = rg::to_bf16(lhs_in(round, i));
}
void produce(int round, std::int32_t* sizes, bf16* lhs, support::gpu::StreamHandle stream) {
  produce_on_device<<<3, 64, 0, stream>>>(round, sizes, lhs);
}
#else
void produce(int round, std::int32_t* sizes, bf16* lhs, void*) {
  for (int group = 0; group < g; ++group) sizes[group] = size_in(round, group);
  for (int i = 0; i < m * k; ++i) lhs[i] = rg::to_bf16(lhs_in(round, i));
}
#endif

}  // namespace runtime_test

namespace {

using namespace support;
using namespace runtime_test;
using rg::StatusCode;

constexpr float rhs_in(int element) {
  return static_cast<float>(element % 5 - 2 + element / (32 * 48));
}

std::vector<bf16> rhs_values() {
  std::vector<bf16> values(g * k * n);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = rg::to_bf16(rhs_in(static_cast<int>(i)));
  return values;
}

/// The output of a round; whole numbers, so it is exact.
std::vector<float> result_of(int round) {
  std::vector<float> out(m * n, 0.0F);
  int row = 0;
  for (int group = 0; group < g; ++group)
    for (int i = 0; i < size_in(round, group); ++i, ++row)
      for (int depth = 0; depth < k; ++depth)
        for (int col = 0; col < n; ++col)
          out[static_cast<std::size_t>(row * n + col)] +=
              lhs_in(round, row * static_cast<int>(k) + depth) *
              rhs_in((group * static_cast<int>(k) + depth) * static_cast<int>(n) + col);
  return out;
}

/// The operands of a round in device memory, set from the host.
struct Round {
  DeviceArray<bf16> lhs{m * k};
  DeviceArray<bf16> rhs{rhs_values()};
  DeviceArray<std::int32_t> sizes{g};
  DeviceArray<float> out{m * n};

  explicit Round(int round) { set(round); }

  void set(int round) {
    std::vector<bf16> values(m * k);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = rg::to_bf16(lhs_in(round, static_cast<int>(i)));
    lhs.set(values);
    std::vector<std::int32_t> entries;
    for (int group = 0; group < g; ++group) entries.push_back(size_in(round, group));
    sizes.set(entries);
    require(runtime::synchronize().ok(), "synchronize");  // streams do not wait for copies
  }
  [[nodiscard]] auto describe(const rg::Options& options = {}) {
    return rg::describe(rg::view(std::as_const(lhs).data(), m, k),
                        rg::view(std::as_const(rhs).data(), g, k, n),
                        rg::GroupSizes(sizes.data(), g),
                        rg::view(out.data(), m, n),
                        options);
  }
  [[nodiscard]] bool is(int round) {
    return runtime::synchronize().ok() && out.get() == result_of(round);
  }
};

// Stays first: it is about the first call of the process.
TEST_CASE("The first call of the process may come from two threads at once",
          "[conformance][runtime][device]") {
  Round first(1);
  Round second(2);
  std::atomic<int> waiting{0};
  rg::Status status[2];
  const auto call = [&](Round& round, rg::Status& result) {
    const runtime::Stream stream;
    const rg::Options options{.stream = stream.get()};
    ++waiting;
    while (waiting.load() < 2) std::this_thread::yield();
    result = rg::run(round.describe(options), options);
    if (result.ok()) result = stream.synchronize();
  };
  std::thread other(call, std::ref(second), std::ref(status[1]));
  call(first, status[0]);
  other.join();
  INFO(status[0].message() << ", " << status[1].message());
  REQUIRE(status[0].ok());
  REQUIRE(status[1].ok());
  CHECK(first.is(1));
  CHECK(second.is(2));
}

TEST_CASE("A plan runs again with other pointers, sizes and data",
          "[conformance][runtime][device]") {
  Round made_for(3);
  const rg::Identity identity;
  int rows_run = 0;
  for (index_t row = -1; row < rg::config_rows; ++row) {
    const auto described = made_for.describe();
    const rg::Result<rg::Plan> plan = rg::make_plan(described, {.config_row = row});
    if (row >= 0 && !plan.ok()) continue;
    REQUIRE(plan.ok());
    Workspace workspace(plan.value());
    for (int round = 4; round < 9; ++round) {
      Round operands(round);
      rg::Pointers pointers = operands.describe().pointers;
      pointers.workspace = workspace.data();
      const rg::Result<rg::BoundCall> bound = rg::bind(plan.value(), pointers);
      INFO("row " << row << ", round " << round << ": " << bound.status().message());
      REQUIRE(bound.ok());
      REQUIRE(rg::run(bound.value(), &identity, nullptr).ok());
      CHECK(operands.is(round));
      operands.set(round + 10);  // the bound call reads what is there when it runs
      REQUIRE(rg::run(bound.value(), &identity, nullptr).ok());
      CHECK(operands.is(round + 10));
    }
    ++rows_run;
  }
  CHECK(rows_run > 1);
}

TEST_CASE("A plan refuses operands less aligned than those it was made for",
          "[conformance][runtime][device]") {
  Round aligned(3);
  const rg::Result<rg::Plan> plan = rg::make_plan(aligned.describe());
  REQUIRE(plan.ok());
  const DeviceArray<bf16> lhs(m * k, 1);
  const DeviceArray<bf16> rhs(g * k * n, 4);
  DeviceArray<float> out(m * n, 1);
  const auto refused = [&](const char* operand, rg::Pointers pointers) {
    const rg::Status status = rg::bind(plan.value(), pointers).status();
    INFO(operand << ": " << status.message());
    CHECK(status.code() == StatusCode::misaligned);
    CHECK(std::string(status.operand()) == operand);
    CHECK(status.needed() == 16);
    CHECK(status.got() == (operand[0] == 'l' ? 2 : operand[0] == 'r' ? 8 : 4));
  };
  rg::Pointers pointers = aligned.describe().pointers;
  pointers.a = lhs.data();
  refused("lhs", pointers);
  pointers = aligned.describe().pointers;
  pointers.b = rhs.data();
  refused("rhs", pointers);
  pointers = aligned.describe().pointers;
  pointers.d = out.data();
  refused("out", pointers);
  REQUIRE(rg::run(aligned.describe()).ok());
  CHECK(aligned.is(3));
}

TEST_CASE("Calls from several threads give the bits of a single one",
          "[conformance][runtime][device]") {
  Random random(17);
  std::vector<bf16> values(m * k);
  for (bf16& value : values) value = rg::to_bf16(static_cast<float>(random.real()));
  std::vector<bf16> weights(g * k * n);
  for (bf16& value : weights) value = rg::to_bf16(static_cast<float>(random.real()));
  const DeviceArray<bf16> lhs(values);
  const DeviceArray<bf16> rhs(weights);
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>{20, 0, 31, 9});
  const auto call = [&](float* out, const rg::Options& options) {
    return rg::ragged_dot(rg::view(std::as_const(lhs).data(), m, k),
                          rg::view(std::as_const(rhs).data(), g, k, n),
                          rg::GroupSizes(sizes.data(), g),
                          rg::view(out, m, n),
                          options);
  };
  DeviceArray<float> alone(m * n);
  REQUIRE(call(alone.data(), {}).ok());
  REQUIRE(runtime::synchronize().ok());
  const std::vector<float> expected = alone.get();
  constexpr int callers = 4;
  const int repeats = scaled(25, 5);
  const DeviceArray<float> out(static_cast<std::size_t>(callers * repeats * m * n));
  std::atomic<int> refused{0};
  std::vector<std::thread> threads;
  for (int caller = 0; caller < callers; ++caller)
    threads.emplace_back([&, caller] {
      const runtime::Stream stream;
      for (int repeat = 0; repeat < repeats; ++repeat)
        if (!call(out.data() + (caller * repeats + repeat) * m * n, {.stream = stream.get()}).ok())
          ++refused;
      if (!stream.synchronize().ok()) ++refused;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(refused.load() == 0);
  const std::vector<float> got = out.get();
  std::size_t differing = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!same_bits(got[i], expected[i % expected.size()])) ++differing;
  CHECK(differing == 0);
}

TEST_CASE("A call sees what came before it in its stream, without synchronisation",
          "[conformance][runtime][slow][device]") {
  const int rounds = scaled(1000, 50);
  const DeviceArray<bf16> lhs(m * k);
  const DeviceArray<bf16> rhs(rhs_values());
  const DeviceArray<std::int32_t> sizes(static_cast<std::size_t>(g));
  DeviceArray<float> out(static_cast<std::size_t>(rounds * m * n));
  REQUIRE(runtime::synchronize().ok());
  const runtime::Stream stream;
  const rg::Options options{.stream = stream.get()};
  int refused = 0;
  for (int round = 0; round < rounds; ++round) {
    produce(round, sizes.data(), lhs.data(), stream.get());
    const rg::Status status = rg::ragged_dot(rg::view(std::as_const(lhs).data(), m, k),
                                             rg::view(std::as_const(rhs).data(), g, k, n),
                                             rg::GroupSizes(sizes.data(), g),
                                             rg::view(out.data() + round * m * n, m, n),
                                             options);
    if (!status.ok()) ++refused;
  }
  CHECK(refused == 0);
  REQUIRE(stream.synchronize().ok());
  CHECK(out.guards_intact());
  const std::vector<float> got = out.get();
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = got.begin() + round * m * n;
    if (std::vector<float>(begin, begin + m * n) != result_of(round)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("A config row that does not exist is refused, and nothing is written",
          "[conformance][runtime][device]") {
  Round round(5);
  const std::vector<float> before = poisoned<float>(m * n);
  for (const index_t row : {rg::config_rows, rg::config_rows + 7, 2147483647}) {
    const rg::Status status = rg::run(round.describe(), {.config_row = row});
    CHECK(status.code() == StatusCode::config_not_applicable);
    CHECK(std::string(status.operand()) == "options.config_row");
    CHECK(status.got() == row);
  }
  CHECK(first_difference(round.out.get(), before) == -1);
  REQUIRE(rg::run(round.describe()).ok());
  CHECK(round.is(5));
}

TEST_CASE("A call allocates nothing and keeps no memory", "[conformance][runtime][device]") {
  Round round(6);
  const runtime::Stream stream;
  const rg::Options options{.stream = stream.get()};
  const auto call = [&] { return rg::run(round.describe(options), options); };
  REQUIRE(call().ok());
  REQUIRE(stream.synchronize().ok());
  bool all_ok = true;
#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP
  const std::size_t before = gpu::free_bytes();
  for (int i = 0; i < 20; ++i) all_ok = call().ok() && all_ok;
  REQUIRE(stream.synchronize().ok());
  CHECK(gpu::free_bytes() == before);
  CHECK(before > 0);
#else
  const long before = own_allocations;
  const long before_everywhere = allocations.load();
  for (int i = 0; i < 20; ++i) all_ok = call().ok() && all_ok;
  const long own = own_allocations - before;
  const long everywhere = allocations.load() - before_everywhere;
  CHECK(own == 0);
  // A helper thread that comes to its first block now gets its tile memory, once.
  CHECK(everywhere <= rg::runtime::host::thread_count() - 1);
#endif
  CHECK(all_ok);
  CHECK(round.is(6));
}

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP

TEST_CASE("A captured call reads sizes and data of the time of its replay",
          "[conformance][runtime][device]") {
  // That the capture succeeds also says that the call neither allocates nor waits.
  Round operands(7);
  const runtime::Stream stream;
  int rows_run = 0;
  for (index_t row = -1; row < rg::config_rows; ++row) {
    rg::Options options{.stream = stream.get(), .config_row = row};
    const rg::Result<rg::Plan> plan = rg::make_plan(operands.describe(options), options);
    if (row >= 0 && !plan.ok()) continue;
    REQUIRE(plan.ok());
    const Workspace workspace(plan.value());
    options.workspace = workspace.data();
    options.workspace_bytes = workspace.bytes();
    gpu::Graph graph;
    REQUIRE(graph.begin(stream.get()));
    const rg::Status status = rg::run(operands.describe(options), options);
    INFO("row " << row << ": " << status.message());
    const bool captured = graph.end();
    REQUIRE(status.ok());
    REQUIRE(captured);
    for (int round = 20; round < 23; ++round) {
      operands.out.set(poisoned<float>(m * n));
      operands.set(round);
      REQUIRE(graph.launch());
      CHECK(operands.is(round));
    }
    ++rows_run;
  }
  CHECK(rows_run > 1);
}

TEST_CASE("Two streams run the same plan at once", "[conformance][runtime][device]") {
  Round first(30);
  Round second(31);
  const runtime::Stream streams[2];
  const rg::Result<rg::Plan> plan = rg::make_plan(first.describe());
  REQUIRE(plan.ok());
  const rg::Identity identity;
  for (int i = 0; i < scaled(50, 10); ++i) {
    Round* const rounds[] = {&first, &second};
    for (int s = 0; s < 2; ++s) {
      const rg::Result<rg::BoundCall> bound =
          rg::bind(plan.value(), rounds[s]->describe().pointers);
      REQUIRE(bound.ok());
      REQUIRE(rg::run(bound.value(), &identity, streams[s].get()).ok());
    }
  }
  CHECK(first.is(30));
  CHECK(second.is(31));
}

TEST_CASE("Sizes in host memory are refused where the device cannot read them",
          "[conformance][runtime][device]") {
  if (gpu::reads_pageable_memory()) {
    WARN("not run: this device reads ordinary host memory");
    return;
  }
  Round round(8);
  const std::vector<std::int32_t> host_sizes(static_cast<std::size_t>(g), 3);
  const rg::Status status = rg::ragged_dot(rg::view(std::as_const(round.lhs).data(), m, k),
                                           rg::view(std::as_const(round.rhs).data(), g, k, n),
                                           rg::GroupSizes(host_sizes.data(), g),
                                           rg::view(round.out.data(), m, n));
  INFO(status.message());
  CHECK(status.code() == StatusCode::not_device_memory);
  CHECK(std::string(status.operand()) == "group_sizes");
  REQUIRE(runtime::synchronize().ok());
  CHECK(first_difference(round.out.get(), poisoned<float>(m * n)) == -1);
  REQUIRE(rg::run(round.describe()).ok());
  CHECK(round.is(8));
}

TEST_CASE("A stream of another device is a Status, and the next call works",
          "[conformance][runtime][device]") {
  if (gpu::device_count() < 2) {
    WARN("not run: one device only");
    return;
  }
  Round round(9);
  REQUIRE(gpu::use_device(1));
  {
    const runtime::Stream foreign;
    REQUIRE(gpu::use_device(0));
    const rg::Options options{.stream = foreign.get()};
    const rg::Status status = rg::run(round.describe(options), options);
    INFO(status.message());
    CHECK(!status.ok());
    CHECK(first_difference(round.out.get(), poisoned<float>(m * n)) == -1);
    REQUIRE(rg::run(round.describe()).ok());
    CHECK(round.is(9));
    REQUIRE(gpu::use_device(1));
    Round there(10);  // and the other device has kernels, plans and facts of its own
    REQUIRE(rg::run(there.describe(options), options).ok());
    CHECK(there.is(10));
  }
  REQUIRE(gpu::use_device(0));
}

#endif

#if RG_PLATFORM_CUDA

TEST_CASE("A stream that cannot be launched on is a Status, and the next call works",
          "[conformance][runtime][device]") {
  // While a blocking stream captures, the default stream may not be used: its launch is an error of
  // the vendor's runtime, which must come back as a Status and must not stick.
  Round round(11);
  cudaStream_t capturing = nullptr;
  REQUIRE(cudaStreamCreate(&capturing) == cudaSuccess);
  gpu::Graph graph;
  REQUIRE(graph.begin(capturing));
  const rg::Status status = rg::run(round.describe());
  const bool captured = graph.end();
  INFO(status.message());
  CHECK(status.code() == StatusCode::vendor_error);
  CHECK(!captured);
  CHECK(cudaStreamDestroy(capturing) == cudaSuccess);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(rg::run(round.describe()).ok());
  CHECK(round.is(11));
}

#endif

}  // namespace
