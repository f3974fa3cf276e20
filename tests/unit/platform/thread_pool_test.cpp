// SPDX-License-Identifier: Apache-2.0
// The host's threads: every block runs once, callers in several threads take turns, and the very
// first call of the process may come from several threads at once.

#include "raggedgemm/platform/thread_pool.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "raggedgemm/ragged_dot.hpp"
#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

/// The result of a small call with ones everywhere, or a wrong vector.
std::vector<float> small_call(float rhs_value) {
  const std::vector<float> lhs(300 * 40, 1.0F);
  const std::vector<float> rhs(2 * 40 * 50, rhs_value);
  const std::vector<std::int32_t> sizes{100, 150};
  std::vector<float> out(300 * 50, -1.0F);
  const Status status = ragged_dot(view(lhs.data(), 300, 40),
                                   view(rhs.data(), 2, 40, 50),
                                   GroupSizes(sizes.data(), 2),
                                   view(out.data(), 300, 50),
                                   {.platform = Platform::host});
  return status.ok() ? out : std::vector<float>();
}

std::vector<float> small_result(float rhs_value) {
  std::vector<float> out(300 * 50, 0.0F);
  for (std::size_t i = 0; i < 250 * 50; ++i) out[i] = 40.0F * rhs_value;
  return out;
}

// Stays first: it is about the first call of the process.
TEST_CASE("The first call of the process may come from several threads at once",
          "[platform][host]") {
  std::atomic<int> waiting{0};
  std::atomic<int> right{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&, i] {
      ++waiting;
      while (waiting.load() < 4) std::this_thread::yield();
      const float value = static_cast<float>(i + 1);
      if (small_call(value) == small_result(value)) ++right;
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(right.load() == 4);
}

TEST_CASE("Callers in several threads take turns", "[platform][host]") {
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&, i] {
      for (int repeat = 0; repeat < 25; ++repeat) {
        const float value = static_cast<float>(i * 25 + repeat);
        if (small_call(value) != small_result(value)) ++wrong;
      }
    });
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong.load() == 0);
}

struct Counts {
  std::vector<std::atomic<int>> of_block;
  explicit Counts(index_t blocks) : of_block(static_cast<std::size_t>(blocks)) {}
  static void job(void* context, index_t block) {
    ++static_cast<Counts*>(context)->of_block[static_cast<std::size_t>(block)];
  }
};

TEST_CASE("ThreadPool runs every block once, for any number of blocks", "[platform][host]") {
  for (const index_t blocks : {0, 1, 2, 3, 5, 8, 64, 1000})
    for (int repeat = 0; repeat < 50; ++repeat) {
      Counts counts(blocks);
      runtime::host::ThreadPool::instance().run(blocks, &Counts::job, &counts);
      for (const std::atomic<int>& count : counts.of_block) REQUIRE(count.load() == 1);
    }
}

TEST_CASE("scratch grows, is aligned, and stays the caller's", "[platform][host]") {
  void* const small = runtime::host::scratch(100);
  CHECK(reinterpret_cast<std::uintptr_t>(small) % 64 == 0);
  CHECK(runtime::host::scratch(50) == small);
  void* const large = runtime::host::scratch(1 << 20);
  REQUIRE(large != nullptr);
  static_cast<char*>(large)[(1 << 20) - 1] = 1;
  void* other = nullptr;
  std::thread([&] { other = runtime::host::scratch(1 << 20); }).join();
  CHECK(other != large);
}

TEST_CASE("thread_count is positive and does not change", "[platform][host]") {
  CHECK(runtime::host::thread_count() >= 1);
  CHECK(runtime::host::thread_count() == runtime::host::thread_count());
}

}  // namespace
