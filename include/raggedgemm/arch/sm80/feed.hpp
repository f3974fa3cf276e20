// SPDX-License-Identifier: Apache-2.0
// Feeders: how operand tiles get from global to shared memory: by asynchronous copies of 16 bytes
// where every line is aligned for them, else of the aligned pieces that hold a chunk, which are
// shifted on.
#pragma once

#include <cstdint>
#include <type_traits>

#include "raggedgemm/arch/sm80/instructions.hpp"
#include "raggedgemm/arch/sm80/shared_image.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm80 {

/// Who moves what: a lane moves one chunk of every `line_step`-th line.
template <class ImageType, index_t Lanes>
struct FeedMap {
  using Image = ImageType;
  static constexpr index_t lanes = Lanes;
  static constexpr index_t line_step = Lanes / Image::chunks;
  static constexpr index_t loads = Image::lines / line_step;  ///< of one lane
  static_assert(
      line_step * Image::chunks == Lanes && loads * line_step == Image::lines,
      "TileConfig.lanes must be a multiple of the chunks of a line, and move whole lines");

  static RG_HOST_DEVICE constexpr index_t chunk(index_t lane) { return lane % Image::chunks; }
  static RG_HOST_DEVICE constexpr index_t line(index_t lane, index_t load) {
    return lane / Image::chunks + load * line_step;
  }
};

/// The part of an operand that a tile needs.
struct FeedWindow {
  const unsigned char* begin = nullptr;  ///< element (0, 0); with an index, of entry 0
  offset_t pitch_bytes = 0;              ///< from line to line
  offset_t depth = 0;                    ///< > 0
  index_t outer = 0;                     ///< valid rows (of A; columns of B)
  offset_t readable = 0;                ///< outer-major: elements from here to the end of the lines
  const std::int32_t* index = nullptr;  ///< gather: of the window's lines, or none
  offset_t index_extent = 0;            ///< its entries outside [0, this) read as zero
};

#if RG_PLATFORM_CUDA

/// Longer extents are cut to this where only their first elements matter, and a place that is never
/// reached lies here or further.
inline constexpr offset_t far_elems = 1 << 20;

/// What both feeds share: the copies of the chunks that `Places` locates.
///
/// Guarantees: nothing behind the lines' last elements is read, and in front of their first ones no
/// more than the rest of the 16 bytes that hold it, whatever the alignment. Depth past the end, and
/// lines that an index does not name, are zero; outer indices past the last one are whatever: they
/// only touch output that is not stored.
template <class MapType, class Places>
class ChunkFeed : public Places {
 public:
  using Map = MapType;
  using Image = typename Map::Image;
  static constexpr index_t loads = Map::loads;
  static constexpr std::uint32_t slot_bytes = Map::lanes * 16;  ///< a piece of each lane

  RG_DEVICE explicit ChunkFeed(std::uint32_t images) {
    const index_t lane = static_cast<index_t>(threadIdx.x);
    to_ = images +
          static_cast<std::uint32_t>(Image::offset_bytes(Map::line(lane, 0), Map::chunk(lane)));
    static_assert(loads == 1 || Image::twist(Map::line_step) == Image::twist(0),
                  "TileConfig.lanes must move 8 lines at once, or a multiple of it");
  }

  /// The next step's chunks into the stage at `stage_bytes`, by asynchronous copies.
  RG_DEVICE RG_FORCE_INLINE void copy_all(std::uint32_t stage_bytes, index_t depth_left) const {
    unrolled<loads>([&](auto i) {
      copy_async(to<i>(stage_bytes),
                 this->template from<i>(),
                 2 * this->template valid_elems<i>(depth_left));
    });
  }

  /// Chunk `I` of the next step at any even address: begins to copy the two aligned pieces of 16
  /// bytes that hold it into slots of this lane's own at `slots`. They stay near in L1, because
  /// neighbours share them.
  template <index_t I>
  RG_DEVICE RG_FORCE_INLINE void copy_pieces(std::uint32_t slots, index_t depth_left) {
    const auto at = reinterpret_cast<std::uintptr_t>(this->template from<I>());
    const index_t shift = static_cast<index_t>(at % 16);
    const index_t valid = 2 * this->template valid_elems<I>(depth_left);
    const index_t bytes = valid > 0 ? shift + valid : 0;
    const auto* const piece = reinterpret_cast<const unsigned char*>(at - at % 16);
    const std::uint32_t slot = slots + 2 * I * slot_bytes;
    copy_async_near(slot, piece, min_of(bytes, 16));
    copy_async_near(slot + slot_bytes, piece + 16, max_of(bytes - 16, 0));
    this->template remember_shift<I>();
  }

  /// Writes chunk `I`, whose pieces copy_pieces() has brought two steps ago, to its place.
  template <index_t I>
  RG_DEVICE RG_FORCE_INLINE void shift_chunk(std::uint32_t stage_bytes, std::uint32_t slots) const {
    const std::uint32_t slot = slots + 2 * I * slot_bytes;
    store_words(
        to<I>(stage_bytes),
        shifted(
            read_words(slot), read_words(slot + slot_bytes), this->template earlier_shift<I>()));
  }

 private:
  template <index_t I>
  RG_DEVICE RG_FORCE_INLINE std::uint32_t to(std::uint32_t stage_bytes) const {
    return to_ + stage_bytes + static_cast<std::uint32_t>(I * Map::line_step * Image::line_bytes);
  }

  std::uint32_t to_;  // shared address of the lane's first chunk
};

/// Depth contiguous: lines are outer indices, a step goes along them.
template <class Map, bool MayGather>
class DepthMajorPlaces {
  using Image = typename Map::Image;
  static constexpr index_t depth = Image::chunks * Image::chunk_elems;  // of a step

 public:
  static constexpr bool depth_contiguous = true;

  RG_DEVICE void start(const FeedWindow& window) {
    const index_t lane = static_cast<index_t>(threadIdx.x);
    column_ = Map::chunk(lane) * Image::chunk_elems;
    unrolled<Map::loads>([&](auto i) {
      const index_t line = min_of(Map::line(lane, i), window.outer - 1);
      offset_t at = line;
      bool exists = true;
      if (MayGather && window.index != nullptr) {
        at = window.index[line];
        exists = at >= 0 && at < window.index_extent;
        if (!exists) at = 0;
      }
      line_[i] = window.begin + at * window.pitch_bytes + column_ * 2;
      exists_[i] = exists ? 0 : static_cast<index_t>(far_elems);
    });
  }

  /// On to the next step.
  RG_DEVICE RG_FORCE_INLINE void advance(index_t) {
    unrolled<Map::loads>([&](auto i) { line_[i] += depth * 2; });
  }

  /// The lane's chunk `I` of the next step.
  template <index_t I>
  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE const unsigned char* from() const {
    return line_[I];
  }
  /// How many of its elements exist, 0 to 8.
  template <index_t I>
  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE index_t valid_elems(index_t depth_left) const {
    return max_of(min_of(depth_left - column_ - exists_[I], Image::chunk_elems), 0);
  }
  /// Bytes of its first piece in front of it, in every step alike.
  template <index_t I>
  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE std::uint32_t earlier_shift() const {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(line_[I])) & 15U;
  }
  /// Nothing: shifts stay the same.
  template <index_t I>
  RG_DEVICE void remember_shift() const {}

 private:
  const unsigned char* line_[Map::loads];
  index_t column_;              // of the lane's chunk in a step
  index_t exists_[Map::loads];  // 0; far away where the index names no line
};

/// Outer indices contiguous: lines are depth indices, a step goes from line to line.
template <class Map, bool MayGather>
class OuterMajorPlaces {
  using Image = typename Map::Image;
  static constexpr index_t depth = Image::lines;  // of a step

 public:
  static constexpr bool depth_contiguous = false;

  RG_DEVICE void start(const FeedWindow& window) {
    const index_t lane = static_cast<index_t>(threadIdx.x);
    const index_t column = Map::chunk(lane) * Image::chunk_elems;
    line_ = Map::line(lane, 0);
    pitch_bytes_ = window.pitch_bytes;
    next_ = window.begin + column * 2;
    after_ = static_cast<index_t>(min_of(window.readable, far_elems)) - column;
    if constexpr (MayGather) {
      index_ = window.index;
      index_extent_ = window.index_extent;
      load_entries(static_cast<index_t>(min_of(window.depth, far_elems)));
    }
    if (!MayGather || window.index == nullptr) next_ += line_ * pitch_bytes_;
  }

  /// On to the next step.
  RG_DEVICE RG_FORCE_INLINE void advance(index_t depth_left) {
    if (MayGather && index_ != nullptr) {
      index_ += depth;
      load_entries(depth_left);
    } else {
      next_ += depth * pitch_bytes_;
    }
  }

  /// The lane's chunk `I` of the next step.
  template <index_t I>
  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE const unsigned char* from() const {
    offset_t line = I * Map::line_step;
    if constexpr (MayGather)
      if (index_ != nullptr) line = is_entry<I>() ? entry_[I] : 0;
    return next_ + line * pitch_bytes_;
  }
  /// How many of its elements exist, 0 to 8.
  template <index_t I>
  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE index_t valid_elems(index_t depth_left) const {
    return exists<I>(depth_left) ? max_of(min_of(after_, Image::chunk_elems), 0) : 0;
  }
  /// Bytes in front of the chunk in its first piece: without an index in every step alike, because
  /// lines of a lane are multiples of 8 apart; else as remembered one step ago.
  template <index_t I>
  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE std::uint32_t earlier_shift() const {
    if constexpr (MayGather)
      if (index_ != nullptr) return shifts_[I] >> 4 & 15U;
    return static_cast<std::uint32_t>(
               reinterpret_cast<std::uintptr_t>(next_ + I * Map::line_step * pitch_bytes_)) &
           15U;
  }
  /// To be called once a step.
  template <index_t I>
  RG_DEVICE RG_FORCE_INLINE void remember_shift() {
    if constexpr (MayGather)
      shifts_[I] = shifts_[I] << 4 |
                   (static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from<I>())) & 15U);
  }

 private:
  template <index_t I>
  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE bool is_entry() const {
    return entry_[I] >= 0 && entry_[I] < index_extent_;
  }
  template <index_t I>
  [[nodiscard]] RG_DEVICE RG_FORCE_INLINE bool exists(index_t depth_left) const {
    const bool exists = line_ + I * Map::line_step < depth_left;
    if constexpr (MayGather)
      if (index_ != nullptr) return exists && is_entry<I>();
    return exists;
  }
  /// The index entries of the next step: a step ahead of their use.
  RG_DEVICE RG_FORCE_INLINE void load_entries(index_t depth_left) {
    if (index_ == nullptr) return;
    unrolled<Map::loads>([&](auto i) {
      const index_t line = line_ + i * Map::line_step;
      entry_[i] = line < depth_left ? index_[line] : -1;
    });
  }

  const unsigned char* next_;  // the lane's chunk in its first line, or in entry 0
  offset_t pitch_bytes_;
  index_t line_;
  index_t after_;  // elements of the lines from the chunk on (of many, some)
  const std::int32_t* index_ = nullptr;
  offset_t index_extent_ = 0;
  std::int32_t entry_[Map::loads];
  std::uint32_t shifts_[Map::loads] = {};  // of the last steps, 4 bits each
};

/// The feed of an operand tile of `Outer` rows (columns of B) by `Depth`.
template <bool DepthContiguous, index_t Outer, index_t Depth, index_t Lanes, bool MayGather>
struct FeedOf {
  using Image = std::
      conditional_t<DepthContiguous, SharedImage<Outer, Depth / 8>, SharedImage<Depth, Outer / 8>>;
  using Map = FeedMap<Image, Lanes>;
  using type = ChunkFeed<Map,
                         std::conditional_t<DepthContiguous,
                                            DepthMajorPlaces<Map, MayGather>,
                                            OuterMajorPlaces<Map, MayGather>>>;
};

#endif

}  // namespace arch::sm80
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
