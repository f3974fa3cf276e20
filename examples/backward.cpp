// SPDX-License-Identifier: Apache-2.0
// Both gradients of y = ragged_dot(x, w): each is one call, neither copies a transposed operand.
#include <raggedgemm/raggedgemm.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

namespace rg = raggedgemm;

int main() {
  const int m = 50, k = 24, n = 40, g = 4;
  const std::vector<int> sizes = {17, 0, 25, 5};  // 47 of 50 rows
  std::vector<float> x(m * k), w(g * k * n), dy(m * n);
  unsigned state = 1;
  const auto fill = [&state](std::vector<float>& values) {
    for (float& value : values) {
      state = state * 1664525U + 1013904223U;
      value = static_cast<float>(static_cast<int>(state >> 28) - 8) / 8.0F;
    }
  };
  fill(x);
  fill(w);
  fill(dy);
  std::vector<float> y(m * n), dx(m * k), dw(g * k * n);
  const auto groups = rg::GroupSizes(sizes.data(), g);
  const auto x_view = rg::view(x.data(), m, k);
  const auto w_view = rg::view(w.data(), g, k, n);
  const auto dy_view = rg::view(dy.data(), m, n);
  const rg::Options host{.platform = rg::Platform::host};

  // [backward]
  // y[m, n] = x[m, k] · w[g, k, n]
  rg::Status status = rg::ragged_dot(x_view, w_view, groups, rg::view(y.data(), m, n), host);
  // dx[m, k] = dy[m, n] · w[g, k, n]ᵀ: the same call with the last two strides of w exchanged.
  if (status.ok())
    status = rg::ragged_dot(dy_view, w_view.transposed(), groups, rg::view(dx.data(), m, k), host);
  // dw[g, k, n] = Σ over the rows of group g of x[m, k] · dy[m, n]
  if (status.ok())
    status =
        rg::ragged_dot_contracting(x_view, dy_view, groups, rg::view(dw.data(), g, k, n), host);
  // [backward]
  if (!status.ok()) {
    std::puts(status.message().c_str());
    return 1;
  }

  // y is linear in x and in w, so <dy, y> = <dx, x> = <dw, w>, tail rows and empty groups included.
  const auto dot = [](const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return sum;
  };
  const double from_y = dot(dy, y), from_x = dot(dx, x), from_w = dot(dw, w);
  std::printf("<dy,y> %.9g  <dx,x> %.9g  <dw,w> %.9g\n", from_y, from_x, from_w);
  const double scale = std::abs(from_y) + 1.0;
  const bool equal =
      std::abs(from_y - from_x) < 1e-5 * scale && std::abs(from_y - from_w) < 1e-5 * scale;
  return equal && dx[47 * k] == 0.0F ? 0 : 1;
}
