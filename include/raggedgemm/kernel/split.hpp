// SPDX-License-Identifier: Apache-2.0
// Split: a variant whose depth is cut into parts, each a tile of its own: where tiles are fewer
// than multiprocessors, parts of one tile run side by side. Their sums go to the workspace.
#pragma once

#include "raggedgemm/schedule/group_cursor.hpp"
#include "raggedgemm/schedule/work.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace kernel {

/// The part `part` of `parts` of the work's depth, cut at multiples of `block_k`; parts differ by
/// one step at most, and are empty where there are fewer steps than parts.
constexpr RG_HOST_DEVICE void cut_depth(Work& work, index_t part, index_t parts, index_t block_k) {
  const offset_t steps = ceil_div(work.k_extent, offset_t{block_k});
  const offset_t begin = min_of(steps * part / parts * block_k, work.k_extent);
  const offset_t end = min_of(steps * (part + 1) / parts * block_k, work.k_extent);
  work.part = part;
  work.k_begin += begin;
  work.k_extent = end - begin;
}

/// `VariantType` with Arguments::partials.parts tiles where it has one. `BlockK` is the depth of
/// the engine's steps.
template <class VariantType, index_t BlockK>
struct Split {
  static constexpr Variant variant = VariantType::variant;

  template <index_t BlockM,
            index_t BlockN,
            class Wave,
            index_t RowStep = BlockM,
            class Walk = AnyWalk>
  class Decoder {
   public:
    RG_EXEC_CHECK_DISABLE
    RG_HOST_DEVICE explicit Decoder(const Arguments& arguments)
        : whole_(arguments), parts_(arguments.partials.parts) {}

    RG_EXEC_CHECK_DISABLE
    RG_HOST_DEVICE bool decode(offset_t tile, Work& work) {
      if (!whole_.decode(tile / parts_, work)) return false;
      cut_depth(work, static_cast<index_t>(tile % parts_), parts_, BlockK);
      return true;
    }

    RG_EXEC_CHECK_DISABLE
    RG_HOST_DEVICE bool decode_each(offset_t tile, Work& work) {
      if (!whole_.decode_each(tile / parts_, work)) return false;
      cut_depth(work, static_cast<index_t>(tile % parts_), parts_, BlockK);
      return true;
    }

   private:
    typename VariantType::template Decoder<BlockM, BlockN, Wave, RowStep, Walk> whole_;
    index_t parts_;
  };
};

}  // namespace kernel
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
