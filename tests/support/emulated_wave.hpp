// SPDX-License-Identifier: Apache-2.0
// EmulatedWave: a wave of 32 or 64 lanes on the host, under the member names of arch/simt/wave.hpp.
// Lanes are coroutines that take turns at every collective, so code written for a wave runs as it
// does on a GPU, and a lane that misses a collective or takes another one is found out.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <vector>

#include "raggedgemm/base/index.hpp"

namespace support {

template <raggedgemm::index_t Lanes>
class EmulatedWave {
 public:
  using index_t = raggedgemm::index_t;
  using offset_t = raggedgemm::offset_t;
  static constexpr index_t lanes = Lanes;

  static index_t lane() { return state().current; }

  static std::uint64_t ballot(bool predicate) {
    const Slots& all = exchange('b', predicate ? 1 : 0);
    std::uint64_t mask = 0;
    for (index_t i = 0; i < Lanes; ++i) mask |= static_cast<std::uint64_t>(all.value[i] != 0) << i;
    return mask;
  }

  static index_t last_set(std::uint64_t mask) { return 63 - __builtin_clzll(mask); }

  template <class T>
  static T broadcast(T value, index_t from_lane) {
    return static_cast<T>(exchange('c', static_cast<std::int64_t>(value)).value[from_lane]);
  }

  static void prefetch(const void*) {}

  template <class T>
  static T exclusive_sum(T value, T limit) {
    const Slots& all = exchange('e', static_cast<std::int64_t>(value));
    std::int64_t sum = 0;
    for (index_t i = 0; i < lane(); ++i)
      sum = std::min(sum + all.value[i], static_cast<std::int64_t>(limit));
    return static_cast<T>(sum);
  }

  static offset_t inclusive_sum(offset_t value) {
    const Slots& all = exchange('s', value);
    offset_t sum = 0;
    for (index_t i = 0; i <= lane(); ++i) sum += all.value[i];
    return sum;
  }

  /// Runs body(lane) in every lane; throws when lanes disagreed on which collective comes next.
  static void run(const std::function<void(index_t)>& body) {
    State& s = state();
    s = State();
    s.body = &body;
    s.stacks.resize(Lanes);
    for (index_t i = 0; i < Lanes; ++i) {
      s.stacks[static_cast<std::size_t>(i)].resize(64 * 1024);
      getcontext(&s.lane[i]);
      s.lane[i].uc_stack.ss_sp = s.stacks[static_cast<std::size_t>(i)].data();
      s.lane[i].uc_stack.ss_size = s.stacks[static_cast<std::size_t>(i)].size();
      s.lane[i].uc_link = &s.caller;
      makecontext(&s.lane[i], &EmulatedWave::enter, 0);
    }
    // A lane that ends returns here; the next one that has not ended goes on.
    for (index_t i = 0; i < Lanes; ++i) {
      s.current = i;
      if (!s.ended[i]) swapcontext(&s.caller, &s.lane[i]);
    }
    for (index_t i = 1; i < Lanes; ++i)
      if (s.steps[i] != s.steps[0]) s.diverged = true;
    if (s.diverged) throw std::runtime_error("lanes of a wave took different collectives");
  }

 private:
  struct Slots {
    std::int64_t value[Lanes];
    char kind;
  };
  struct State {
    ucontext_t caller;
    ucontext_t lane[Lanes];
    std::vector<std::vector<char>> stacks;
    const std::function<void(index_t)>* body = nullptr;
    Slots slots[2];
    std::uint64_t steps[Lanes] = {};
    bool ended[Lanes] = {};
    bool diverged = false;
    index_t current = 0;
  };

  static State& state() {
    static State instance;
    return instance;
  }

  static void enter() {
    State& s = state();
    const index_t me = s.current;
    (*s.body)(me);
    s.ended[me] = true;
  }

  /// Leaves this lane's value, lets the others do so, and returns all of them. Two sets of slots
  /// are enough: a lane is at most one collective ahead of another.
  static const Slots& exchange(char kind, std::int64_t value) {
    State& s = state();
    const index_t me = s.current;
    Slots& slots = s.slots[s.steps[me] % 2];
    ++s.steps[me];
    if (me == 0)
      slots.kind = kind;
    else if (slots.kind != kind || s.steps[me] != s.steps[0])
      s.diverged = true;
    slots.value[me] = value;
    const index_t next = (me + 1) % Lanes;
    s.current = next;
    if (s.ended[next]) s.diverged = true;  // it will never meet the others again
    if (!s.ended[next]) swapcontext(&s.lane[me], &s.lane[next]);
    s.current = me;
    return slots;
  }
};

}  // namespace support
