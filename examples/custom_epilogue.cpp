// SPDX-License-Identifier: Apache-2.0
// Epilogues: chain the library's own, adapt a plain functor, or write one that knows its position.
// They see f32 values before the one rounding. Needs kernel bodies: raggedgemm::raggedgemm.
#include <raggedgemm/raggedgemm.hpp>

#include <cstdio>
#include <vector>

namespace rg = raggedgemm;

// [custom_epilogue]
/// A plain functor: elementwise() makes an epilogue of it.
struct ClampToSix {
  RG_HOST_DEVICE float operator()(float x) const { return x > 6.0F ? 6.0F : x; }
};

/// An epilogue that knows where it is: scales every row by its router weight.
struct RowScale : rg::Epilogue {
  const float* weight;  // [m]

  constexpr explicit RowScale(const float* row_weight) : weight(row_weight) {}

  template <class T, int Width>
  RG_HOST_DEVICE rg::Chunk<T, Width> transform(rg::Chunk<T, Width> chunk,
                                               const rg::OutputPosition& at) const {
    for (int v = 0; v < Width; ++v) chunk[v] *= weight[at.row];
    return chunk;
  }
};
// [custom_epilogue]

int main() {
  const int m = 5, k = 8, n = 4, g = 2;
  const std::vector<float> x(m * k, 1.0F), w(g * k * n, 1.0F);
  const std::vector<float> bias = {-10.0F, -10.0F, -10.0F, -10.0F, 1.0F, 1.0F, 1.0F, 1.0F};
  const std::vector<float> router = {1.0F, 2.0F, 3.0F, 4.0F, 5.0F};
  const std::vector<int> sizes = {2, 2};
  std::vector<float> out(m * n, -1.0F);

  const auto epilogue = rg::bias(rg::view(bias.data(), g, n)) | rg::relu() |
                        rg::elementwise(ClampToSix{}) | RowScale(router.data());
  const rg::Status status = rg::ragged_dot(rg::view(x.data(), m, k),
                                           rg::view(w.data(), g, k, n),
                                           rg::GroupSizes(sizes.data(), g),
                                           rg::view(out.data(), m, n),
                                           epilogue,
                                           {.platform = rg::Platform::host});
  if (!status.ok()) {
    std::puts(status.message().c_str());
    return 1;
  }
  // group 0: relu(8 - 10) = 0; group 1: min(8 + 1, 6) = 6, times 3 and 4; row 4 is in no group.
  for (int row = 0; row < m; ++row)
    std::printf("row %d: %g\n", row, static_cast<double>(out[static_cast<std::size_t>(row * n)]));
  const bool right =
      out[0] == 0.0F && out[2 * n] == 18.0F && out[3 * n] == 24.0F && out[4 * n] == 0.0F;
  return right ? 0 : 1;
}
