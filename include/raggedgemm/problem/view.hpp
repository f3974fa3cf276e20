// SPDX-License-Identifier: Apache-2.0
// View: pointer, extents and element strides of an operand, of a rank known at compile time.
// Row-major unless strides are given; a transposed operand is the same view with dimensions
// swapped.
#pragma once

#include <array>
#include <type_traits>

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {

/// A strided array of `Rank` dimensions. `stride` counts elements, may be anything (zero for a
/// broadcast input, negative), and is int64. The memory is the caller's, on the device of the call.
template <class T, int Rank>
struct View {
  using element_type = T;
  static constexpr int rank = Rank;

  T* data = nullptr;
  std::array<offset_t, Rank> extent{};
  std::array<offset_t, Rank> stride{};

  constexpr View() = default;

  /// Row-major: the last dimension is contiguous.
  constexpr View(T* pointer, const std::array<offset_t, Rank>& extents) noexcept
      : data(pointer), extent(extents) {
    offset_t step = 1;
    for (int d = Rank - 1; d >= 0; --d) {
      const auto i = static_cast<std::size_t>(d);
      stride[i] = step;
      step *= extent[i];
    }
  }

  constexpr View(T* pointer,
                 const std::array<offset_t, Rank>& extents,
                 const std::array<offset_t, Rank>& strides) noexcept
      : data(pointer), extent(extents), stride(strides) {}

  /// The same elements with the last two dimensions exchanged; nothing is copied.
  [[nodiscard]] constexpr View transposed() const noexcept requires(Rank >= 2) {
    View out = *this;
    out.extent[Rank - 2] = extent[Rank - 1];
    out.extent[Rank - 1] = extent[Rank - 2];
    out.stride[Rank - 2] = stride[Rank - 1];
    out.stride[Rank - 1] = stride[Rank - 2];
    return out;
  }
};

/// A row-major view: `view(lhs, m, k)` is [m, k], `view(rhs, g, k, n)` is [g, k, n].
template <class T, class... Extents>
constexpr auto view(T* pointer, Extents... extents) noexcept {
  constexpr int rank = static_cast<int>(sizeof...(Extents));
  return View<T, rank>(pointer, std::array<offset_t, rank>{static_cast<offset_t>(extents)...});
}

}  // namespace raggedgemm
