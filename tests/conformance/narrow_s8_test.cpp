// SPDX-License-Identifier: Apache-2.0
// build: header-only
// s32 sums in results narrower than the accumulator, combinations that raggedgemm::compiled does
// not hold, instantiated here. The result is rounded once, which values show that come out
// differently when rounded twice.

#include <algorithm>
#include <cmath>

#include "support/products.hpp"

namespace {

using namespace support;

TEST_CASE("s8 products reach f32 through the exact s32 sum", "[conformance][s8][device]") {
  constexpr offset_t m = 7;
  constexpr offset_t k = 1504;  // sums pass 2^24, where an f32 accumulator would lose units
  constexpr offset_t n = 16;
  Random random(31);
  std::vector<std::int8_t> a(m * k);
  std::vector<std::int8_t> b(k * n);
  for (std::int8_t& x : a) x = static_cast<std::int8_t>(random.between(100, 127));
  for (std::int8_t& x : b) x = static_cast<std::int8_t>(random.between(100, 127));
  const auto sum = [&](std::size_t i) {
    std::int64_t total = 0;
    for (std::size_t j = 0; j < k; ++j) total += std::int64_t{a[i / n * k + j]} * b[j * n + i % n];
    return total;
  };
  check_products<std::int8_t, std::int8_t, float>(
      a, b, m, k, n, {}, [&](double got, std::size_t i) {
        return got == static_cast<double>(static_cast<float>(sum(i)));
      });
  check_products<std::int8_t, std::int8_t, float>(
      a, b, m, k, n, {.alpha = -2}, [&](double got, std::size_t i) {
        return got == -2.0 * static_cast<double>(static_cast<float>(sum(i)));
      });
}

/// The sum of l[i]·r[i] in type O, from a product whose lines are of 16 bytes, for matrix engines.
template <class O>
void check_sum(const std::vector<std::int8_t>& l,
               const std::vector<std::int8_t>& r,
               double needed) {
  constexpr offset_t n = 16;
  const offset_t k = rg::round_up(static_cast<offset_t>(l.size()), n);
  std::vector<std::int8_t> a(static_cast<std::size_t>(k));
  std::vector<std::int8_t> b(static_cast<std::size_t>(k * n));
  std::copy(l.begin(), l.end(), a.begin());
  for (std::size_t i = 0; i < r.size(); ++i) std::fill_n(b.begin() + i * n, n, r[i]);
  check_products<std::int8_t, std::int8_t, O>(
      a, b, 1, k, n, {}, [&](double got, std::size_t) { return got == needed; });
}

TEST_CASE("s32 sums become bf16 and f16 by one rounding", "[conformance][s8][device]") {
  // 1044·127² + 32·127 + 13 = 2^24 + 2^16 + 1, just past a midpoint of bf16 that f32 would round
  // to.
  std::vector<std::int8_t> a(1046, 127);
  std::vector<std::int8_t> b(1046, 127);
  b[1044] = 32;
  a[1045] = 13;
  b[1045] = 1;
  check_sum<bf16>(a, b, 16777216.0 + 131072.0);
  // f16 ends at 65504, far below 2^24: every sum in its range is an f32, so no value can tell one
  // rounding from two. Ties go to even, and 65520 is the first that is infinite.
  check_sum<fp16>({127, 127, 127, 127, 127, 9}, {127, 127, 127, 127, 7, 11}, 65504);      // 65504
  check_sum<fp16>({127, 127, 127, 127, 127, 114}, {127, 127, 127, 127, 7, 1}, 65504);     // 65519
  check_sum<fp16>({127, 127, 127, 127, 127, 115}, {127, 127, 127, 127, 7, 1}, INFINITY);  // 65520
  check_sum<fp16>({64, 1}, {32, 1}, 2048);  // 2049, a tie
  check_sum<fp16>({64, 3}, {32, 1}, 2052);  // 2051, a tie
}

}  // namespace
