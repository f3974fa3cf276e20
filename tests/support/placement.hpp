// SPDX-License-Identifier: Apache-2.0
// Placement: where the elements of an operand lie in memory: transposed, padded, reversed,
// interleaved or off alignment. The values of a test stay the same, only their places change.
#pragma once

#include <vector>

#include "raggedgemm/problem/view.hpp"
#include "support/device_array.hpp"
#include "support/oracle.hpp"

namespace support {

struct Placement {
  bool transposed = false;      ///< columns are contiguous
  bool slab_innermost = false;  ///< the slab (group) dimension is contiguous
  bool reverse_rows = false;    ///< negative stride
  bool reverse_cols = false;
  offset_t pitch_pad = 0;       ///< elements between the end of a line and the next line
  offset_t slab_pad = 0;        ///< elements between slabs
  std::size_t shift_elems = 0;  ///< base pointer past an aligned address
};

/// Strides of an operand of that shape, and how much memory it takes.
struct Arrangement {
  Extent3 extent{};
  Extent3 stride{};
  offset_t first = 0;  ///< position of element (0, 0, 0)
  offset_t elems = 0;

  Arrangement(const Extent3& shape, const Placement& p) : extent(shape) {
    const std::size_t inner = p.transposed ? 1 : 2;
    const std::size_t outer = 3 - inner;
    const offset_t unit = p.slab_innermost ? extent[0] : 1;
    stride[inner] = unit;
    stride[outer] = unit * extent[inner] + p.pitch_pad;
    stride[0] = p.slab_innermost ? 1 : stride[outer] * extent[outer] + p.slab_pad;
    if (elems_of(extent) == 0) return;
    elems = 1;
    for (std::size_t d = 0; d < 3; ++d) {
      elems += (extent[d] - 1) * stride[d];
      if ((d == 1 && p.reverse_rows) || (d == 2 && p.reverse_cols)) {
        first += (extent[d] - 1) * stride[d];
        stride[d] = -stride[d];
      }
    }
  }

  /// Position of the i-th element in row-major order.
  [[nodiscard]] std::size_t position(std::size_t i) const {
    const offset_t dense = static_cast<offset_t>(i);
    const offset_t col = dense % extent[2];
    const offset_t row = dense / extent[2] % extent[1];
    const offset_t slab = dense / extent[2] / extent[1];
    return static_cast<std::size_t>(first + slab * stride[0] + row * stride[1] + col * stride[2]);
  }

  /// Row-major values to their places; all other memory is poison.
  template <class T>
  [[nodiscard]] std::vector<T> scatter(const std::vector<T>& dense) const {
    std::vector<T> placed(static_cast<std::size_t>(elems), poison<T>());
    for (std::size_t i = 0; i < dense.size(); ++i) placed[position(i)] = dense[i];
    return placed;
  }

  template <class T>
  [[nodiscard]] raggedgemm::View<T, 3> view3(T* memory) const {
    return {memory + first, extent, stride};
  }
  /// Of an operand without slabs.
  template <class T>
  [[nodiscard]] raggedgemm::View<T, 2> view2(T* memory) const {
    return {memory + first, {extent[1], extent[2]}, {stride[1], stride[2]}};
  }
};

}  // namespace support
