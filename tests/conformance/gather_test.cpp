// SPDX-License-Identifier: Apache-2.0
// Gathered lhs in every kernel of the program that gathers, at every alignment: 16-bit operands of
// whole numbers in memory that is NaN elsewhere, so that results are compared exactly. A workspace
// is lent where a kernel wants a gathered copy.

#include <raggedgemm/raggedgemm.hpp>

#include "support/every_row.hpp"
#include "support/random.hpp"

namespace {

using namespace support;
namespace rg = raggedgemm;
using rg::bf16;

constexpr int to_next_16_bytes = -1;  // a padding

/// `lines` lines of `elems` whole numbers at a pitch and a shift from an aligned address.
struct Lines {
  int lines;
  int elems;
  int pitch;
  std::vector<float> value;
  DeviceArray<bf16> memory;

  Lines(int line_count, int elem_count, int pad, int shift, std::uint64_t seed)
      : lines(line_count),
        elems(elem_count),
        pitch(pad == to_next_16_bytes ? (elem_count + 7) / 8 * 8 : elem_count + pad),
        value(static_cast<std::size_t>(line_count * elem_count)),
        memory(static_cast<std::size_t>((line_count - 1) * pitch + elem_count),
               static_cast<std::size_t>(shift)) {
    Random random(seed);
    std::vector<bf16> placed(memory.elems(), poison<bf16>());
    for (int i = 0; i < lines * elems; ++i) {
      const float number = static_cast<float>(random.between(-3, 3));
      value[static_cast<std::size_t>(i)] = number;
      placed[static_cast<std::size_t>(i / elems * pitch + i % elems)] = rg::to_bf16(number);
    }
    memory.set(placed);
  }
  [[nodiscard]] const bf16* data() const { return memory.data(); }
  [[nodiscard]] float at(int line, int elem) const {
    return value[static_cast<std::size_t>(line * elems + elem)];
  }
};

/// Slabs of k x n elements; where transposed, of n lines along the depth.
rg::View<const bf16, 3> weights(const Lines& lines, int slabs, int k, int n, bool transposed) {
  const rg::offset_t slab = rg::offset_t{lines.pitch} * (transposed ? n : k);
  return {lines.data(),
          {slabs, k, n},
          {slab, transposed ? 1 : lines.pitch, transposed ? lines.pitch : 1}};
}

/// How the operands lie: elements that their pitches are longer, and that they are off alignment.
struct Alignment {
  const char* name;
  int lhs_pad, rhs_pad, lhs_shift, rhs_shift;
};

/// For depths and columns that are multiples of 8, and others.
constexpr Alignment alignments[] = {{"as dense as can be", 0, 0, 0, 0},
                                    {"16 bytes", to_next_16_bytes, to_next_16_bytes, 0, 0},
                                    {"odd pitches", 1, 3, 0, 0},
                                    {"pitches of 4 bytes", 2, 6, 0, 0},
                                    {"lhs odd", 5, 8, 1, 0},
                                    {"rhs odd", 8, 7, 0, 3},
                                    {"pointers off by 2 bytes", 0, 0, 1, 1},
                                    {"pointers off by 8 bytes", 8, 8, 4, 4}};

/// Entries inside, outside and repeated.
std::vector<std::int32_t> hostile_index(int entries, int extent) {
  Random random(17);
  std::vector<std::int32_t> index(static_cast<std::size_t>(entries));
  for (std::int32_t& i : index) i = static_cast<std::int32_t>(random.between(0, extent - 1));
  for (std::size_t i = 0; i < index.size(); i += 7) index[i] = i % 2 == 0 ? -1 : extent;
  if (index.size() > 5) index[5] = 2147483647;
  if (index.size() > 6) index[6] = -2147483647 - 1;
  return index;
}

/// Whether out is what `expected(i)` says for every element i.
template <class F>
void check_all(const std::vector<float>& got, const std::string& row, const F& expected) {
  INFO(row);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float want = expected(static_cast<int>(i));
    if (!(got[i] == want)) {
      FAIL_CHECK("element " << i << " is " << got[i] << ", not " << want);
      return;
    }
  }
}

TEST_CASE("ragged_dot gathers rows of lhs alike in every kernel and at every alignment",
          "[conformance][gather][device]") {
  constexpr int m = 203;
  constexpr int stored = 90;  // rows of lhs
  const std::vector<std::int32_t> sizes_host{3, 0, 130, 70};
  const DeviceArray<std::int32_t> sizes(sizes_host);
  const std::vector<std::int32_t> index = hostile_index(m, stored);
  const DeviceArray<std::int32_t> lhs_index(index);
  const rg::Options options{.lhs_index = lhs_index.data(), .workspace_bytes = INT64_MAX};
  for (const bool transposed : {false, true})
    for (const int k : {72, 41})
      for (const Alignment& a : alignments) {
        const int n = k == 72 ? 136 : 133;
        INFO(a.name << ", k " << k << (transposed ? ", nt" : ", nn"));
        const Lines lhs(stored, k, a.lhs_pad, a.lhs_shift, 1);
        const Lines rhs(4 * (transposed ? n : k), transposed ? k : n, a.rhs_pad, a.rhs_shift, 2);
        DeviceArray<float> out(static_cast<std::size_t>(m * n));
        const auto call =
            rg::describe(rg::View<const bf16, 2>(lhs.data(), {stored, k}, {lhs.pitch, 1}),
                         weights(rhs, 4, k, n, transposed),
                         rg::GroupSizes(sizes.data(), 4),
                         rg::view(out.data(), m, n),
                         options);
        const auto expected = [&](int i) {
          const int row = i / n;
          const int from = index[static_cast<std::size_t>(row)];
          if (from < 0 || from >= stored) return 0.0F;
          const int group = row < 3 ? 0 : row < 133 ? 2 : 3;
          float sum = 0;
          for (int d = 0; d < k; ++d)
            sum += lhs.at(from, d) *
                   (transposed ? rhs.at(group * n + i % n, d) : rhs.at(group * k + d, i % n));
          return sum;
        };
        with_every_row(call,
                       options,
                       out,
                       poisoned<float>(out.elems()),
                       [&](const auto& got, const auto& row) { check_all(got, row, expected); });
      }
}

TEST_CASE("ragged_dot_contracting gathers its depth alike in every kernel and at every alignment",
          "[conformance][gather][device]") {
  constexpr int m = 203;  // the depth
  constexpr int stored = 90;
  const std::vector<std::int32_t> sizes_host{3, 0, 130, 70};
  const DeviceArray<std::int32_t> sizes(sizes_host);
  const std::vector<std::int32_t> index = hostile_index(m, stored);
  const DeviceArray<std::int32_t> lhs_index(index);
  const rg::Options options{.lhs_index = lhs_index.data(), .workspace_bytes = INT64_MAX};
  for (const int k : {72, 41})
    for (const Alignment& a : alignments) {
      const int n = k == 72 ? 136 : 133;
      INFO(a.name << ", k " << k);
      const Lines lhs(stored, k, a.lhs_pad, a.lhs_shift, 3);
      const Lines rhs(m, n, a.rhs_pad, a.rhs_shift, 4);
      DeviceArray<float> out(static_cast<std::size_t>(4 * k * n));
      const auto call =
          rg::describe_contracting(rg::View<const bf16, 2>(lhs.data(), {stored, k}, {lhs.pitch, 1}),
                                   rg::View<const bf16, 2>(rhs.data(), {m, n}, {rhs.pitch, 1}),
                                   rg::GroupSizes(sizes.data(), 4),
                                   rg::view(out.data(), 4, k, n),
                                   options);
      const auto expected = [&](int i) {
        constexpr int begin[] = {0, 3, 3, 133, 203};
        const int group = i / (k * n);
        float sum = 0;
        for (int d = begin[group]; d < begin[group + 1]; ++d) {
          const int from = index[static_cast<std::size_t>(d)];
          if (from >= 0 && from < stored) sum += lhs.at(from, i / n % k) * rhs.at(d, i % n);
        }
        return sum;
      };
      with_every_row(
          call, options, out, poisoned<float>(out.elems()), [&](const auto& got, const auto& row) {
            check_all(got, row, expected);
          });
    }
}

TEST_CASE("ragged_dot_batch gathers batches of lhs alike in every kernel and at every alignment",
          "[conformance][gather][device]") {
  constexpr int batches = 9;
  constexpr int stored = 3;
  constexpr int m = 37;
  const std::vector<std::int32_t> index = hostile_index(batches, stored);
  const DeviceArray<std::int32_t> lhs_index(index);
  const rg::Options options{.lhs_index = lhs_index.data(), .workspace_bytes = INT64_MAX};
  for (const bool transposed : {false, true})
    for (const int k : {72, 41})
      for (const Alignment& a : alignments) {
        const int n = k == 72 ? 136 : 133;
        INFO(a.name << ", k " << k << (transposed ? ", nt" : ", nn"));
        const Lines lhs(stored * m, k, a.lhs_pad, a.lhs_shift, 5);
        const Lines rhs(
            batches * (transposed ? n : k), transposed ? k : n, a.rhs_pad, a.rhs_shift, 6);
        DeviceArray<float> out(static_cast<std::size_t>(batches * m * n));
        const auto call = rg::describe_batch(
            rg::View<const bf16, 3>(lhs.data(), {stored, m, k}, {m * lhs.pitch, lhs.pitch, 1}),
            weights(rhs, batches, k, n, transposed),
            rg::Groups{},
            rg::view(out.data(), batches, m, n),
            options);
        const auto expected = [&](int i) {
          const int batch = i / (m * n);
          const int from = index[static_cast<std::size_t>(batch)];
          if (from < 0 || from >= stored) return 0.0F;
          float sum = 0;
          for (int d = 0; d < k; ++d)
            sum += lhs.at(from * m + i / n % m, d) *
                   (transposed ? rhs.at(batch * n + i % n, d) : rhs.at(batch * k + d, i % n));
          return sum;
        };
        with_every_row(call,
                       options,
                       out,
                       poisoned<float>(out.elems()),
                       [&](const auto& got, const auto& row) { check_all(got, row, expected); });
      }
}

}  // namespace
