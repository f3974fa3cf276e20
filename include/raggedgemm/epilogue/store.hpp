// SPDX-License-Identifier: Apache-2.0
// TileStore: scatter, alpha, beta, the epilogue, the one rounding, the edge mask and the store, for
// a chunk of any engine's accumulator.
#pragma once

#include <cstdint>
#include <type_traits>

#include "raggedgemm/arch/simt/round_pair.hpp"
#include "raggedgemm/base/wrapping.hpp"
#include "raggedgemm/epilogue/transform.hpp"
#include "raggedgemm/numeric/convert.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {

/// Writes chunks of one output tile: D = round(epilogue(alpha·acc + beta·C)). s32 accumulators
/// wrap, and take alpha and beta as whole numbers, cut towards zero and at the ends of the range.
template <class T, class EpilogueType>
class TileStore {
 public:
  RG_HOST_DEVICE TileStore(const Arguments& arguments,
                           const Work& work,
                           const EpilogueType& epilogue)
      : work_(work),
        epilogue_(epilogue),
        d_(arguments.d.template at<T>(work.slab, 0, work.col_begin) + work.outer.d),
        c_(arguments.c.template at<const T>(work.slab, 0, work.col_begin) + work.outer.c),
        out_index_(arguments.out_index),
        out_extent_(arguments.out_extent),
        d_strides_(arguments.d.stride),
        c_strides_(arguments.c.stride),
        alpha_(static_cast<float>(arguments.alpha)),
        beta_(static_cast<float>(arguments.beta)),
        alpha_f64_(arguments.alpha),
        beta_f64_(arguments.beta) {
    if (work.is_tail || work.k_extent == 0) {
      // A sum of nothing is +0.0, whatever alpha is: negative, infinite or NaN.
      alpha_ = 0;
      alpha_f64_ = 0;
    } else if (arguments.group_alpha != nullptr) {
      alpha_ *= arguments.group_alpha[work.slab];
      alpha_f64_ *= static_cast<double>(arguments.group_alpha[work.slab]);
    }
  }

  /// Element (row, col) of the tile is the chunk's first. Columns past the edge are not stored.
  template <class Compute, int Width>
  RG_HOST_DEVICE void operator()(index_t row, index_t col, const Chunk<Compute, Width>& acc) const {
    const offset_t to = out_row(row);
    if (to < 0) return;
    const T* const c = c_address(to, col);
    const index_t count = min_of(index_t{Width}, work_.cols - col);
    Chunk<Compute, Width> value;
    RG_UNROLL
    for (int v = 0; v < Width; ++v) value[v] = detail::multiply(alpha<Compute>(), acc[v]);
    if (beta<Compute>() != Compute{}) {
      RG_UNROLL
      for (int v = 0; v < Width; ++v)
        if (v < count)
          value[v] = detail::multiply_add(
              beta<Compute>(), from_c<Compute>(c[v * c_strides_.col]), value[v]);
    }
    put(to, col, round(transformed(row, col, value)));
  }

  /// The row of D and C that the tile's row goes to; below 0: nowhere.
  [[nodiscard]] RG_HOST_DEVICE offset_t out_row(index_t row) const {
    const offset_t own = work_.row_begin + row;
    if (out_index_ == nullptr) return own;
    const std::uint32_t to = static_cast<std::uint32_t>(out_index_[own]);
    return to < out_extent_ ? offset_t{to} : -1;  // negative entries, too: the extent ends at 2^31
  }

  /// The chunk of C in its row `row_of_c`, by one load where it lies aligned; columns past the edge
  /// are not read.
  template <int Width>
  [[nodiscard]] RG_HOST_DEVICE Chunk<T, Width> get_wide(offset_t row_of_c, index_t col) const {
    const T* const from = c_address(row_of_c, col);
    const index_t count = min_of(index_t{Width}, work_.cols - col);
    Chunk<T, Width> chunk{};
    if (count == Width && c_strides_.col == 1 &&
        reinterpret_cast<std::uintptr_t>(from) % alignof(Packet<Width>) == 0) {
      const Packet<Width> packet = *reinterpret_cast<const Packet<Width>*>(from);
      RG_UNROLL
      for (int v = 0; v < Width; ++v) chunk[v] = packet.value[v];
    } else {
      RG_UNROLL
      for (int v = 0; v < Width; ++v)
        if (v < count) chunk[v] = from[v * c_strides_.col];
    }
    return chunk;
  }

  /// Writes a finished chunk to row `to_row` of D. Columns past the edge are not stored.
  template <int Width>
  RG_HOST_DEVICE void put(offset_t to_row, index_t col, const Chunk<T, Width>& out) const {
    T* const to = d_ + to_row * d_strides_.row + col * d_strides_.col;
    const index_t count = min_of(index_t{Width}, work_.cols - col);
    if (count == Width && d_strides_.col == 1) {
      if (reinterpret_cast<std::uintptr_t>(to) % alignof(Packet<Width>) == 0) {
        Packet<Width> packet;
        RG_UNROLL
        for (int v = 0; v < Width; ++v) packet.value[v] = out[v];
        *reinterpret_cast<Packet<Width>*>(to) = packet;
      } else {
        RG_UNROLL
        for (int v = 0; v < Width; ++v) to[v] = out[v];
      }
      return;
    }
    RG_UNROLL
    for (int v = 0; v < Width; ++v)
      if (v < count) to[v * d_strides_.col] = out[v];
  }

  /// The chunk after alpha, beta (with `HasC`) and the epilogue, before the rounding.
  template <bool HasC, class Compute, int Width>
  RG_HOST_DEVICE Chunk<Compute, Width> finish(index_t row,
                                              index_t col,
                                              const Chunk<Compute, Width>& acc,
                                              const Chunk<T, Width>& c) const {
    Chunk<Compute, Width> value;
    RG_UNROLL
    for (int v = 0; v < Width; ++v) {
      value[v] = detail::multiply(alpha<Compute>(), acc[v]);
      if constexpr (HasC)
        value[v] = detail::multiply_add(beta<Compute>(), from_c<Compute>(c[v]), value[v]);
    }
    return transformed(row, col, value);
  }

 private:
  [[nodiscard]] RG_HOST_DEVICE const T* c_address(offset_t row_of_c, index_t col) const {
    return c_ + row_of_c * c_strides_.row + col * c_strides_.col;
  }

  template <class Compute, int Width>
  RG_HOST_DEVICE Chunk<Compute, Width> transformed(index_t row,
                                                   index_t col,
                                                   const Chunk<Compute, Width>& value) const {
    if (work_.is_tail) return value;
    return epilogue_.transform(
        value, OutputPosition{work_.slab, work_.row_begin + row, work_.col_begin + col});
  }

  template <class Compute>
  [[nodiscard]] RG_HOST_DEVICE Compute alpha() const {
    return factor<Compute>(alpha_, alpha_f64_);
  }
  template <class Compute>
  [[nodiscard]] RG_HOST_DEVICE Compute beta() const {
    return factor<Compute>(beta_, beta_f64_);
  }
  template <class Compute>
  static RG_HOST_DEVICE Compute factor(float narrow, double wide) {
    if constexpr (std::is_integral_v<Compute>)
      return detail::to_integer<Compute>(wide);
    else if constexpr (std::is_same_v<Compute, double>)
      return wide;
    else
      return static_cast<Compute>(narrow);
  }
  template <class Compute>
  static RG_HOST_DEVICE Compute from_c(T c) {
    if constexpr (std::is_integral_v<Compute> && !std::is_integral_v<T>)
      return detail::to_integer<Compute>(static_cast<double>(Element<T>::widen(c)));
    else
      return static_cast<Compute>(Element<T>::widen(c));
  }

  /// At most 16 bytes, so that one store instruction moves it where the address allows.
  template <int Width>
  struct alignas(sizeof(T) * Width <= 16 ? sizeof(T) * Width : 16) Packet {
    T value[Width];
  };

  template <class Compute, int Width>
  static RG_HOST_DEVICE Chunk<T, Width> round(const Chunk<Compute, Width>& value) {
    constexpr bool half_float = std::is_same_v<T, bf16> || std::is_same_v<T, fp16>;
    Chunk<T, Width> out;
    if constexpr (arch::simt::rounds_pairs && half_float && std::is_same_v<Compute, float> &&
                  Width % 2 == 0) {
      RG_UNROLL
      for (int v = 0; v < Width; v += 2) {
        const std::uint32_t pair = std::is_same_v<T, bf16>
                                       ? arch::simt::round_pair_to_bf16(value[v], value[v + 1])
                                       : arch::simt::round_pair_to_fp16(value[v], value[v + 1]);
        out[v].bits = static_cast<std::uint16_t>(pair);
        out[v + 1].bits = static_cast<std::uint16_t>(pair >> 16);
      }
    } else {
      RG_UNROLL
      for (int v = 0; v < Width; ++v) out[v] = round_to<T>(value[v]);
    }
    return out;
  }

  const Work& work_;
  const EpilogueType& epilogue_;
  T* d_;        // row 0 of D, first column of the tile
  const T* c_;  // row 0 of C, first column of the tile
  const std::int32_t* out_index_;
  std::uint32_t out_extent_;
  Strides d_strides_;
  Strides c_strides_;
  float alpha_;  // in the accumulator's type, so that f32 kernels hold no double
  float beta_;
  double alpha_f64_;
  double beta_f64_;
};

}  // namespace RG_PLATFORM
}  // namespace raggedgemm
