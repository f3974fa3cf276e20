// SPDX-License-Identifier: Apache-2.0
// build: header-only
// f64 sums in results narrower than the accumulator, combinations that raggedgemm::compiled does
// not hold, instantiated here. The result is rounded once, which values show that come out
// differently when rounded twice.

#include "support/products.hpp"

namespace {

using namespace support;

TEST_CASE("f64 products become bf16, f16 and fp8 by one rounding", "[conformance][f64][device]") {
  // 1 + half a unit + a little: past the midpoint, which as an f32 it would be; then to even.
  const auto check = [](auto type, double unit) {
    using O = decltype(type);
    const std::vector<double> a{
        1, unit / 2, 0x1p-40, 0, -1, -unit / 2, -0x1p-40, 0, 1, unit / 2, 0, 0};
    const std::vector<double> b(8, 1.0);  // lines of 16 bytes, for matrix engines
    check_products<double, double, O>(a, b, 3, 4, 2, {}, [&](double got, std::size_t i) {
      const double needed[] = {1 + unit, -1 - unit, 1};
      return got == needed[i / 2];
    });
  };
  check(bf16{}, 0x1p-7);
  check(fp16{}, 0x1p-10);
  check(rg::fp8_e4m3fn{}, 0x1p-3);
  check(rg::fp8_e5m2{}, 0x1p-2);
  // Rounded through f32 the first row would be 1: that is what makes these values a test.
  CHECK(rg::to_float(rg::to_bf16(static_cast<float>(1 + 0x1p-8 + 0x1p-40))) == 1.0F);
}

}  // namespace
