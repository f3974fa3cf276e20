// SPDX-License-Identifier: Apache-2.0
// The host's blocks: a fixed set of threads that run one job at a time.
// Made at the first call that needs it; RAGGEDGEMM_NUM_THREADS limits it.
#pragma once

#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

#include "raggedgemm/base/index.hpp"

#if defined(__linux__)
#include <sched.h>
#endif

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace runtime::host {

/// Threads that the process may use: its CPU affinity, cut by RAGGEDGEMM_NUM_THREADS.
inline index_t thread_count() {
  static const index_t count = [] {
    index_t available = static_cast<index_t>(std::thread::hardware_concurrency());
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) available = CPU_COUNT(&set);
#endif
    if (const char* limit = std::getenv("RAGGEDGEMM_NUM_THREADS")) {
      const int wanted = std::atoi(limit);
      if (wanted > 0) return index_t{wanted};
    }
    return max_of(available, index_t{1});
  }();
  return count;
}

/// Tile memory of the calling thread: at least `bytes`, 64-byte aligned, reused from call to call.
inline void* scratch(std::size_t bytes) {
  struct Free {
    void operator()(void* p) const { ::operator delete (p, std::align_val_t{64}); }
  };
  thread_local std::unique_ptr<void, Free> memory;
  thread_local std::size_t capacity_bytes = 0;
  if (capacity_bytes < bytes) {
    memory.reset(::operator new (bytes, std::align_val_t{64}, std::nothrow));
    capacity_bytes = memory ? bytes : 0;
  }
  return memory.get();
}

class ThreadPool {
 public:
  using Job = void (*)(void* context, index_t block);

  static ThreadPool& instance() {
    static ThreadPool pool(thread_count());
    return pool;
  }

  /// Runs job(context, 0 … blocks - 1), block 0 in the calling thread; returns when all are done.
  /// Callers in several threads take turns.
  void run(index_t blocks, Job job, void* context) {
    const index_t helpers = min_of(blocks - 1, static_cast<index_t>(threads_.size()));
    if (helpers <= 0) {
      for (index_t block = 0; block < blocks; ++block) job(context, block);
      return;
    }
    const std::lock_guard<std::mutex> turn(turn_);
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      job_ = job;
      context_ = context;
      next_block_ = 1;
      blocks_ = blocks;
      running_ = helpers;
      wanted_ = helpers;
      ++generation_;
    }
    wake_.notify_all();
    job(context, 0);
    work_on_blocks();
    std::unique_lock<std::mutex> lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
  }

  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

 private:
  explicit ThreadPool(index_t count) {
    threads_.reserve(static_cast<std::size_t>(count));
    for (index_t i = 1; i < count; ++i) threads_.emplace_back([this] { serve(); });
  }

  ~ThreadPool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stop_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void serve() {
    std::uint64_t seen = 0;
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stop_ || (generation_ != seen && wanted_ > 0); });
      if (stop_) return;
      seen = generation_;
      --wanted_;
      lock.unlock();
      work_on_blocks();
      lock.lock();
      if (--running_ == 0) done_.notify_one();
    }
  }

  void work_on_blocks() {
    for (;;) {
      Job job;
      void* context;
      index_t block;
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (next_block_ >= blocks_) return;
        block = next_block_++;
        job = job_;
        context = context_;
      }
      job(context, block);
    }
  }

  std::mutex turn_;  // held by the caller whose job runs
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  std::vector<std::thread> threads_;
  Job job_ = nullptr;
  void* context_ = nullptr;
  index_t next_block_ = 0;
  index_t blocks_ = 0;
  index_t wanted_ = 0;   // helpers that have not yet joined the job
  index_t running_ = 0;  // helpers that have not yet ended it
  std::uint64_t generation_ = 0;
  bool stop_ = false;
};

}  // namespace runtime::host
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
