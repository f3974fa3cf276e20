// SPDX-License-Identifier: Apache-2.0
// Groups: every kind and integer type is read right and clamped, whatever the memory holds.

#include "raggedgemm/problem/group_sizes.hpp"

#include <vector>

#include "support/catch.hpp"
#include "support/sizes.hpp"

namespace {

using namespace raggedgemm;
using support::int64_max;
using support::int64_min;

template <class Int>
void check_type(IndexType type) {
  const std::vector<Int> sizes{
      3, 0, std::numeric_limits<Int>::max(), std::numeric_limits<Int>::min()};
  const GroupSizes groups(sizes.data(), 4);
  CHECK(groups.type == type);
  CHECK(groups.kind == GroupKind::sizes);
  CHECK(groups.size(0, 100) == 3);
  CHECK(groups.size(1, 100) == 0);
  CHECK(groups.size(2, 100) == 100);
  CHECK(groups.size(3, 100) == 0);  // the least value of a signed type, or 0
  // int64, not Int, is what sizes are compared in.
  const std::uint64_t largest = static_cast<std::uint64_t>(std::numeric_limits<Int>::max());
  const offset_t needed =
      largest > static_cast<std::uint64_t>(int64_max) ? int64_max : static_cast<offset_t>(largest);
  CHECK(groups.size(2, int64_max) == needed);
}

TEST_CASE("Groups reads sizes of every integer type", "[problem][host]") {
  check_type<std::int8_t>(IndexType::s8);
  check_type<std::int16_t>(IndexType::s16);
  check_type<std::int32_t>(IndexType::s32);
  check_type<std::int64_t>(IndexType::s64);
  check_type<std::uint8_t>(IndexType::u8);
  check_type<std::uint16_t>(IndexType::u16);
  check_type<std::uint32_t>(IndexType::u32);
  check_type<std::uint64_t>(IndexType::u64);
  // Types that are 64 bits under another name.
  check_type<long>(IndexType::s64);
  check_type<unsigned long long>(IndexType::u64);
}

TEST_CASE("Sizes, end offsets and prefix offsets of the same groups agree", "[problem][host]") {
  const std::vector<std::int32_t> sizes{3, 0, 5, 1};
  const std::vector<std::int32_t> ends{3, 3, 8, 9};
  const std::vector<std::int32_t> offsets{0, 3, 3, 8, 9};
  const GroupSizes by_size(sizes.data(), 4);
  const GroupEndOffsets by_end(ends.data(), 4);
  const GroupOffsets by_offset(offsets.data(), 4);
  CHECK(by_end.kind == GroupKind::end_offsets);
  CHECK(by_offset.kind == GroupKind::offsets);
  CHECK(by_offset.count == 4);
  for (offset_t g = 0; g < 4; ++g) {
    CHECK(by_size.size(g, 100) == sizes[static_cast<std::size_t>(g)]);
    CHECK(by_end.size(g, 100) == by_size.size(g, 100));
    CHECK(by_offset.size(g, 100) == by_size.size(g, 100));
  }
}

TEST_CASE("Offsets that decrease, or whose difference overflows, stay in [0, limit]",
          "[problem][host]") {
  const std::int64_t hostile[] = {0, 1, -1, 5, 50, int64_max, int64_min, int64_max - 1, -7};
  for (const std::int64_t first : hostile)
    for (const std::int64_t second : hostile) {
      const std::vector<std::int64_t> entries{first, second};
      const GroupEndOffsets by_end(entries.data(), 2);
      const GroupOffsets by_offset(entries.data(), 1);
      for (const offset_t limit : {offset_t{0}, offset_t{10}, offset_t{1} << 40}) {
        const offset_t size = by_end.size(1, limit);
        CHECK(size == by_offset.size(0, limit));
        __extension__ using Wide = __int128;
        const Wide difference = Wide{second} - first;
        CHECK(size == static_cast<offset_t>(std::min<Wide>(std::max<Wide>(difference, 0), limit)));
        CHECK(by_end.size(0, limit) == std::min(std::max<offset_t>(first, 0), limit));
      }
    }
}

TEST_CASE("Groups{} holds no groups and reads no memory", "[problem][host]") {
  const Groups none;
  CHECK(none.kind == GroupKind::none);
  CHECK(none.count == 0);
  CHECK(none.size(0, 17) == 17);
}

}  // namespace
