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

/// Two formats of 8-bit floats where matrix instructions take them: rhs contiguous along the depth,
/// lines of 16 bytes. `chip_multiplies`: the device has the instruction.
template <class L, class R>
void check_mixed_fp8(bool chip_multiplies) {
  int matrix_rows = 0;
  for (const Data data : {Data::integers, Data::reals})
    for (const offset_t k : {150, 272})
      for (Case c :
           {mixed_case({Variant::non_contracting, 5, 140, k, 150}, {9, 0, 114, 7, 3}, data),
            mixed_case({Variant::batch, 3, 35, k, 70}, {2}, data)}) {
        c.rhs.transposed = true;
        const Outcome<float> outcome = run_case<L, R, float>(with_aligned_pitches(c));
        CHECK(outcome.failure == "");
        for (const auto& row : outcome.out_of_row)
          if (rg::config_row(row.first).config.engine != rg::EngineId::simple) ++matrix_rows;
      }
  CHECK((matrix_rows > 0) == chip_multiplies);
}

TEST_CASE("Matrix instructions multiply fp8 of two formats", "[conformance][fp8][device]") {
  const bool gpu = runtime::platform != rg::Platform::host;
  const rg::Arch arch = runtime::device().value().arch;
  const bool ocp = gpu && (arch == rg::Arch::sm90 || arch == rg::Arch::gfx950);
  const bool fnuz = gpu && arch == rg::Arch::gfx942;
  check_mixed_fp8<rg::fp8_e4m3fn, rg::fp8_e5m2>(ocp);
  check_mixed_fp8<rg::fp8_e5m2, rg::fp8_e4m3fn>(ocp);
  check_mixed_fp8<rg::fp8_e4m3fnuz, rg::fp8_e5m2fnuz>(fnuz);
  check_mixed_fp8<rg::fp8_e5m2fnuz, rg::fp8_e4m3fnuz>(fnuz);
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
