// SPDX-License-Identifier: Apache-2.0
// The host's inner loops: every instruction set that this CPU has agrees with the generic one.

#include "raggedgemm/arch/host/multiply.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"

namespace {

using namespace raggedgemm;
using namespace raggedgemm::arch::host;

/// Panels of small integers, so that every order of summation gives the same bits, in memory of
/// exactly the size that the panels take.
struct Operands {
  index_t row_panels;
  index_t col_panels;
  index_t depth;
  offset_t pitch;
  std::vector<float> a;
  std::vector<float> b;
  std::vector<float> c;

  Operands(index_t rows, index_t cols, index_t k, support::Random& random)
      : row_panels(rows), col_panels(cols), depth(k), pitch(offset_t{cols} * panel_cols + 3) {
    const auto fill = [&](std::vector<float>& values, offset_t elems) {
      for (offset_t i = 0; i < elems; ++i)
        values.push_back(static_cast<float>(random.between(-4, 4)));
    };
    fill(a, offset_t{rows} * panel_rows * k);
    fill(b, offset_t{cols} * panel_cols * k);
    fill(c, offset_t{rows} * panel_rows * pitch);
  }

  Panels<float> panels() {
    return {a.data(),
            offset_t{depth} * panel_rows,
            b.data(),
            offset_t{depth} * panel_cols,
            c.data(),
            pitch,
            row_panels,
            col_panels,
            depth};
  }

  /// c + a·b by definition.
  [[nodiscard]] std::vector<float> expected() const {
    std::vector<float> result = c;
    for (offset_t i = 0; i < row_panels * panel_rows; ++i)
      for (offset_t j = 0; j < col_panels * panel_cols; ++j)
        for (offset_t k = 0; k < depth; ++k)
          result[static_cast<std::size_t>(i * pitch + j)] +=
              a[static_cast<std::size_t>(i / panel_rows * depth * panel_rows + k * panel_rows +
                                         i % panel_rows)] *
              b[static_cast<std::size_t>(j / panel_cols * depth * panel_cols + k * panel_cols +
                                         j % panel_cols)];
    return result;
  }
};

template <class Multiply>
void check(const char* name, const Multiply& multiply) {
  support::Random random(17);
  for (index_t rows = 1; rows <= 5; ++rows)
    for (index_t cols = 1; cols <= 5; ++cols)
      for (const index_t depth : {0, 1, 2, 7, 33}) {
        Operands operands(rows, cols, depth, random);
        const std::vector<float> expected = operands.expected();
        multiply(operands.panels());
        INFO(name << ": " << rows << " x " << cols << " panels, depth " << depth);
        REQUIRE(operands.c == expected);
      }
}

TEST_CASE("The generic inner loop multiplies and accumulates", "[arch][host]") {
  check("generic", [](const Panels<float>& p) { multiply_panels_generic(p); });
}

TEST_CASE("The chosen inner loop multiplies and accumulates", "[arch][host]") {
  INFO("this CPU uses " << isa_name());
  check("chosen", [](const Panels<float>& p) { multiply_panels(p); });
}

#if RG_HOST_X86
TEST_CASE("The AVX2 inner loop multiplies and accumulates", "[arch][host]") {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    WARN("not run: this CPU has no AVX2");
    return;
  }
  check("avx2", [](const Panels<float>& p) { multiply_panels_avx2(p); });
}

TEST_CASE("The AVX-512 inner loop multiplies and accumulates pairs of column panels",
          "[arch][host]") {
  if (!__builtin_cpu_supports("avx512f")) {
    WARN("not run: this CPU has no AVX-512");
    return;
  }
  check("avx512", [](const Panels<float>& p) {
    multiply_panels_avx512(p);
    if (p.col_panels % 2 == 0) return;
    Panels<float> last = p;  // the odd panel is the caller's
    last.b += (p.col_panels - 1) * p.b_panel_elems;
    last.c += (p.col_panels - 1) * panel_cols;
    last.col_panels = 1;
    multiply_panels_generic(last);
  });
}
#endif

}  // namespace
