// SPDX-License-Identifier: Apache-2.0
// The definition of a ragged dot, element by element in f64, on the operands where they lie. Input
// elements get a value when the definition reads them; all others stay NaN, so that a result which
// depends on one shows. Shares no code with the library: sizes, rounding and addresses are its own.
#pragma once

#include <array>
#include <cmath>

#include "fuzz/built.hpp"

namespace fuzz {

__extension__ using Wide = __int128;

/// Value of the bits of an f32 or bf16.
inline double value_at(const unsigned char* at, rg::DType dtype) {
  std::uint32_t bits = 0;
  if (dtype == rg::DType::bf16) {
    std::uint16_t half;
    std::memcpy(&half, at, 2);
    bits = std::uint32_t{half} << 16;
  } else {
    std::memcpy(&bits, at, 4);
  }
  float value;
  std::memcpy(&value, &bits, 4);
  return static_cast<double>(value);
}

/// Stores a number, to the nearest value of the type, ties to even.
inline void store_at(unsigned char* at, rg::DType dtype, double value) {
  if (dtype == rg::DType::bf16 && std::isfinite(value) && value != 0) {
    int exponent;
    const double mantissa = std::frexp(value, &exponent);  // 8 bits of mantissa
    value = std::ldexp(std::nearbyint(std::ldexp(mantissa, 8)), exponent - 8);
  }
  const float narrow = static_cast<float>(value);
  std::uint32_t bits;
  std::memcpy(&bits, &narrow, 4);
  if (dtype == rg::DType::bf16) {
    const std::uint16_t half = static_cast<std::uint16_t>(bits >> 16);
    std::memcpy(at, &half, 2);
  } else {
    std::memcpy(at, &bits, 4);
  }
}

struct Range {
  offset_t begin;
  offset_t end;
};

using Index = std::array<offset_t, rg::max_rank>;

// The fuzzer looks for new paths in the library, not in its oracle.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#endif

class Oracle {
 public:
  explicit Oracle(Built& built) : b_(built), s_(built.spec), variant_(variant_of_dims()) {}

  /// Fills in the inputs; returns what the bytes of out must be after the call.
  std::vector<unsigned char> expected() {
    const rg::Tensor& out = b_.out.tensor;
    elem_bytes_ = static_cast<offset_t>(rg::bytes_of(out.dtype));
    if (s_.beta != 0 && !s_.has_c) preset_out();
    std::vector<unsigned char> bytes = b_.out.memory.copy();
    offset_t extent[rg::max_rank] = {};  // of the product
    for (index_t d = 0; d < out.rank; ++d) extent[d] = out.extent[d];
    if (s_.scatters) extent[s_.row_dim_of_out()] = s_.row_extent();
    for (index_t d = 0; d < out.rank; ++d)
      if (extent[d] <= 0) return bytes;
    Index at{};
    do {
      element(at, bytes);
    } while (advance(at, out.rank, extent));
    return bytes;
  }

  /// The first fault in the order of the description's rows.
  rg::Fault fault() const {
    rg::Fault found;
    if (s_.kind == GroupKind::none) return found;
    const offset_t count = b_.groups.extent[b_.groups.rank - 1] - (is_offsets() ? 1 : 0);
    const offset_t extent = ragged_extent();
    for (offset_t row = 0; row < s_.group_rows(); ++row) {
      Wide sum = 0;
      for (offset_t g = 0; g < count; ++g) {
        const Wide upper = upper_of(row, g);
        const Wide lower = lower_of(row, g);
        const Wide size = upper > lower ? upper - lower : 0;
        found.group = row * count + g;
        found.value = static_cast<std::int64_t>(upper);
        if (upper < lower) {
          found.code = s_.kind == GroupKind::sizes ? rg::FaultCode::negative_size
                                                   : rg::FaultCode::decreasing_offsets;
          return found;
        }
        if (sum + size > extent) {
          found.code = rg::FaultCode::sum_exceeds_extent;
          const Wide total = sum + size;
          found.value = static_cast<std::int64_t>(
              std::min<Wide>(total, std::numeric_limits<std::int64_t>::max()));
          return found;
        }
        sum += size;
      }
    }
    return {};
  }

 private:
  static std::size_t at_(index_t d) { return static_cast<std::size_t>(d); }
  [[nodiscard]] bool is_offsets() const { return s_.kind == GroupKind::offsets; }
  [[nodiscard]] index_t ragged_dim() const { return b_.dims.lhs_ragged[0]; }
  [[nodiscard]] offset_t ragged_extent() const {
    return s_.gathers ? s_.ragged_extent() : b_.lhs.tensor.extent[ragged_dim()];
  }
  [[nodiscard]] Variant variant() const { return variant_; }
  [[nodiscard]] Variant variant_of_dims() const {  // a defect may have edited them
    const index_t ragged = ragged_dim();
    if (b_.dims.lhs_contracting.holds(ragged)) return Variant::contracting;
    return b_.dims.lhs_batch.holds(ragged) ? Variant::batch : Variant::non_contracting;
  }

  static bool advance(Index& at, index_t rank, const offset_t* extent) {
    for (index_t d = rank - 1; d >= 0; --d) {
      if (++at[at_(d)] < extent[d]) return true;
      at[at_(d)] = 0;
    }
    return false;
  }

  offset_t position(const Operand& operand, const Index& index) const {
    offset_t position = operand.first;
    for (index_t d = 0; d < operand.tensor.rank; ++d)
      position += index[at_(d)] * operand.tensor.stride[d];
    require(position >= 0 && position < operand.elems, "an accepted call leaves its operand");
    return position;
  }

  /// The element at a position; one that nobody has asked for yet gets a small whole number.
  double read(Operand& operand, offset_t position) {
    const int bytes = rg::bytes_of(operand.tensor.dtype);
    unsigned char* const at = operand.memory.data() + position * bytes;
    const double value = value_at(at, operand.tensor.dtype);
    if (!std::isnan(value)) return value;
    const std::uint32_t hash =
        (static_cast<std::uint32_t>(position) * 2654435761U + s_.salt * 40503U + 12345U) >> 13;
    store_at(at, operand.tensor.dtype, static_cast<double>(hash % 7) - 3);
    return value_at(at, operand.tensor.dtype);
  }

  void preset_out() {
    const rg::Tensor& out = b_.out.tensor;
    if (b_.out.is_empty()) return;
    Index at{};
    do {
      read(b_.out, position(b_.out, at));
    } while (advance(at, out.rank, out.extent));
  }

  /// Entry i of a row of the description as the documentation reads it.
  [[nodiscard]] Wide entry(offset_t row, offset_t i) const {
    const offset_t per_row = b_.groups.extent[b_.groups.rank - 1];
    const std::size_t index = static_cast<std::size_t>(row * per_row + i);
    require(index < s_.entries.size(), "an accepted call leaves its groups");
    const std::uint64_t raw = static_cast<std::uint64_t>(s_.entries[index]);
    switch (s_.type) {
      case IndexType::s8: return static_cast<std::int8_t>(raw);
      case IndexType::s16: return static_cast<std::int16_t>(raw);
      case IndexType::s32: return static_cast<std::int32_t>(raw);
      case IndexType::s64: return static_cast<std::int64_t>(raw);
      case IndexType::u8: return static_cast<std::uint8_t>(raw);
      case IndexType::u16: return static_cast<std::uint16_t>(raw);
      case IndexType::u32: return static_cast<std::uint32_t>(raw);
      case IndexType::u64: break;
    }
    return std::min<Wide>(raw, std::numeric_limits<std::int64_t>::max());
  }
  [[nodiscard]] Wide upper_of(offset_t row, offset_t g) const {
    return entry(row, is_offsets() ? g + 1 : g);
  }
  [[nodiscard]] Wide lower_of(offset_t row, offset_t g) const {
    if (is_offsets()) return entry(row, g);
    return s_.kind == GroupKind::end_offsets && g > 0 ? entry(row, g - 1) : 0;
  }

  /// The groups of the prefix index that an lhs index has.
  const std::vector<Range>& ranges(const Index& l) {
    const rg::DimensionNumbers& d = b_.dims;
    const index_t ragged = ragged_dim();
    offset_t row = 0;
    index_t prefix_rank = 0;
    const auto prefix = [&](index_t dim) {
      row = row * b_.lhs.tensor.extent[dim] + l[at_(dim)];
      ++prefix_rank;
    };
    if (variant() == Variant::batch) {
      for (index_t i = 0; d.lhs_batch[i] != ragged; ++i) prefix(d.lhs_batch[i]);
    } else {
      for (index_t i = 0; i < d.lhs_batch.count; ++i) prefix(d.lhs_batch[i]);
      if (variant() == Variant::contracting)
        for (index_t i = 0; d.lhs_contracting[i] != ragged; ++i) prefix(d.lhs_contracting[i]);
      else
        for (index_t i = 0; i < ragged; ++i)
          if (!d.lhs_batch.holds(i) && !d.lhs_contracting.holds(i)) prefix(i);
    }
    if (b_.groups.rank == 1)
      row = 0;
    else
      require(b_.groups.rank == prefix_rank + 1, "accepted groups of the wrong rank");
    if (row == ranges_row_) return ranges_;
    const offset_t count = b_.groups.extent[b_.groups.rank - 1] - (is_offsets() ? 1 : 0);
    ranges_row_ = row;
    ranges_.clear();
    Wide at = 0;
    for (offset_t g = 0; g < count; ++g) {
      const Wide size = std::max<Wide>(upper_of(row, g) - lower_of(row, g), 0);
      const Wide end = std::min<Wide>(at + size, ragged_extent());
      ranges_.push_back({static_cast<offset_t>(at), static_cast<offset_t>(end)});
      at = end;
    }
    return ranges_;
  }

  void element(const Index& out_at, std::vector<unsigned char>& bytes) {
    const rg::DimensionNumbers& d = b_.dims;
    const rg::Tensor& lhs = b_.lhs.tensor;
    const rg::Tensor& rhs = b_.rhs.tensor;
    Index l{};
    Index r{};
    std::size_t next = 0;
    offset_t slab = 0;  // index into group_alpha, and what an epilogue sees
    if (variant() == Variant::contracting) slab = out_at[next++];
    for (index_t i = 0; i < d.lhs_batch.count; ++i) {
      l[at_(d.lhs_batch[i])] = out_at[next];
      r[at_(d.rhs_batch[i])] = out_at[next++];
    }
    for (index_t i = 0; i < lhs.rank; ++i)
      if (!d.lhs_batch.holds(i) && !d.lhs_contracting.holds(i)) l[at_(i)] = out_at[next++];
    for (index_t i = 0; i < rhs.rank; ++i)
      if (!d.rhs_batch.holds(i) && !d.rhs_contracting.holds(i) && !d.rhs_group.holds(i))
        r[at_(i)] = out_at[next++];

    const offset_t shard = std::max<offset_t>(s_.group_offset, 0);
    bool is_tail = false;
    if (variant() == Variant::non_contracting) {
      slab = -1;
      const std::vector<Range>& groups = ranges(l);
      const offset_t row = l[at_(ragged_dim())];
      for (std::size_t g = 0; g < groups.size(); ++g)
        if (row >= groups[g].begin && row < groups[g].end) slab = static_cast<offset_t>(g) - shard;
      is_tail = slab < 0 || slab >= rhs.extent[d.rhs_group[0]];
      if (!is_tail) r[at_(d.rhs_group[0])] = slab;
    } else if (variant() == Variant::batch) {
      slab = l[at_(ragged_dim())];
      if (s_.kind != GroupKind::none && s_.tail != Tail::compute) {
        const std::vector<Range>& groups = ranges(l);
        is_tail = slab >= (groups.empty() ? 0 : groups.back().end);
      }
    }
    if (is_tail && s_.tail == Tail::keep) return;

    Index to = out_at;
    if (s_.scatters) {
      const std::size_t row_dim = s_.row_dim_of_out();
      const std::int32_t target = s_.out_index[static_cast<std::size_t>(to[row_dim])];
      if (target < 0 || target >= s_.out_extent) return;
      to[row_dim] = target;
    }
    double value = 0;
    offset_t terms = 0;
    const double sum = is_tail ? 0 : product(l, r, slab + shard, terms);
    if (terms > 0)  // a sum of nothing is +0.0, whatever the factors are
      value =
          static_cast<double>(static_cast<float>(s_.alpha)) *
          (s_.group_alpha ? static_cast<double>(b_.group_factors[static_cast<std::size_t>(slab)])
                          : 1.0) *
          sum;
    if (s_.beta != 0) {
      const double before =
          s_.has_c ? read(b_.c, position(b_.c, to)) : read(b_.out, position(b_.out, to));
      value += s_.beta * before;
    }
    if (s_.epilogue && !is_tail) value += static_cast<double>(1 + slab);
    store_at(bytes.data() + position(b_.out, to) * elem_bytes_, b_.out.tensor.dtype, value);
  }

  /// Σ lhs·rhs over the contracting dimensions; `group` is used by the contracting variant only.
  double product(Index& l, Index& r, offset_t group, offset_t& terms) {
    const rg::DimensionNumbers& d = b_.dims;
    const index_t count = d.lhs_contracting.count;
    Index at{};
    offset_t extent[rg::max_rank] = {};
    for (index_t i = 0; i < count; ++i) {
      extent[i] = b_.rhs.tensor.extent[d.rhs_contracting[i]];
      if (extent[i] <= 0) return 0;
    }
    double sum = 0;
    const bool contracting = variant() == Variant::contracting;
    do {
      for (index_t i = 0; i < count; ++i) {
        l[at_(d.lhs_contracting[i])] = at[at_(i)];
        r[at_(d.rhs_contracting[i])] = at[at_(i)];
      }
      if (contracting) {
        const offset_t ragged = l[at_(ragged_dim())];
        const Range range = ranges(l)[static_cast<std::size_t>(group)];
        if (ragged < range.begin || ragged >= range.end) continue;
      }
      ++terms;
      const double right = read(b_.rhs, position(b_.rhs, r));
      if (s_.gathers) {
        Index gathered = l;
        offset_t& index = gathered[at_(ragged_dim())];
        index = s_.lhs_index[static_cast<std::size_t>(index)];
        if (index < 0 || index >= b_.lhs.tensor.extent[ragged_dim()]) continue;
        sum += read(b_.lhs, position(b_.lhs, gathered)) * right;
      } else {
        sum += read(b_.lhs, position(b_.lhs, l)) * right;
      }
    } while (advance(at, count, extent));
    return sum;
  }

  Built& b_;
  const Spec& s_;
  Variant variant_;
  offset_t elem_bytes_ = 4;
  offset_t ranges_row_ = -1;  // of ranges_
  std::vector<Range> ranges_;
};

#if defined(__clang__)
#pragma clang attribute pop
#endif

}  // namespace fuzz
