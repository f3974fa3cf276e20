// SPDX-License-Identifier: Apache-2.0
// Gathered lines of lhs for the Hopper engine: the copy engine knows no index, so lanes copy each
// line from where its entry says to where the copy engine would have put it.
#pragma once

#include <cstdint>

#include "raggedgemm/arch/simt/wave.hpp"
#include "raggedgemm/arch/sm80/instructions.hpp"
#include "raggedgemm/arch/sm90/barrier.hpp"
#include "raggedgemm/arch/sm90/wgmma.hpp"
#include "raggedgemm/schedule/work.hpp"
#include "raggedgemm/tile/arguments.hpp"
#include "raggedgemm/tile/swizzle.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

#if RG_PLATFORM_CUDA

/// Bytes of a unit of 16 that exist, of `left` from its first one on.
RG_DEVICE RG_FORCE_INLINE index_t valid_bytes(offset_t left) {
  return static_cast<index_t>(max_of(min_of(left, offset_t{BoxMap::unit_bytes}), offset_t{0}));
}

/// Line `entry` of those that begin at `first`; the first where it is negative. One instruction.
RG_DEVICE RG_FORCE_INLINE const unsigned char* line_at(const unsigned char* first,
                                                       std::int32_t entry,
                                                       std::uint32_t pitch_bytes) {
  return first + std::uint64_t{static_cast<std::uint32_t>(max_of(entry, 0))} * pitch_bytes;
}

/// What one warp copies of A's tiles of `BlockM` rows, step by step of `BlockK`.
///
/// Requires: lines and their pitch aligned to 16 bytes, a pitch below 2^31 bytes. Guarantees:
/// nothing outside lines that exist is read; entries outside [0, lhs_extent), and depth past the
/// work's, become zero.
template <class Input, arch::sm90::Major M, index_t BlockM, index_t BlockK>
class LhsGather;

/// Depth contiguous: an entry for each row of the tile. Two warps share the rows.
template <class Input, index_t BlockM, index_t BlockK>
class LhsGather<Input, arch::sm90::Major::k, BlockM, BlockK> {
  using Wave = arch::simt::Wave<32>;
  static constexpr index_t lanes_of_row = BoxMap::units_per_row;
  static constexpr index_t row_step = BoxMap::units_per_row;  // rows of a lane lie so far apart

 public:
  static constexpr index_t warps = row_step * lanes_of_row / Wave::lanes;
  /// A tile's entries, -1 where they name no line; in shared memory. Those of a lane's rows are
  /// neighbours.
  struct Entries {
    alignas(16) std::int32_t of[row_step][BlockM / row_step];
  };

  RG_DEVICE RG_FORCE_INLINE LhsGather(const Arguments& arguments, Entries& entries, index_t warp)
      : arguments_(arguments),
        row_(warp * (Wave::lanes / lanes_of_row) + Wave::lane() / lanes_of_row),
        entries_(entries.of[row_]) {}

  RG_DEVICE RG_FORCE_INLINE void start(const Work& work) {
    __syncwarp();  // the entries of the tile before have been read
    const std::int32_t* const index = arguments_.lhs_index + work.row_begin;
    RG_NO_UNROLL
    for (index_t i = unit(); row_ + i * row_step < work.rows; i += lanes_of_row) {
      const std::int32_t entry = index[row_ + i * row_step];
      entries_[i] = entry >= 0 && entry < arguments_.lhs_extent ? entry : -1;
    }
    __syncwarp();
    rows_ = work.rows;
    bytes_left_ = work.k_extent * offset_t{sizeof(Input)};
    from_ = static_cast<const unsigned char*>(arguments_.a.data) +
            work.k_begin * offset_t{sizeof(Input)} + unit() * BoxMap::unit_bytes;
  }

  /// Begins to copy the next step to `stage`, a shared address.
  RG_DEVICE RG_FORCE_INLINE void copy_step(std::uint32_t stage) {
    const auto pitch =
        static_cast<std::uint32_t>(arguments_.a.stride.row * offset_t{sizeof(Input)});
    const index_t valid = valid_bytes(bytes_left_ - unit() * BoxMap::unit_bytes);
    const std::uint32_t to =
        stage + static_cast<std::uint32_t>(BoxMap::unit(row_, unit()) * BoxMap::unit_bytes);
    if (valid % BoxMap::unit_bytes == 0)
      copy_rows(to, pitch, [valid](std::uint32_t to_row, const void* from, bool exists) {
        arch::sm80::copy_async_or_clear(to_row, from, exists && valid > 0);
      });
    else
      copy_rows(to, pitch, [valid](std::uint32_t to_row, const void* from, bool exists) {
        arch::sm80::copy_async(to_row, from, exists ? valid : 0);
      });
    from_ += BoxMap::row_bytes;
    bytes_left_ -= BoxMap::row_bytes;
  }

 private:
  static RG_DEVICE RG_FORCE_INLINE index_t unit() { return Wave::lane() % lanes_of_row; }

  template <class Copy>
  RG_DEVICE RG_FORCE_INLINE void copy_rows(std::uint32_t to,
                                           std::uint32_t pitch,
                                           const Copy& copy) {
    // A batch of entries is loaded before the first of its copies begins.
    constexpr index_t batch = 8;
    RG_NO_UNROLL
    for (index_t first = 0; row_ + first * row_step < rows_; first += batch) {
      std::int32_t entry[batch];
      arch::simt::unrolled<batch / 4>([&](auto i) {
        const int4 four = *reinterpret_cast<const int4*>(entries_ + first + 4 * i);
        entry[4 * i] = four.x;
        entry[4 * i + 1] = four.y;
        entry[4 * i + 2] = four.z;
        entry[4 * i + 3] = four.w;
      });
      arch::simt::unrolled<batch>([&](auto i) {
        if (row_ + (first + i) * row_step < rows_)
          copy(to + i * std::uint32_t{row_step * BoxMap::row_bytes},
               line_at(from_, entry[i], pitch),
               entry[i] >= 0);
      });
      to += std::uint32_t{batch * row_step * BoxMap::row_bytes};
    }
  }

  const Arguments& arguments_;
  index_t row_;                          // the lane's first
  std::int32_t* entries_;                // of the lane's rows
  const unsigned char* from_ = nullptr;  // the lane's unit of the next step in line 0
  offset_t bytes_left_ = 0;              // of a line, from the next step on
  index_t rows_ = 0;
};

/// Rows contiguous: an entry for each depth index. One warp; lanes hold the entries of a step.
template <class Input, index_t BlockM, index_t BlockK>
class LhsGather<Input, arch::sm90::Major::mn, BlockM, BlockK> {
  using Wave = arch::simt::Wave<32>;
  static constexpr index_t lanes_of_line = BoxMap::units_per_row;
  static constexpr index_t lines_at_once = Wave::lanes / lanes_of_line;
  static constexpr index_t chunks = BlockM * index_t{sizeof(Input)} / BoxMap::row_bytes;
  static constexpr index_t chunk_bytes = BlockK * BoxMap::row_bytes;
  static constexpr index_t held = BlockK / Wave::lanes;  // entries of a lane

 public:
  static constexpr index_t warps = 1;
  struct Entries {};

  RG_DEVICE RG_FORCE_INLINE LhsGather(const Arguments& arguments, Entries&, index_t)
      : arguments_(arguments) {}

  RG_DEVICE RG_FORCE_INLINE void start(const Work& work) {
    next_ = static_cast<index_t>(work.k_begin) + Wave::lane();
    end_ = static_cast<index_t>(work.k_begin + work.k_extent);
    from_ = static_cast<const unsigned char*>(arguments_.a.data) +
            work.row_begin * offset_t{sizeof(Input)} + unit() * BoxMap::unit_bytes;
    const offset_t bytes = (arguments_.rows - work.row_begin) * offset_t{sizeof(Input)};
    RG_UNROLL
    for (index_t c = 0; c < chunks; ++c)
      valid_[c] = valid_bytes(bytes - c * BoxMap::row_bytes - unit() * BoxMap::unit_bytes);
    whole_ = bytes % BoxMap::unit_bytes == 0 || bytes >= chunks * BoxMap::row_bytes;
    load_entries();
  }

  RG_DEVICE RG_FORCE_INLINE void copy_step(std::uint32_t stage) {
    const std::uint32_t to =
        stage + static_cast<std::uint32_t>(BoxMap::unit(Wave::lane() / lanes_of_line, unit()) *
                                           BoxMap::unit_bytes);
    if (whole_)
      copy_lines(to, [](std::uint32_t to_line, const void* from, index_t bytes) {
        arch::sm80::copy_async_or_clear(to_line, from, bytes > 0);
      });
    else
      copy_lines(to, [](std::uint32_t to_line, const void* from, index_t bytes) {
        arch::sm80::copy_async(to_line, from, bytes);
      });
    next_ += BlockK;
    load_entries();
  }

 private:
  static RG_DEVICE RG_FORCE_INLINE index_t unit() { return Wave::lane() % lanes_of_line; }

  template <class Copy>
  RG_DEVICE RG_FORCE_INLINE void copy_lines(std::uint32_t to, const Copy& copy) {
    const auto pitch =
        static_cast<std::uint32_t>(arguments_.a.stride.col * offset_t{sizeof(Input)});
    // Entries of a batch of lines first, then their copies.
    constexpr index_t batch = 2;
    static_assert(batch * lines_at_once == BoxMap::units_per_row, "the swizzle repeats");
    constexpr std::uint32_t odd = lines_at_once * BoxMap::unit_bytes;  // flips in odd lines
    arch::simt::unrolled<held>([&](auto h) {
      RG_NO_UNROLL
      for (index_t l = Wave::lane() / lanes_of_line; l < Wave::lanes; l += batch * lines_at_once) {
        std::int32_t entry[batch];
        arch::simt::unrolled<batch>(
            [&](auto i) { entry[i] = __shfl_sync(0xFFFFFFFFU, entry_[h], l + i * lines_at_once); });
        arch::simt::unrolled<batch>([&](auto i) {
          const unsigned char* const from = line_at(from_, entry[i], pitch);
          arch::simt::unrolled<chunks>([&](auto c) {
            copy((to ^ (i * odd)) + static_cast<std::uint32_t>(
                                        i * lines_at_once * BoxMap::row_bytes + c * chunk_bytes),
                 from + c * BoxMap::row_bytes,
                 entry[i] < 0 ? 0 : valid_[c]);
          });
        });
        to += std::uint32_t{batch * lines_at_once * BoxMap::row_bytes};
      }
    });
  }

  /// Those of the next step, a step ahead of their use.
  RG_DEVICE RG_FORCE_INLINE void load_entries() {
    arch::simt::unrolled<held>([&](auto h) {
      const index_t at = next_ + h * Wave::lanes;
      const std::int32_t entry = at < end_ ? arguments_.lhs_index[at] : -1;
      entry_[h] = entry < arguments_.lhs_extent ? entry : -1;
    });
  }

  const Arguments& arguments_;
  index_t next_ = 0;                     // the lane's first entry of the next step
  index_t end_ = 0;                      // behind the work's entries
  const unsigned char* from_ = nullptr;  // the lane's unit of line 0
  index_t valid_[chunks];                // bytes of the unit in each chunk of rows
  bool whole_ = true;                    // each of them is 0 or 16, in all lanes
  std::int32_t entry_[held];
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
