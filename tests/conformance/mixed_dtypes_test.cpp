// SPDX-License-Identifier: Apache-2.0
// Operands of two element types, and results narrower than the accumulator: combinations that
// raggedgemm::compiled does not hold, instantiated here. The result is rounded once, which values
// show that come out differently when rounded twice.
// build: header-only

#include <cmath>

#include "support/conformance.hpp"
#include "support/every_row.hpp"

namespace {

using namespace support;

Case mixed_case(const Shape& shape, const Sizes& sizes, Data data) {
  Case c;
  c.name = "mixed";
  c.shape = shape;
  c.entries = sizes;
  c.data = data;
  c.lhs.pitch_pad = 1;
  c.out.pitch_pad = 3;
  return c;
}

template <class L, class R, class O>
void check_mixed() {
  for (const Data data : {Data::integers, Data::reals})
    for (const offset_t k : {1, 70}) {
      check_case<L, R, O>(
          mixed_case({Variant::non_contracting, 5, 40, k, 35}, {9, 0, 14, 7, 3}, data));
      check_case<L, R, O>(mixed_case({Variant::contracting, 5, 40, k, 35}, {9, 0, 14, 7, 3}, data));
      check_case<L, R, O>(mixed_case({Variant::batch, 6, 11, k, 35}, {2, 0, 2}, data));
    }
}

TEST_CASE("bf16 times f32 makes f16", "[conformance][bf16][device]") {
  check_mixed<bf16, float, fp16>();
}

TEST_CASE("e4m3fn times e5m2 makes f32, in either order", "[conformance][fp8][device]") {
  check_mixed<rg::fp8_e4m3fn, rg::fp8_e5m2, float>();
  check_mixed<rg::fp8_e5m2, rg::fp8_e4m3fn, float>();
}

/// One group of all rows; the result of every row, in f64.
template <class L, class R, class O, class Right>
void check_products(const std::vector<L>& a,
                    const std::vector<R>& b,
                    offset_t m,
                    offset_t k,
                    offset_t n,
                    const rg::Options& options,
                    const Right& right) {
  const DeviceArray<L> lhs(a);
  const DeviceArray<R> rhs(b);
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>{static_cast<std::int32_t>(m)});
  DeviceArray<O> out(static_cast<std::size_t>(m * n));
  const auto call = rg::describe(rg::view(std::as_const(lhs).data(), m, k),
                                 rg::view(std::as_const(rhs).data(), 1, k, n),
                                 rg::GroupSizes(sizes.data(), 1),
                                 rg::view(out.data(), m, n),
                                 options);
  with_every_row(call,
                 options,
                 out,
                 poisoned<O>(out.elems()),
                 [&](const std::vector<O>& got, const std::string&) {
                   int wrong = 0;
                   for (std::size_t i = 0; i < got.size(); ++i)
                     if (!right(static_cast<double>(rg::Element<O>::widen(got[i])), i)) ++wrong;
                   CHECK(wrong == 0);
                 });
}

TEST_CASE("s8 products reach f32 through the exact s32 sum", "[conformance][s8][device]") {
  constexpr offset_t m = 7;
  constexpr offset_t k = 1500;  // sums pass 2^24, where an f32 accumulator would lose units
  constexpr offset_t n = 9;
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

TEST_CASE("s8 weights multiply bf16 and f32 rows", "[conformance][s8][device]") {
  constexpr offset_t m = 6;
  constexpr offset_t k = 100;
  constexpr offset_t n = 8;
  Random random(32);
  std::vector<std::int8_t> b(k * n);
  for (std::int8_t& x : b) x = static_cast<std::int8_t>(random.between(-128, 127));
  const auto check = [&](auto type) {
    using L = decltype(type);
    std::vector<L> a(m * k);
    for (L& x : a) x = rg::Element<L>::round(static_cast<float>(random.between(-9, 9)));
    check_products<L, std::int8_t, float>(a, b, m, k, n, {}, [&](double got, std::size_t i) {
      double sum = 0;
      for (std::size_t j = 0; j < k; ++j)
        sum += static_cast<double>(rg::Element<L>::widen(a[i / n * k + j])) * b[j * n + i % n];
      return got == sum;  // whole numbers below 2^24
    });
  };
  check(bf16{});
  check(float{});
}

TEST_CASE("f64 products become bf16, f16 and fp8 by one rounding", "[conformance][f64][device]") {
  // 1 + half a unit + a little: past the midpoint, which as an f32 it would be; then to even.
  const auto check = [](auto type, double unit) {
    using O = decltype(type);
    const std::vector<double> a{1, unit / 2, 0x1p-40, -1, -unit / 2, -0x1p-40, 1, unit / 2, 0};
    const std::vector<double> b(3, 1.0);
    check_products<double, double, O>(a, b, 3, 3, 1, {}, [&](double got, std::size_t i) {
      const double needed[] = {1 + unit, -1 - unit, 1};
      return got == needed[i];
    });
  };
  check(bf16{}, 0x1p-7);
  check(fp16{}, 0x1p-10);
  check(rg::fp8_e4m3fn{}, 0x1p-3);
  check(rg::fp8_e5m2{}, 0x1p-2);
  // Rounded through f32 the first row would be 1: that is what makes these values a test.
  CHECK(rg::to_float(rg::to_bf16(static_cast<float>(1 + 0x1p-8 + 0x1p-40))) == 1.0F);
}

TEST_CASE("s32 sums become bf16 and f16 by one rounding", "[conformance][s8][device]") {
  // 1044·127² + 32·127 + 13 = 2^24 + 2^16 + 1, just past a midpoint of bf16 that f32 would round
  // to.
  std::vector<std::int8_t> a(1046, 127);
  std::vector<std::int8_t> b(1046, 127);
  b[1044] = 32;
  a[1045] = 13;
  b[1045] = 1;
  check_products<std::int8_t, std::int8_t, bf16>(
      a, b, 1, 1046, 1, {}, [](double got, std::size_t) { return got == 16777216.0 + 131072.0; });
  // f16 ends at 65504, far below 2^24: every sum in its range is an f32, so no value can tell one
  // rounding from two. Ties go to even, and 65520 is the first that is infinite.
  const auto sum_in_f16 =
      [](const std::vector<std::int8_t>& l, const std::vector<std::int8_t>& r, double needed) {
        check_products<std::int8_t, std::int8_t, fp16>(
            l, r, 1, static_cast<offset_t>(l.size()), 1, {}, [&](double got, std::size_t) {
              return got == needed;
            });
      };
  sum_in_f16({127, 127, 127, 127, 127, 9}, {127, 127, 127, 127, 7, 11}, 65504);      // 65504
  sum_in_f16({127, 127, 127, 127, 127, 114}, {127, 127, 127, 127, 7, 1}, 65504);     // 65519
  sum_in_f16({127, 127, 127, 127, 127, 115}, {127, 127, 127, 127, 7, 1}, INFINITY);  // 65520
  sum_in_f16({64, 1}, {32, 1}, 2048);                                                // 2049, a tie
  sum_in_f16({64, 3}, {32, 1}, 2052);                                                // 2051, a tie
}

}  // namespace
