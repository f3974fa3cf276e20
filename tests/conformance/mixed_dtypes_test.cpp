// SPDX-License-Identifier: Apache-2.0
// build: header-only
// Operands of two element types: combinations that raggedgemm::compiled does not hold,
// instantiated here.

#include "support/products.hpp"

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

}  // namespace
