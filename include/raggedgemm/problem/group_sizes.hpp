// SPDX-License-Identifier: Apache-2.0
// How the ragged dimension is cut into groups: sizes, end offsets or prefix offsets, of any integer
// type, in memory of the device that runs the call. The host never reads them.
#pragma once

#include <cstdint>
#include <type_traits>

#include "raggedgemm/base/index.hpp"

namespace raggedgemm {

enum class IndexType : std::int32_t { s8, s16, s32, s64, u8, u16, u32, u64 };

RG_HOST_DEVICE constexpr std::int32_t bytes_of(IndexType type) noexcept {
  switch (type) {
    case IndexType::s8:
    case IndexType::u8: return 1;
    case IndexType::s16:
    case IndexType::u16: return 2;
    case IndexType::s32:
    case IndexType::u32: return 4;
    case IndexType::s64:
    case IndexType::u64: return 8;
  }
  return 1;
}

enum class GroupKind : std::int32_t {
  none,         ///< no groups given (batch: every batch is live)
  sizes,        ///< size of each group, [G]
  end_offsets,  ///< inclusive prefix sums, [G] (what torch calls offs)
  offsets,      ///< prefix sums with the leading zero, [G + 1]
};

template <class Int>
constexpr IndexType index_type_of() noexcept {
  static_assert(std::is_integral_v<Int> && !std::is_same_v<Int, bool>,
                "group sizes must be integers of 8 to 64 bits; got another element type");
  constexpr bool is_signed = std::is_signed_v<Int>;
  switch (sizeof(Int)) {
    case 1: return is_signed ? IndexType::s8 : IndexType::u8;
    case 2: return is_signed ? IndexType::s16 : IndexType::u16;
    case 4: return is_signed ? IndexType::s32 : IndexType::u32;
    default: return is_signed ? IndexType::s64 : IndexType::u64;
  }
}

/// What a kernel sees of the groups: a pointer and how to read it. `size(g)` never reads outside
/// the array and never returns less than 0 or more than `limit`, whatever the memory holds.
struct Groups {
  const void* data = nullptr;
  offset_t count = 0;  ///< G
  GroupKind kind = GroupKind::none;
  IndexType type = IndexType::s32;
  offset_t first_entry = 0;  ///< where this row of a higher-rank description starts

  /// The entries that bound a group: its size is upper - lower.
  struct Bounds {
    offset_t lower = 0;
    offset_t upper = 0;
  };

  /// Entry i as int64; a u64 past int64's range saturates.
  [[nodiscard]] RG_HOST_DEVICE offset_t entry(offset_t i) const {
    i += first_entry;
    // By width, then extended: kernels read sizes in several places, and a case for each type made
    // the loads a good part of their code.
    const std::int32_t bytes = bytes_of(type);
    std::uint64_t bits = 0;
    switch (bytes) {
      case 1: bits = static_cast<const std::uint8_t*>(data)[i]; break;
      case 2: bits = static_cast<const std::uint16_t*>(data)[i]; break;
      case 4: bits = static_cast<const std::uint32_t*>(data)[i]; break;
      default: bits = static_cast<const std::uint64_t*>(data)[i]; break;
    }
    if (type <= IndexType::s64) {
      const std::int32_t unused = 64 - 8 * bytes;
      return static_cast<offset_t>(bits << unused) >> unused;
    }
    return bits >> 63 != 0 ? offset_t{0x7fffffffffffffff} : static_cast<offset_t>(bits);
  }

  /// Where entry i lies.
  [[nodiscard]] RG_HOST_DEVICE const void* address(offset_t i) const {
    return static_cast<const char*>(data) + (i + first_entry) * bytes_of(type);
  }

  [[nodiscard]] RG_HOST_DEVICE Bounds bounds(offset_t g) const {
    Bounds bounds;
    bounds.upper = entry(kind == GroupKind::offsets ? g + 1 : g);
    const offset_t below = kind == GroupKind::offsets ? g : g - 1;
    if (kind != GroupKind::sizes && below >= 0) bounds.lower = entry(below);
    return bounds;
  }

  /// Size of a group with these bounds, clamped to [0, limit]. Offsets that decrease make an empty
  /// group.
  [[nodiscard]] static RG_HOST_DEVICE offset_t size_between(const Bounds& bounds, offset_t limit) {
    if (bounds.upper <= bounds.lower) return 0;
    // upper > lower, so the difference fits 64 unsigned bits even where it overflows int64.
    const std::uint64_t difference =
        static_cast<std::uint64_t>(bounds.upper) - static_cast<std::uint64_t>(bounds.lower);
    return difference > static_cast<std::uint64_t>(limit) ? limit
                                                          : static_cast<offset_t>(difference);
  }

  /// Size of group g, clamped to [0, limit].
  [[nodiscard]] RG_HOST_DEVICE offset_t size(offset_t g, offset_t limit) const {
    return kind == GroupKind::none ? limit : size_between(bounds(g), limit);
  }
};

/// Size of each group: `GroupSizes(sizes, g)`. Shape [G], any integer type, device memory.
struct GroupSizes : Groups {
  template <class Int>
  constexpr GroupSizes(const Int* sizes, offset_t group_count) noexcept
      : Groups{sizes, group_count, GroupKind::sizes, index_type_of<Int>()} {}
};

/// End offset of each group: entry g is the sum of sizes 0 … g. Shape [G].
struct GroupEndOffsets : Groups {
  template <class Int>
  constexpr GroupEndOffsets(const Int* end_offsets, offset_t group_count) noexcept
      : Groups{end_offsets, group_count, GroupKind::end_offsets, index_type_of<Int>()} {}
};

/// Prefix offsets: entry g is where group g starts, entry G the sum of all. Shape [G + 1].
struct GroupOffsets : Groups {
  template <class Int>
  constexpr GroupOffsets(const Int* offsets, offset_t group_count) noexcept
      : Groups{offsets, group_count, GroupKind::offsets, index_type_of<Int>()} {}
};

}  // namespace raggedgemm
