// SPDX-License-Identifier: Apache-2.0
// Feeds: how an operand tile travels from global memory through registers into its shared image.
// One for operands whose depth is contiguous, one for the others, which are transposed on the way.
#pragma once

#include "raggedgemm/arch/cdna/buffer.hpp"
#include "raggedgemm/arch/cdna/shared_image.hpp"
#include "raggedgemm/arch/cdna/vector.hpp"
#include "raggedgemm/arch/cdna/wave.hpp"
#include "raggedgemm/base/index.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::cdna {

/// Who moves what of a depth-contiguous operand: a lane moves `loads` chunks of 16 bytes along the
/// depth; eight neighbouring lanes move 128 contiguous bytes.
template <index_t ElemBytes, index_t Outer, index_t Lanes>
struct DepthMajorMap {
  using Image = SharedImage<ElemBytes, Outer>;
  static constexpr index_t loads = Outer * Image::chunks / Lanes;
  static constexpr index_t row_step =
      Lanes / Image::chunks;  ///< from one load of a lane to the next
  static_assert(loads * row_step == Outer && row_step % Image::period_rows == 0,
                "TileConfig.block_m and block_n must be multiples of lanes / 8, lanes of 256");

  static RG_HOST_DEVICE constexpr index_t row(index_t lane, index_t load) {
    return lane / Image::chunks + load * row_step;
  }
  static RG_HOST_DEVICE constexpr index_t chunk(index_t lane) { return lane % Image::chunks; }
};

/// Who moves what of an operand whose outer index is contiguous: a lane moves units of 4 outer
/// indices (2 of 64 bits) by one chunk along the depth, in as many loads as a chunk has elements
/// and one write of 16 bytes an outer index; the lanes of a load move contiguous bytes of a few
/// rows.
template <index_t ElemBytes, index_t Outer, index_t Lanes>
struct OuterMajorMap {
  using Image = SharedImage<ElemBytes, Outer>;
  static constexpr index_t unit_outer = min_of(4, 16 / ElemBytes);
  static constexpr index_t unit_depth = Image::chunk_elems;
  static constexpr index_t load_dwords = unit_outer * ElemBytes / 4;
  static constexpr index_t units_across = Outer / unit_outer;
  static constexpr index_t units = units_across * Image::chunks / Lanes;  ///< of one lane
  static constexpr index_t loads = units * unit_depth;
  static constexpr index_t writes = units * unit_outer;
  static_assert(units * Lanes == units_across * Image::chunks,
                "TileConfig.block_m and block_n must be multiples of lanes / 2 (4 for 64 bits)");

  static RG_HOST_DEVICE constexpr index_t outer(index_t lane, index_t unit) {
    return (lane + unit * Lanes) % units_across * unit_outer;
  }
  static RG_HOST_DEVICE constexpr index_t chunk(index_t lane, index_t unit) {
    return (lane + unit * Lanes) / units_across;
  }
};

#if RG_PLATFORM_HIP

/// The part of an operand that a tile needs: where its next step begins and how much is left.
///
/// Requires: `next` and the pitch are multiples of 16 bytes, the pitch is at least the contiguous
/// extent, and a tile spans less than 2^31 bytes (window_limits.hpp asks for all three).
/// Guarantees: windows end with the 16-byte unit that holds the last valid element: no load is
/// partly outside, and none touches a unit without a valid element behind the last row.
struct FeedWindow {
  const unsigned char* next = nullptr;  ///< element (0, 0) of the next step
  offset_t pitch_bytes = 0;
  offset_t depth_left = 0;  ///< from `next` on; not positive: nothing is left
  index_t outer = 0;        ///< valid rows (of A; columns of B)

  [[nodiscard]] RG_DEVICE index_t pitch() const { return static_cast<index_t>(pitch_bytes); }

  /// Depth of the next step.
  template <class Image>
  [[nodiscard]] RG_DEVICE index_t step_depth() const {
    return static_cast<index_t>(min_of(offset_t{Image::depth}, depth_left));
  }

  /// The window of the next step of an operand whose depth, or outer index, is contiguous. What
  /// lies past its lines (rows; depths) is past its end and arrives as zero. Past the end of a line
  /// it holds whatever the operand has there: outer indices that only touch output that is not
  /// stored, or depths that the feed must clip.
  template <class Image, bool DepthContiguous = Image::depth_contiguous>
  [[nodiscard]] RG_DEVICE Buffer step_buffer() const {
    const index_t lines = DepthContiguous ? outer : step_depth<Image>();
    const index_t line_elems = DepthContiguous ? step_depth<Image>() : outer;
    return Buffer(
        next,
        depth_left <= 0
            ? 0
            : (lines - 1) * pitch() + round_up(line_elems, Image::chunk_elems) * Image::elem_bytes);
  }

  /// Moves `next` by `depth` along the depth.
  template <class Image, bool DepthContiguous = Image::depth_contiguous>
  RG_DEVICE void advance(offset_t depth) {
    next += depth * (DepthContiguous ? offset_t{Image::elem_bytes} : pitch_bytes);
  }
};

/// All bits of the first `valid` elements of a chunk, none of the others.
template <index_t ElemBytes>
RG_DEVICE RG_FORCE_INLINE Dwords4 valid_elements(index_t valid) {
  Dwords4 mask;
  unrolled<4>([&](auto dword) {
    constexpr index_t d = decltype(dword)::value;
    constexpr index_t elems = 4 / min_of(ElemBytes, 4);  // of a dword
    constexpr index_t first = d * 4 / ElemBytes;
    if constexpr (elems == 4)
      mask[d] = valid >= first + 4 ? 0xFFFFFFFFU
                : valid > first    ? (1U << (8 * (valid - first))) - 1U
                                   : 0U;
    else if constexpr (elems == 2)
      mask[d] = valid >= first + 2 ? 0xFFFFFFFFU : valid > first ? 0x0000FFFFU : 0U;
    else
      mask[d] = valid > first ? 0xFFFFFFFFU : 0U;
  });
  return mask;
}

/// Depth contiguous: 16-byte loads, written as they are. `Once`: nobody reads them again soon.
template <index_t ElemBytes, index_t Outer, index_t Lanes, bool Once>
class DepthMajorFeed {
 public:
  using Map = DepthMajorMap<ElemBytes, Outer, Lanes>;
  using Image = typename Map::Image;
  static constexpr bool direct = false;
  static constexpr index_t loads = Map::loads;
  static constexpr index_t writes = Map::loads;

  RG_DEVICE explicit DepthMajorFeed(SharedByte* image) {
    const index_t lane = block_lane();
    to_ = image + Image::offset_bytes(Map::row(lane, 0), Map::chunk(lane));
  }

  RG_DEVICE void start(const FeedWindow& window) {
    const index_t lane = block_lane();
    window_ = window;
    offset_bytes_ = Map::row(lane, 0) * window_.pitch() + Map::chunk(lane) * Image::chunk_bytes;
  }

  RG_DEVICE Buffer step_buffer() const { return window_.template step_buffer<Image>(); }

  template <index_t Load>
  RG_DEVICE void load(const Buffer& buffer) {
    staged_[Load] = buffer.load<4, Once>(offset_bytes_ + Load * Map::row_step * window_.pitch());
  }

  /// After the loads of a step: on to the next one.
  RG_DEVICE void advance() {
    forget(offset_bytes_);
    staged_depth_ = window_.template step_depth<Image>();
    window_.template advance<Image>(Image::depth);
    window_.depth_left -= Image::depth;
  }

  /// Depth of what is in registers. Elements past it are neighbouring rows', which may be NaN: they
  /// must be clipped.
  [[nodiscard]] RG_DEVICE index_t staged_depth() const { return staged_depth_; }

  /// Zeroes what `mask` does not have in each chunk.
  RG_DEVICE void clip(const Dwords4& mask) {
    unrolled<loads>([&](auto load) { staged_[load] &= mask; });
  }

  template <index_t Write>
  RG_DEVICE void write() {
    shared_write(to_ + Write * Map::row_step * Image::row_bytes, staged_[Write]);
  }

  /// On to the image whose addresses differ in `bits`.
  RG_DEVICE void switch_image(index_t bits) { to_ = flip(to_, bits); }

 private:
  SharedByte* to_;  // where the lane's first chunk goes
  FeedWindow window_;
  index_t offset_bytes_ = 0;
  index_t staged_depth_ = 0;
  Dwords4 staged_[loads];
};

/// Outer index contiguous: loads along it; neighbours along the depth are packed into dwords on the
/// way, so that the image is the same as for the other feed. Cost: v_perm instructions, none for
/// elements of 32 and 64 bits, one a dword for 16 bits, two for 8.
template <index_t ElemBytes, index_t Outer, index_t Lanes, bool Once>
class OuterMajorFeed {
 public:
  using Map = OuterMajorMap<ElemBytes, Outer, Lanes>;
  using Image = typename Map::Image;
  static constexpr bool direct = false;
  static constexpr index_t loads = Map::loads;
  static constexpr index_t writes = Map::writes;

  RG_DEVICE explicit OuterMajorFeed(SharedByte* image) {
    const index_t lane = block_lane();
    unrolled<Map::units>([&](auto unit) {
      to_[unit] = image + Image::offset_bytes(Map::outer(lane, unit), Map::chunk(lane, unit));
    });
  }

  RG_DEVICE void start(const FeedWindow& window) {
    const index_t lane = block_lane();
    window_ = window;
    unrolled<Map::units>([&](auto unit) {
      offset_bytes_[unit] = Map::chunk(lane, unit) * Map::unit_depth * window_.pitch() +
                            Map::outer(lane, unit) * Image::elem_bytes;
    });
  }

  RG_DEVICE Buffer step_buffer() const { return window_.template step_buffer<Image, false>(); }

  template <index_t Load>
  RG_DEVICE void load(const Buffer& buffer) {
    staged_[Load] = buffer.load<Map::load_dwords, Once>(offset_bytes_[Load / Map::unit_depth] +
                                                        Load % Map::unit_depth * window_.pitch());
  }

  /// After the loads of a step: on to the next one.
  RG_DEVICE void advance() {
    unrolled<Map::units>([&](auto unit) { forget(offset_bytes_[unit]); });
    window_.template advance<Image, false>(Image::depth);
    window_.depth_left -= Image::depth;
  }

  // The window ends at the depth's end: nothing to clip.
  [[nodiscard]] RG_DEVICE index_t staged_depth() const { return Image::depth; }
  RG_DEVICE void clip(const Dwords4&) {}

  /// The twist is linear: that of outer + column, for an outer index that is a multiple of
  /// unit_outer, is that of outer with the bits of column's twist flipped.
  template <index_t Write>
  RG_DEVICE void write() {
    constexpr index_t unit = Write / Map::unit_outer;
    constexpr index_t column = Write % Map::unit_outer;
    static_assert(Image::chunks == 8, "flip() relies on it");
    Dwords4 packed;
    unrolled<4>([&](auto dword) {
      constexpr index_t d = decltype(dword)::value;
      packed[d] = packed_dword<unit * Map::unit_depth, column, d>();
    });
    shared_write(
        flip(to_[unit], Image::twist(column) * Image::chunk_bytes) + column * Image::row_bytes,
        packed);
  }

  /// On to the image whose addresses differ in `bits`.
  RG_DEVICE void switch_image(index_t bits) {
    unrolled<Map::units>([&](auto unit) { to_[unit] = flip(to_[unit], bits); });
  }

 private:
  /// Dword `Dword` of the chunk of outer index `Column` of the unit whose loads begin at `First`.
  template <index_t First, index_t Column, index_t Dword>
  RG_DEVICE RG_FORCE_INLINE std::uint32_t packed_dword() const {
    constexpr index_t elem_bytes = Image::elem_bytes;
    if constexpr (elem_bytes >= 4) {
      constexpr index_t words = elem_bytes / 4;
      return staged_[First + Dword / words][Column * words + Dword % words];
    } else if constexpr (elem_bytes == 2) {
      constexpr index_t from = First + 2 * Dword;
      constexpr std::uint32_t halves = Column % 2 == 0 ? 0x05040100U : 0x07060302U;
      return __builtin_amdgcn_perm(
          staged_[from + 1][Column / 2], staged_[from][Column / 2], halves);
    } else {
      // Bytes c of two loads side by side, columns 2c and 2c + 1 of a dword; then two such pairs.
      constexpr index_t from = First + 4 * Dword;
      constexpr std::uint32_t pairs = Column / 2 == 0 ? 0x05010400U : 0x07030602U;
      constexpr std::uint32_t halves = Column % 2 == 0 ? 0x05040100U : 0x07060302U;
      return __builtin_amdgcn_perm(
          __builtin_amdgcn_perm(staged_[from + 3][0], staged_[from + 2][0], pairs),
          __builtin_amdgcn_perm(staged_[from + 1][0], staged_[from][0], pairs),
          halves);
    }
  }

  SharedByte* to_[Map::units];  // where the unit's first outer index goes
  FeedWindow window_;
  index_t offset_bytes_[Map::units];
  DwordVector<Map::load_dwords> staged_[loads];
};

#endif

}  // namespace arch::cdna
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
