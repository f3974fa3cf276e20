// SPDX-License-Identifier: Apache-2.0
// Where a kernel that splits the depth leaves its sums, and how they come back: f32 (or what the
// operands add up to), in the workspace, without alpha, beta or the epilogue.
#pragma once

#include <cstdint>

#include "raggedgemm/base/wrapping.hpp"
#include "raggedgemm/epilogue/store.hpp"
#include "raggedgemm/epilogue/transform.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {

/// Marks a kernel that stores sums of parts of the depth (Arguments::partials).
struct PartialSum : Epilogue {};

namespace detail {

/// Element (row 0, column 0) of the work's tile in one part's sums.
template <class Sum>
RG_HOST_DEVICE Sum* partial_tile(const Arguments& p, const Work& work, index_t part) {
  return static_cast<Sum*>(p.partials.data) + part * p.partials.part_stride +
         work.slab * p.partials.slab_stride + work.row_begin * p.cols + work.col_begin;
}

/// At most 16 bytes, so that one instruction moves it where the address allows.
template <class Sum, int Width>
struct alignas(sizeof(Sum) * Width <= 16 ? sizeof(Sum) * Width : 16) SumPacket {
  Chunk<Sum, Width> chunk;
};

}  // namespace detail

inline namespace RG_PLATFORM {

/// Stores chunks of the sums of the work's part, as they are.
template <class Sum>
class TileStore<Sum, PartialSum> {
 public:
  RG_HOST_DEVICE TileStore(const Arguments& arguments, const Work& work, const PartialSum&)
      : tile_(detail::partial_tile<Sum>(arguments, work, work.part)),
        pitch_(arguments.cols),
        cols_(work.cols) {}

  template <int Width>
  RG_HOST_DEVICE void operator()(index_t row, index_t col, const Chunk<Sum, Width>& sums) const {
    using Packet = detail::SumPacket<Sum, Width>;
    Sum* const to = tile_ + row * pitch_ + col;
    if (col + Width <= cols_ && reinterpret_cast<std::uintptr_t>(to) % alignof(Packet) == 0) {
      *reinterpret_cast<Packet*>(to) = Packet{sums};
      return;
    }
    RG_UNROLL
    for (int v = 0; v < Width; ++v)
      if (col + v < cols_) to[v] = sums[v];
  }

 private:
  Sum* tile_;
  offset_t pitch_;
  index_t cols_;
};

/// Adds up what all parts stored of a tile, in the order of the parts.
template <class Sum>
class PartialSums {
 public:
  RG_HOST_DEVICE PartialSums(const Arguments& arguments, const Work& work)
      : tile_(detail::partial_tile<const Sum>(arguments, work, 0)),
        pitch_(arguments.cols),
        part_stride_(arguments.partials.part_stride),
        parts_(arguments.partials.parts),
        cols_(work.cols) {}

  template <int Width>
  [[nodiscard]] RG_HOST_DEVICE Chunk<Sum, Width> at(index_t row, index_t col) const {
    using Packet = detail::SumPacket<Sum, Width>;
    const Sum* from = tile_ + row * pitch_ + col;
    const bool whole = col + Width <= cols_ && part_stride_ * sizeof(Sum) % alignof(Packet) == 0 &&
                       reinterpret_cast<std::uintptr_t>(from) % alignof(Packet) == 0;
    Chunk<Sum, Width> total{};
    if (whole) {
      RG_UNROLL_BY_4
      for (index_t part = 0; part < parts_; ++part)
        add(total, reinterpret_cast<const Packet*>(from + part * part_stride_)->chunk);
    } else {
      for (index_t part = 0; part < parts_; ++part, from += part_stride_) {
        Chunk<Sum, Width> one{};
        RG_UNROLL
        for (int v = 0; v < Width; ++v)
          if (col + v < cols_) one[v] = from[v];
        add(total, one);
      }
    }
    return total;
  }

 private:
  template <int Width>
  static RG_HOST_DEVICE void add(Chunk<Sum, Width>& total, const Chunk<Sum, Width>& one) {
    RG_UNROLL
    for (int v = 0; v < Width; ++v) total[v] = detail::add(total[v], one[v]);
  }

  const Sum* tile_;
  offset_t pitch_;
  offset_t part_stride_;
  index_t parts_;
  index_t cols_;
};

}  // namespace RG_PLATFORM
}  // namespace raggedgemm
