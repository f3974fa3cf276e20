// SPDX-License-Identifier: Apache-2.0
// A kernel before the product's: copies an operand whose lines begin anywhere to lines that begin
// at multiples of 16 bytes, which matrix engines want.
#pragma once

#include <cstdint>

#include "raggedgemm/arch/simt/funnel_shift.hpp"
#include "raggedgemm/tile/arguments.hpp"

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace engine {

#if RG_PLATFORM_CUDA || RG_PLATFORM_HIP

/// 16 bytes of memory at a time: each lane reads the two aligned units that its unit of the copy
/// lies in, and shifts. The rest of a line to 16 bytes is zeroed.
///
/// With an index, lines (or slabs) are gathered, as Options::lhs_index says.
///
/// Guarantees: no byte before the first line or behind the last one is read. Cost: the bytes of the
/// slabs that are copied, read once and written once.
template <class Wave>
struct CopyLinesKernel {
  static constexpr index_t lanes = 256;
  static constexpr index_t waves = lanes / Wave::lanes;
  static constexpr index_t lines_of_item = 4 * waves;  ///< of one slab, by one block

  static offset_t items(const CopyLines& p) noexcept {
    return p.slabs * ceil_div(p.lines, offset_t{lines_of_item});
  }

  static RG_DEVICE void run(const CopyLines& p) {
    const offset_t items_of_slab = ceil_div(p.lines, offset_t{lines_of_item});
    for (offset_t item = blockIdx.x; item < items_of_slab * p.slabs; item += gridDim.x) {
      const offset_t slab = item / items_of_slab;
      if (p.groups.kind != GroupKind::none &&
          p.groups.size(slab + p.group_offset, p.ragged_extent) == 0)
        continue;
      offset_t line = (item - slab * items_of_slab) * lines_of_item +
                      static_cast<index_t>(threadIdx.x) / Wave::lanes;
      for (index_t turn = 0; turn < 4 && line < p.lines; ++turn, line += waves)
        copy_line(p, slab, line);
    }
  }

 private:
  struct alignas(16) Unit {
    std::uint32_t word[4];
  };

  static RG_DEVICE void copy_line(const CopyLines& p, offset_t slab, offset_t line) {
    unsigned char* const to =
        static_cast<unsigned char*>(p.to) + (slab * p.lines + line) * p.to_line;
    if (p.index != nullptr) {
      const offset_t gathered = p.index[p.index_of_slabs ? slab : line];
      if (gathered < 0 || gathered >= p.index_extent) {
        for (offset_t u = Wave::lane(); u < ceil_div(p.line_bytes, offset_t{16}); u += Wave::lanes)
          reinterpret_cast<Unit*>(to)[u] = Unit{};
        return;
      }
      if (p.index_of_slabs)
        slab = gathered;
      else
        line = gathered;
    }
    const unsigned char* const from =
        static_cast<const unsigned char*>(p.from) + slab * p.from_slab + line * p.from_line;
    const index_t shift = static_cast<index_t>(reinterpret_cast<std::uintptr_t>(from) % 16);
    const Unit* const aligned = reinterpret_cast<const Unit*>(from - shift);
    // Units that are read whole. What lies before the very first line is nobody's to read.
    const offset_t end =
        shift == 0 ? p.line_bytes / 16 : max_of((p.line_bytes + shift) / 16 - 1, offset_t{0});
    const offset_t begin = shift != 0 && slab == 0 && line == 0 ? min_of(end, offset_t{1}) : 0;
    const offset_t units = ceil_div(p.line_bytes, offset_t{16});
    RG_UNROLL_BY_4
    for (offset_t u = begin + Wave::lane(); u < end; u += Wave::lanes)
      reinterpret_cast<Unit*>(to)[u] =
          shift == 0 ? aligned[u] : shifted(aligned[u], aligned[u + 1], shift);
    if (begin == 1 && Wave::lane() == 0)
      reinterpret_cast<Unit*>(to)[0] = by_bytes(from, 0, p.line_bytes);
    for (offset_t u = end + Wave::lane(); u < units; u += Wave::lanes)
      reinterpret_cast<Unit*>(to)[u] = by_bytes(from, u, p.line_bytes);
  }

  /// Bytes shift … shift + 15 of two units.
  static RG_DEVICE Unit shifted(const Unit& low, const Unit& high, index_t shift) {
    std::uint32_t word[8];
    RG_UNROLL
    for (index_t i = 0; i < 4; ++i) {
      word[i] = low.word[i];
      word[4 + i] = high.word[i];
    }
    // By two words, by one, then by bytes: registers have no run-time index.
    RG_UNROLL
    for (index_t i = 0; i < 6; ++i)
      if ((shift & 8) != 0) word[i] = word[i + 2];
    RG_UNROLL
    for (index_t i = 0; i < 5; ++i)
      if ((shift & 4) != 0) word[i] = word[i + 1];
    Unit unit;
    RG_UNROLL
    for (index_t i = 0; i < 4; ++i)
      unit.word[i] = arch::simt::funnel_shift(word[i], word[i + 1], (shift & 3) * 8);
    return unit;
  }

  /// Unit `u` of a line from its bytes, zeros behind the line's end.
  static RG_DEVICE Unit by_bytes(const unsigned char* from, offset_t u, offset_t line_bytes) {
    Unit unit;
    RG_UNROLL
    for (index_t i = 0; i < 4; ++i) {
      unit.word[i] = 0;
      RG_UNROLL
      for (index_t byte = 0; byte < 4; ++byte)
        if (const offset_t at = 16 * u + 4 * i + byte; at < line_bytes)
          unit.word[i] |= std::uint32_t{from[at]} << (8 * byte);
    }
    return unit;
  }
};

#endif

}  // namespace engine
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
