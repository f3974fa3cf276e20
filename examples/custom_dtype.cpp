// SPDX-License-Identifier: Apache-2.0
// An element type of one's own, in one file: complex numbers of two floats. Everything that the
// library asks of it is a specialisation of Element; the general kernels do the rest.
#include <raggedgemm/raggedgemm.hpp>

#include <cstdio>
#include <vector>

namespace rg = raggedgemm;

// [custom_dtype]
struct Complex {
  float re = 0.0F;
  float im = 0.0F;

  Complex() = default;
  RG_HOST_DEVICE constexpr Complex(float real, float imaginary = 0.0F) : re(real), im(imaginary) {}
  RG_HOST_DEVICE Complex& operator+=(const Complex& o) {
    re += o.re;
    im += o.im;
    return *this;
  }
  friend RG_HOST_DEVICE Complex operator*(const Complex& a, const Complex& b) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend RG_HOST_DEVICE bool operator!=(const Complex& a, const Complex& b) {
    return a.re != b.re || a.im != b.im;
  }
};

template <>
struct raggedgemm::Element<Complex> {
  using compute = Complex;
  RG_HOST_DEVICE static constexpr Complex widen(const Complex& value) { return value; }
  RG_HOST_DEVICE static constexpr Complex round(const Complex& value) { return value; }
};
// [custom_dtype]

int main() {
  const int m = 5, k = 3, n = 2, g = 2;
  std::vector<Complex> x, w;
  for (int i = 0; i < m * k; ++i)
    x.emplace_back(static_cast<float>(i % 4), static_cast<float>(i % 3));
  for (int i = 0; i < g * k * n; ++i)
    w.emplace_back(static_cast<float>(i % 5), static_cast<float>(-i % 2));
  const std::vector<int> sizes = {2, 2};
  std::vector<Complex> out(static_cast<std::size_t>(m) * n, Complex(9.0F, 9.0F));
  const rg::Status status = rg::ragged_dot(rg::view(x.data(), m, k),
                                           rg::view(w.data(), g, k, n),
                                           rg::GroupSizes(sizes.data(), g),
                                           rg::view(out.data(), m, n),
                                           {.platform = rg::Platform::host});
  if (!status.ok()) {
    std::puts(status.message().c_str());
    return 1;
  }
  bool right = true;
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < n; ++col) {
      Complex sum;
      for (int i = 0; i < k && row < 4; ++i)
        sum += x[static_cast<std::size_t>(row * k + i)] *
               w[static_cast<std::size_t>((row / 2 * k + i) * n + col)];
      right = right && !(out[static_cast<std::size_t>(row * n + col)] != sum);
    }
  std::puts(right ? "complex numbers: right" : "complex numbers: wrong");
  return right ? 0 : 1;
}
