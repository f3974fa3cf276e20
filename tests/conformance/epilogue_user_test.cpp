// SPDX-License-Identifier: Apache-2.0
// build: header-only
// A user's functor, and a user's epilogue that depends on where it is: on bf16, which every matrix
// engine takes.

#include <algorithm>

#include "support/epilogue.hpp"

// A named namespace: nvcc cannot launch a kernel whose epilogue type is in an unnamed one.
namespace epilogue_test {

using namespace support;

/// A user's functor.
struct ScaleAndShift {
  float scale;
  template <class T>
  RG_HOST_DEVICE T operator()(T x) const {
    return x * static_cast<T>(scale) + static_cast<T>(3);
  }
};

/// A user's epilogue that depends on where it is.
struct AddPosition : rg::Epilogue {
  template <class T, int Width>
  RG_HOST_DEVICE rg::Chunk<T, Width> transform(rg::Chunk<T, Width> chunk,
                                               const rg::OutputPosition& at) const {
    RG_UNROLL
    for (int v = 0; v < Width; ++v)
      chunk[v] += static_cast<T>(10000 * at.slab + 100 * at.row + at.col + v);
    return chunk;
  }
};

TEST_CASE("A user's functor and a user's epilogue run like the library's own",
          "[epilogue][conformance][device]") {
  for (const Tail tail : {Tail::zero, Tail::keep}) {
    check_epilogue<float, float, float>(
        rows_case(tail),
        rg::elementwise(ScaleAndShift{0.5F}),
        [](double x, offset_t, offset_t, offset_t) { return x * 0.5 + 3; },
        0);
    // The positions that a matrix engine hands to an epilogue.
    Case c = rows_case(tail);
    c.shape.n = 80;
    check_epilogue<bf16, bf16, float>(
        c,
        AddPosition{} | rg::relu(),
        [](double x, offset_t, offset_t row, offset_t col) {
          return std::max(0.0, x + static_cast<double>(10000 * group_of(row) + 100 * row + col));
        },
        0);
  }
}

TEST_CASE("The calls take an epilogue as their last operand", "[epilogue][conformance][device]") {
  constexpr offset_t n = 4;
  const DeviceArray<float> ones(std::vector<float>(64, 1.0F));
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>{1, 1});
  DeviceArray<float> out(2 * n * n);
  const auto groups = rg::GroupSizes(sizes.data(), 2);
  const auto epilogue = rg::elementwise(ScaleAndShift{2.0F});
  const float* const in = ones.data();
  REQUIRE(
      rg::ragged_dot(
          rg::view(in, 2, n), rg::view(in, 2, n, n), groups, rg::view(out.data(), 2, n), epilogue)
          .ok());
  REQUIRE(runtime::synchronize().ok());
  CHECK(out.get()[2 * n - 1] == 11.0F);
  REQUIRE(
      rg::ragged_dot_contracting(
          rg::view(in, 2, n), rg::view(in, 2, n), groups, rg::view(out.data(), 2, n, n), epilogue)
          .ok());
  REQUIRE(runtime::synchronize().ok());
  CHECK(out.get() == std::vector<float>(2 * n * n, 5.0F));
  REQUIRE(rg::ragged_dot_batch(rg::view(in, 2, n, n),
                               rg::view(in, 2, n, n),
                               groups,
                               rg::view(out.data(), 2, n, n),
                               epilogue)
              .ok());
  REQUIRE(runtime::synchronize().ok());
  CHECK(out.get() == std::vector<float>(2 * n * n, 11.0F));
}

}  // namespace epilogue_test
