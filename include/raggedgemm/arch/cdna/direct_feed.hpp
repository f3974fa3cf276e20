// SPDX-License-Identifier: Apache-2.0
// The feed of gfx950: loads from global memory that write shared memory without passing registers.
// They fill it lane after lane, so what twists an image is which chunk each lane asks for.
#pragma once

#include "raggedgemm/arch/cdna/feed.hpp"
#include "raggedgemm/arch/cdna/outer_image.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

/// Which chunk of an operand tile a lane loads: the one whose place in the image is the lane's.
///
/// A load of a wave writes 64 consecutive chunks. From one load of a lane to the next, or to that
/// `chunk_loads` on, the line grows by a period of the image's twist, so that the chunk stays.
template <class ImageType, index_t Lanes>
struct DirectMap {
  using Image = ImageType;
  static constexpr index_t lane_lines = Image::row_bytes / Image::chunk_bytes;  ///< lanes of a line
  static constexpr index_t loads = Image::bytes / (Lanes * Image::chunk_bytes);
  static constexpr index_t load_bytes = Lanes * Image::chunk_bytes;
  static constexpr index_t line_step = Lanes / lane_lines;
  static constexpr index_t chunk_loads = max_of(1, Image::period_rows / line_step);
  static_assert(loads * load_bytes == Image::bytes && loads % chunk_loads == 0 &&
                    chunk_loads * line_step % Image::period_rows == 0,
                "TileConfig.block_m and block_n must be multiples of what the lanes load at once");

  /// Row of the image: outer index, or depth of an OuterImage.
  static RG_HOST_DEVICE constexpr index_t line(index_t lane, index_t load) {
    return lane / lane_lines + load * line_step;
  }
  static RG_HOST_DEVICE constexpr index_t chunk(index_t lane, index_t load) {
    return lane % lane_lines ^ Image::twist(line(lane, load % chunk_loads));
  }
};

#if RG_PLATFORM_HIP

/// Either operand order: depth contiguous into a SharedImage, outer index contiguous into an
/// OuterImage.
///
/// Such loads cannot clip: where the depth is not a whole number of steps, its last part is step 0
/// and goes through registers (what lies past the depth in a row is a neighbour's and may be NaN).
/// Rows past the last one touch output alone that is not stored; whether a load past the window
/// leaves shared memory or zeroes it does not matter.
template <class ImageType, index_t Lanes>
class DirectFeed {
 public:
  using Map = DirectMap<ImageType, Lanes>;
  using Image = ImageType;
  static constexpr bool direct = true;
  static constexpr index_t loads = Map::loads;
  static constexpr index_t writes = 0;

  RG_DEVICE explicit DirectFeed(SharedByte* image)
      : to_(image + Wave::index() * wave_lanes * Image::chunk_bytes) {}

  RG_DEVICE void start(const FeedWindow& window) {
    const index_t lane = block_lane();
    window_ = window;
    unrolled<Map::chunk_loads>([&](auto load) {
      offset_bytes_[load] =
          Map::line(lane, load) * window_.pitch() + Map::chunk(lane, load) * Image::chunk_bytes;
    });
  }

  /// The depth that step 0 has where it is not a whole step, else 0.
  RG_DEVICE index_t tail_depth() const {
    return static_cast<index_t>(window_.depth_left % Image::depth);
  }

  /// Loads and writes step 0 from the end of the depth.
  ///
  /// Requires: tail_depth() > 0.
  RG_DEVICE void write_tail() {
    const index_t lane = block_lane();
    FeedWindow tail = window_;
    tail.depth_left = tail_depth();
    window_.depth_left -= tail.depth_left;
    tail.template advance<Image>(window_.depth_left);
    const Buffer buffer = tail.template step_buffer<Image>();
    Dwords4 staged[loads];
    unrolled<loads>([&](auto load) { staged[load] = buffer.load<4>(offset<load>()); });
    if constexpr (Image::depth_contiguous) {
      static_assert(Map::chunk_loads == 1, "one mask is for all loads");
      const Dwords4 mask = valid_elements<Image::elem_bytes>(
          tail.template step_depth<Image>() - Map::chunk(lane, 0) * Image::chunk_elems);
      unrolled<loads>([&](auto load) { staged[load] &= mask; });
    }
    unrolled<loads>([&](auto load) {
      shared_write(to_ + lane % wave_lanes * Image::chunk_bytes + load * Map::load_bytes,
                   staged[load]);
    });
  }

  RG_DEVICE Buffer step_buffer() const { return window_.template step_buffer<Image>(); }

  template <index_t Load>
  RG_DEVICE void load(const Buffer& buffer) {
    buffer.load_to_shared(to_ + Load * Map::load_bytes, offset<Load>());
  }

  /// After the loads of a step: on to the next one.
  RG_DEVICE void advance() {
    unrolled<Map::chunk_loads>([&](auto load) { forget(offset_bytes_[load]); });
    window_.template advance<Image>(Image::depth);
    window_.depth_left -= Image::depth;
  }

  // write_tail() has clipped.
  [[nodiscard]] RG_DEVICE index_t staged_depth() const { return Image::depth; }
  RG_DEVICE void clip(const Dwords4&) {}

  /// On to the image whose addresses differ in `bits`.
  RG_DEVICE void switch_image(index_t bits) { to_ = flip(to_, bits); }

 private:
  template <index_t Load>
  RG_DEVICE index_t offset() const {
    constexpr index_t first = Load % Map::chunk_loads;
    return offset_bytes_[first] + (Load - first) * Map::line_step * window_.pitch();
  }

  SharedByte* to_;  // where the wave's first load goes; the same in all its lanes
  FeedWindow window_;
  index_t offset_bytes_[Map::chunk_loads];
};

#endif

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
