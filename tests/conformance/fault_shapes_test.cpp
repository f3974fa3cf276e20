// SPDX-License-Identifier: Apache-2.0
// Shapes and size vectors that broke other systems of this kind, at the sizes at which they did.
// tests/README.md says which fault each is about.

#include <raggedgemm/raggedgemm.hpp>

#include <cstring>

#include "support/all_dtypes.hpp"
#include "support/conformance.hpp"
#include "support/every_row.hpp"

namespace {

using namespace support;
using rg::offset_t;

Case make(const char* name, const Shape& shape, const Sizes& sizes) {
  Case c;
  c.name = name;
  c.shape = shape;
  c.entries = sizes;
  return c;
}

TEST_CASE("One row through a wide matrix ends, and is right",
          "[conformance][faults][slow][device]") {
  const offset_t k = scaled(1536, 192), n = scaled(24576, 3072);
  const DeviceArray<bf16> lhs(std::vector<bf16>(static_cast<std::size_t>(k), rg::to_bf16(1)));
  const DeviceArray<bf16> rhs(std::vector<bf16>(static_cast<std::size_t>(k * n), rg::to_bf16(2)));
  const DeviceArray<std::int32_t> sizes(std::vector<std::int32_t>{1});
  DeviceArray<bf16> out(static_cast<std::size_t>(n));
  const auto call = rg::describe(rg::view(std::as_const(lhs).data(), 1, k),
                                 rg::view(std::as_const(rhs).data(), 1, k, n),
                                 rg::GroupSizes(sizes.data(), 1),
                                 rg::view(out.data(), 1, n));
  with_every_row(call,
                 {},
                 out,
                 poisoned<bf16>(out.elems()),
                 [&](const std::vector<bf16>& got, const std::string&) {
                   std::size_t wrong = 0;
                   for (const bf16 value : got)
                     if (rg::to_float(value) != static_cast<float>(2 * k)) ++wrong;
                   CHECK(wrong == 0);
                 });
}

TEST_CASE("Batches with room for more rows than a tile would like",
          "[conformance][faults][device]") {
  for (const offset_t m : {1, 8, 16, 32, 48})  // m: below every tile's height
    check_case<bf16, bf16, bf16>(
        make("few rows a batch", {Variant::batch, 4, m, 64, 64}, {1, 0, 2}));
}

TEST_CASE("Groups that end inside a tile use their own matrix", "[conformance][faults][device]") {
  for (const Sizes& sizes :
       {Sizes{1, 127, 130}, Sizes{1, 127, 130, 0, 2}, Sizes{36, 36}, Sizes{16, 1}, Sizes{3, 8}}) {
    offset_t m = 0;
    for (const std::int64_t size : sizes) m += size;
    const offset_t g = static_cast<offset_t>(sizes.size());
    for (const offset_t k : {64, 36})
      for (const offset_t n : {64, 36}) {
        check_case<bf16, bf16, bf16>(
            make("inside a tile", {Variant::non_contracting, g, m, k, n}, sizes));
        check_case<bf16, bf16, float>(
            make("inside a tile", {Variant::contracting, g, m, k, n}, sizes));
      }
  }
}

TEST_CASE("Depths that are not a multiple of a deep tile", "[conformance][faults][device]") {
  for (const offset_t m : {128, 160})
    for (const offset_t k : {768, scaled(4097, 1025)})
      check_case<bf16, bf16, float>(
          make("deep", {Variant::non_contracting, 2, m, k, 33}, {m - 30, 30}));
}

TEST_CASE("Pitches of 65 elements and bases of two bytes", "[conformance][faults][device]") {
  Case c = make("odd pitch", {Variant::non_contracting, 3, 70, 64, 40}, {31, 0, 39});
  c.lhs = {.pitch_pad = 1, .shift_elems = 1};
  c.rhs = {.pitch_pad = 3, .shift_elems = 1};
  check_all_dtypes(c);
}

TEST_CASE("Weight gradients of wide and of narrow outputs", "[conformance][faults][slow][device]") {
  std::vector<offset_t> columns{768};
  if (rg::runtime::has_gpu_platform) columns = {64, 96, 160, 192, 320, 576, 768, 1536};
  if (emulated()) columns = {64, 96, 160, 192, 320, 576};
  const offset_t k = scaled(2048, 136);
  const Sizes sizes{8, 0, 17, 1, 0, 3, 11, 0};
  for (const offset_t n : columns)
    check_case<bf16, bf16, bf16>(
        make("wide or narrow", {Variant::contracting, 8, 40, k, n}, sizes));
}

TEST_CASE("A long reduction into a small output", "[conformance][faults][slow][device]") {
  struct Extents {
    offset_t m, k, n;
  };
  std::vector<Extents> shapes{{2048, 1538, 256}};
  if (rg::runtime::has_gpu_platform) shapes.push_back({147456, 512, 1024});
  if (emulated()) shapes = {{2048, 136, 72}, {4608, 24, 40}};
  for (const Extents& e : shapes) {
    // Ones times ones: every element is the number of rows.
    const auto ones = [](offset_t count) {
      return std::vector<bf16>(static_cast<std::size_t>(count), rg::to_bf16(1));
    };
    const DeviceArray<bf16> lhs(ones(e.m * e.k));
    const DeviceArray<bf16> rhs(ones(e.m * e.n));
    const DeviceArray<std::int32_t> sizes(
        std::vector<std::int32_t>{static_cast<std::int32_t>(e.m)});
    DeviceArray<float> out(static_cast<std::size_t>(e.k * e.n));
    const auto call = rg::describe_contracting(rg::view(std::as_const(lhs).data(), e.m, e.k),
                                               rg::view(std::as_const(rhs).data(), e.m, e.n),
                                               rg::GroupSizes(sizes.data(), 1),
                                               rg::view(out.data(), 1, e.k, e.n));
    INFO("m " << e.m);
    with_every_row(call,
                   {},
                   out,
                   poisoned<float>(out.elems()),
                   [&](const std::vector<float>& got, const std::string&) {
                     std::size_t wrong = 0;
                     for (const float value : got)
                       if (value != static_cast<float>(e.m)) ++wrong;
                     CHECK(wrong == 0);
                   });
  }
}

TEST_CASE("Offsets given as sizes are cut at the extent", "[conformance][faults][device]") {
  Sizes offsets;
  for (std::int64_t i = 1; i <= 16; ++i) offsets.push_back(64 * i);
  check_case<bf16, bf16, bf16>(
      make("offsets as sizes", {Variant::non_contracting, 16, 1024, 16, 16}, offsets));
  check_case<bf16, bf16, float>(
      make("offsets as sizes", {Variant::contracting, 16, 1024, 16, 16}, offsets));
}

TEST_CASE("Ten thousand size vectors, one after the other", "[conformance][faults][slow][device]") {
  // Ones times (group + 1): an element says which group's matrix its row met.
  constexpr offset_t m = 300, k = 16, n = 16, g = 24;
  std::vector<bf16> weights;
  for (int group = 0; group < g; ++group)
    weights.insert(weights.end(), k * n, rg::to_bf16(static_cast<float>(group + 1)));
  const DeviceArray<bf16> lhs(std::vector<bf16>(m * k, rg::to_bf16(1)));
  const DeviceArray<bf16> rhs(weights);
  const DeviceArray<bf16> rows(std::vector<bf16>(m * n, rg::to_bf16(1)));
  DeviceArray<std::int64_t> sizes(static_cast<std::size_t>(g));
  DeviceArray<float> out(m * n);
  DeviceArray<float> slabs(g * k * n);
  const rg::GroupSizes groups(sizes.data(), g);
  const auto forward = rg::describe(rg::view(std::as_const(lhs).data(), m, k),
                                    rg::view(std::as_const(rhs).data(), g, k, n),
                                    groups,
                                    rg::view(out.data(), m, n));
  const auto weight = rg::describe_contracting(rg::view(std::as_const(lhs).data(), m, k),
                                               rg::view(std::as_const(rows).data(), m, n),
                                               groups,
                                               rg::view(slabs.data(), g, k, n));
  Random random(20261130);
  for (int draw = 0; draw < scaled(10000, 60); ++draw) {
    const Sizes entries = random_sizes(random, g, m);
    sizes.set(entries);
    REQUIRE(rg::run(forward).ok());
    REQUIRE(rg::run(weight).ok());
    REQUIRE(runtime::synchronize().ok());
    const std::vector<Range> ranges = ranges_of(entries, GroupKind::sizes, m);
    const std::vector<float> got = out.get();
    std::size_t wrong = 0;
    for (std::size_t i = static_cast<std::size_t>(covered(ranges) * n); i < got.size(); ++i)
      if (!same_bits(got[i], 0.0F)) ++wrong;
    const std::vector<float> sums = slabs.get();
    for (std::size_t group = 0; group < ranges.size(); ++group) {
      const Range& range = ranges[group];
      for (offset_t i = range.begin * n; i < range.end * n; ++i)
        if (got[static_cast<std::size_t>(i)] !=
            static_cast<float>(k * (static_cast<offset_t>(group) + 1)))
          ++wrong;
      for (std::size_t i = 0; i < k * n; ++i)
        if (!same_bits(sums[group * k * n + i], static_cast<float>(range.end - range.begin)))
          ++wrong;
    }
    INFO("draw " << draw << " of seed 20261130: " << text_of(entries));
    REQUIRE(wrong == 0);
  }
  CHECK(out.guards_intact());
  CHECK(slabs.guards_intact());
}

TEST_CASE("Thousands of calls give one bit pattern", "[conformance][faults][slow][device]") {
  // Random and alternating tiny and large groups, real numbers; any race between tiles shows.
  const int repeats = scaled(rg::runtime::has_gpu_platform ? 2000 : 30, 3);
  const int large = scaled(700, 100);
  Random random(34);
  Sizes many;
  for (int i = 0; i < 64; ++i) many.push_back(random.between(1, scaled(300, 60)));
  Sizes alternating;
  for (int i = 0; i < 32; ++i) alternating.push_back(i % 3 == 1 ? large + i : 1);
  for (const Sizes& sizes : {many, alternating}) {
    const offset_t g = static_cast<offset_t>(sizes.size());
    offset_t m = 0;
    for (const std::int64_t size : sizes) m += size;
    constexpr offset_t k = 64, n = 256;
    const auto reals = [&random](offset_t count) {
      std::vector<bf16> values(static_cast<std::size_t>(count));
      for (bf16& value : values) value = rg::to_bf16(static_cast<float>(random.real()));
      return values;
    };
    const DeviceArray<bf16> lhs(reals(m * k));
    const DeviceArray<bf16> rhs(reals(g * k * n));
    const DeviceArray<std::int64_t> entries(sizes);
    DeviceArray<bf16> out(static_cast<std::size_t>(m * n));
    DeviceArray<bf16> slabs(static_cast<std::size_t>(g * k * k));
    const rg::GroupSizes groups(entries.data(), g);
    std::vector<bf16> first;
    std::vector<bf16> first_slabs;
    int differing = 0;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      REQUIRE(rg::ragged_dot(rg::view(std::as_const(lhs).data(), m, k),
                             rg::view(std::as_const(rhs).data(), g, k, n),
                             groups,
                             rg::view(out.data(), m, n))
                  .ok());
      REQUIRE(rg::ragged_dot_contracting(rg::view(std::as_const(lhs).data(), m, k),
                                         rg::view(std::as_const(lhs).data(), m, k),
                                         groups,
                                         rg::view(slabs.data(), g, k, k))
                  .ok());
      REQUIRE(runtime::synchronize().ok());
      const std::vector<bf16> got = out.get();
      const std::vector<bf16> got_slabs = slabs.get();
      if (repeat == 0) {
        first = got;
        first_slabs = got_slabs;
      }
      const auto same = [](const std::vector<bf16>& a, const std::vector<bf16>& b) {
        return std::memcmp(a.data(), b.data(), a.size() * sizeof(bf16)) == 0;
      };
      if (!same(got, first) || !same(got_slabs, first_slabs)) ++differing;
    }
    CHECK(differing == 0);
  }
}

}  // namespace
