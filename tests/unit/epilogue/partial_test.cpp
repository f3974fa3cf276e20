// SPDX-License-Identifier: Apache-2.0
// Partial sums: what each part's kernel stores is what the second kernel reads back and adds, in
// the order of the parts, for every alignment, edge and slab; nothing else is written.

#include "raggedgemm/epilogue/partial.hpp"

#include <cmath>
#include <vector>

#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

constexpr offset_t slabs = 2;
constexpr offset_t rows = 5;

/// Memory of `parts` parts with room for an address off alignment, NaN at first.
struct Sums {
  Arguments arguments;
  std::vector<float> memory;

  Sums(index_t parts, offset_t cols, offset_t shift)
      : memory(static_cast<std::size_t>(parts * slabs * rows * cols + shift + 8), std::nanf("")) {
    arguments.rows = rows;
    arguments.cols = cols;
    arguments.partials = {memory.data() + shift, parts, slabs * rows * cols, rows * cols};
  }
};

float value_of(index_t part, offset_t slab, offset_t row, offset_t col) {
  return std::ldexp(static_cast<float>(1 + slab * 1000 + row * 100 + col), 3 * part);
}

template <int Width>
void check_width(index_t parts, offset_t cols, offset_t shift) {
  Sums sums(parts, cols, shift);
  constexpr offset_t block_m = 3;
  constexpr offset_t block_n = 8;
  const auto each_tile = [&](const auto& f) {
    for (offset_t slab = 0; slab < slabs; ++slab)
      for (offset_t row = 0; row < rows; row += block_m)
        for (offset_t col = 0; col < cols; col += block_n) {
          Work work;
          work.slab = slab;
          work.row_begin = row;
          work.col_begin = col;
          work.rows = static_cast<index_t>(min_of(block_m, rows - row));
          work.cols = static_cast<index_t>(min_of(block_n, cols - col));
          f(work);
        }
  };
  for (index_t part = 0; part < parts; ++part)
    each_tile([&](Work& work) {
      work.part = part;
      const TileStore<float, PartialSum> store(sums.arguments, work, {});
      for (index_t row = 0; row < work.rows; ++row)
        for (index_t col = 0; col < work.cols; col += Width) {
          Chunk<float, Width> chunk;
          for (int v = 0; v < Width; ++v)
            chunk[v] = value_of(part, work.slab, work.row_begin + row, work.col_begin + col + v);
          store(row, col, chunk);
        }
    });
  int wrong = 0;
  each_tile([&](Work& work) {
    const PartialSums<float> read(sums.arguments, work);
    for (index_t row = 0; row < work.rows; ++row)
      for (index_t col = 0; col < work.cols; col += Width) {
        const Chunk<float, Width> got = read.at<Width>(row, col);
        for (int v = 0; v < Width && col + v < work.cols; ++v) {
          float want = 0;
          for (index_t part = 0; part < parts; ++part)
            want += value_of(part, work.slab, work.row_begin + row, work.col_begin + col + v);
          wrong += got[v] == want ? 0 : 1;
        }
      }
  });
  CHECK(wrong == 0);
  std::size_t written = 0;
  for (const float value : sums.memory) written += std::isnan(value) ? 0 : 1;
  CHECK(written == static_cast<std::size_t>(parts * slabs * rows * cols));
}

TEST_CASE("Parts are added up as they were stored", "[epilogue][host]") {
  for (const index_t parts : {1, 2, 7})
    for (const offset_t cols : {1, 7, 8, 16, 19})
      for (const offset_t shift : {0, 1, 4}) {
        INFO("parts " << parts << ", cols " << cols << ", shift " << shift);
        check_width<1>(parts, cols, shift);
        check_width<2>(parts, cols, shift);
        check_width<4>(parts, cols, shift);
        check_width<8>(parts, cols, shift);
      }
}

}  // namespace
