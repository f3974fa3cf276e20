// SPDX-License-Identifier: Apache-2.0
// All six gradients: the two of each variant, every one of them a single call, by strides alone.
// The check is linearity: <ct, f(x, y)> = <x, vjp_x(ct)> = <y, vjp_y(ct)>.
#include <raggedgemm/raggedgemm.hpp>

#include <cstdio>
#include <vector>

namespace rg = raggedgemm;

namespace {

const rg::Options host{.platform = rg::Platform::host};

/// Small whole numbers, so that the sums are exact and the inner products equal.
std::vector<float> numbers(int count) {
  static unsigned state = 1;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<int>(state >> 29) - 3);
  }
  return values;
}

double dot(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

bool report(const char* variant, rg::Status status, double ct_f, double x_vjp, double y_vjp) {
  std::printf("%-16s %s: <ct,f> %g  <x,vjp_x> %g  <y,vjp_y> %g\n",
              variant,
              status.message().c_str(),
              ct_f,
              x_vjp,
              y_vjp);
  return status.ok() && ct_f == x_vjp && ct_f == y_vjp;
}

/// The first refusal of three calls.
rg::Status all(rg::Status f, rg::Status vjp_x, rg::Status vjp_y) {
  return !f.ok() ? f : !vjp_x.ok() ? vjp_x : vjp_y;
}

}  // namespace

int main() {
  const int m = 50, k = 24, n = 40, g = 4;
  const std::vector<int> sizes = {17, 0, 25, 5};  // 47 of 50 rows; one group is empty
  const auto groups = rg::GroupSizes(sizes.data(), g);
  bool right = true;

  {  // f: x[m, k] · y[g, k, n] → [m, n]
    const auto x = numbers(m * k), y = numbers(g * k * n), ct = numbers(m * n);
    std::vector<float> f(m * n), dx(m * k), dy(g * k * n);
    const auto x_view = rg::view(x.data(), m, k);
    const auto y_view = rg::view(y.data(), g, k, n);
    const auto ct_view = rg::view(ct.data(), m, n);
    const rg::Status status = all(
        rg::ragged_dot(x_view, y_view, groups, rg::view(f.data(), m, n), host),
        // dx[m, k] = ct[m, n] · y[g, k, n]ᵀ
        rg::ragged_dot(ct_view, y_view.transposed(), groups, rg::view(dx.data(), m, k), host),
        // dy[g, k, n] = Σ over the rows of group g of x[m, k] · ct[m, n]
        rg::ragged_dot_contracting(x_view, ct_view, groups, rg::view(dy.data(), g, k, n), host));
    right &= report("non_contracting", status, dot(ct, f), dot(x, dx), dot(y, dy));
  }

  {  // f: Σ over the rows of group g of x[m, k] · y[m, n] → [g, k, n]
    const auto x = numbers(m * k), y = numbers(m * n), ct = numbers(g * k * n);
    std::vector<float> f(g * k * n), dx(m * k), dy(m * n);
    const auto x_view = rg::view(x.data(), m, k);
    const auto y_view = rg::view(y.data(), m, n);
    const auto ct_view = rg::view(ct.data(), g, k, n);
    const rg::Status status =
        all(rg::ragged_dot_contracting(x_view, y_view, groups, rg::view(f.data(), g, k, n), host),
            // dx[m, k] = y[m, n] · ct[g, k, n]ᵀ
            rg::ragged_dot(y_view, ct_view.transposed(), groups, rg::view(dx.data(), m, k), host),
            // dy[m, n] = x[m, k] · ct[g, k, n]
            rg::ragged_dot(x_view, ct_view, groups, rg::view(dy.data(), m, n), host));
    right &= report("contracting", status, dot(ct, f), dot(x, dx), dot(y, dy));
  }

  {  // f: x[b, m, k] · y[b, k, n] → [b, m, n] for the first Σ sizes batches
    const int b = 60;
    const auto x = numbers(b * m * k), y = numbers(b * k * n), ct = numbers(b * m * n);
    std::vector<float> f(b * m * n), dx(b * m * k), dy(b * k * n);
    const auto x_view = rg::view(x.data(), b, m, k);
    const auto y_view = rg::view(y.data(), b, k, n);
    const auto ct_view = rg::view(ct.data(), b, m, n);
    const rg::Status status =
        all(rg::ragged_dot_batch(x_view, y_view, groups, rg::view(f.data(), b, m, n), host),
            // dx[b, m, k] = ct[b, m, n] · y[b, k, n]ᵀ
            rg::ragged_dot_batch(
                ct_view, y_view.transposed(), groups, rg::view(dx.data(), b, m, k), host),
            // dy[b, k, n] = x[b, m, k]ᵀ · ct[b, m, n]
            rg::ragged_dot_batch(
                x_view.transposed(), ct_view, groups, rg::view(dy.data(), b, k, n), host));
    right &= report("batch", status, dot(ct, f), dot(x, dx), dot(y, dy));
  }
  return right ? 0 : 1;
}
