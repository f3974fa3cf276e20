// SPDX-License-Identifier: Apache-2.0
// copy: the block-collective verb that brings an operand tile from global memory to the block's
// tile memory, for any strides and alignment, widening elements on the way.
#pragma once

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/numeric/convert.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {

/// Moves one unit of `chunk` outer by `run` depth indices; both counts are the valid ones. Outer
/// indices of the chunk past the valid ones are filled with zero, depth is not.
RG_EXEC_CHECK_DISABLE
template <class Map, class Compute, class T>
RG_HOST_DEVICE inline void copy_unit(Compute* tile,
                                     const T* source,
                                     offset_t outer_stride,
                                     offset_t depth_stride,
                                     index_t outer_begin,
                                     index_t depth_begin,
                                     index_t outer_count,
                                     index_t depth_count) {
  Compute* to = tile + Map::offset(outer_begin, depth_begin);
  const T* from = source + outer_begin * outer_stride + depth_begin * depth_stride;
  constexpr index_t chunk = Map::chunk;
  constexpr index_t depth_step = Map::offset(0, Map::depth > 1 ? 1 : 0);
  if (outer_count == chunk && outer_stride == 1) {
    for (index_t k = 0; k < depth_count; ++k)
      for (index_t i = 0; i < chunk; ++i)
        to[k * depth_step + i] = static_cast<Compute>(Element<T>::widen(from[k * depth_stride + i]));
  } else if (outer_count == chunk) {
    for (index_t k = 0; k < depth_count; ++k)
      for (index_t i = 0; i < chunk; ++i)
        to[k * depth_step + i] = static_cast<Compute>(
            Element<T>::widen(from[k * depth_stride + i * outer_stride]));
  } else {
    for (index_t k = 0; k < depth_count; ++k)
      for (index_t i = 0; i < chunk; ++i)
        to[k * depth_step + i] =
            i < outer_count ? static_cast<Compute>(
                                  Element<T>::widen(from[k * depth_stride + i * outer_stride]))
                            : Compute{};
  }
}

/// Copies `outer_count` x `depth_count` elements from `source` (its element (0, 0)) into the tile.
///
/// Requires: outer_count <= Map::outer, depth_count <= Map::depth; all lanes call together.
/// Guarantees: reads nothing outside outer_count x depth_count. Neighbouring lanes read along the
/// dimension whose stride is 1.
RG_EXEC_CHECK_DISABLE
template <class Block, class Map, class T>
RG_HOST_DEVICE inline void copy(typename Block::Compute* tile,
                                const T* source,
                                offset_t outer_stride,
                                offset_t depth_stride,
                                index_t outer_count,
                                index_t depth_count) {
  const index_t chunks = ceil_div(outer_count, Map::chunk);
  const index_t runs = ceil_div(depth_count, Map::run);
  const bool along_outer = outer_stride == 1;
  for (index_t unit = Block::lane(); unit < chunks * runs; unit += Block::lanes) {
    const index_t chunk = along_outer ? unit % chunks : unit / runs;
    const index_t run = along_outer ? unit / chunks : unit % runs;
    const index_t outer_begin = chunk * Map::chunk;
    const index_t depth_begin = run * Map::run;
    copy_unit<Map>(tile,
                   source,
                   outer_stride,
                   depth_stride,
                   outer_begin,
                   depth_begin,
                   min_of(Map::chunk, outer_count - outer_begin),
                   min_of(Map::run, depth_count - depth_begin));
  }
}

}  // inline namespace
}  // namespace raggedgemm
