// SPDX-License-Identifier: Apache-2.0
// Built: a Spec as the library takes it: tensors in guarded memory, dimension numbers, groups and
// options; and whether the call must run or must be refused.
#pragma once

#include <cstring>
#include <memory>

#include "fuzz/spec.hpp"
#include "raggedgemm/dispatch/config_table.hpp"
#include "raggedgemm/problem/options.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define FUZZ_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define FUZZ_ASAN 1
#endif
#endif
#if defined(FUZZ_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace fuzz {

/// Bytes with guards on both sides, all 0xFF: a NaN of every float type. Under AddressSanitizer the
/// guards may not be touched at all.
class Memory {
 public:
  void allocate(std::size_t bytes, std::size_t shift_bytes) {
    front_ = guard_bytes + shift_bytes;
    bytes_ = bytes;
    total_ = front_ + bytes_ + guard_bytes;
    block_.reset(static_cast<unsigned char*>(std::aligned_alloc(64, (total_ + 63) / 64 * 64)));
    require(block_ != nullptr, "out of memory");
    std::memset(block_.get(), 0xFF, total_);
#if defined(FUZZ_ASAN)
    ASAN_POISON_MEMORY_REGION(block_.get(), front_);
    ASAN_POISON_MEMORY_REGION(block_.get() + front_ + bytes_, total_ - front_ - bytes_);
#endif
  }
  [[nodiscard]] unsigned char* data() const { return block_.get() + front_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::vector<unsigned char> copy() const { return {data(), data() + bytes_}; }

  void check_guards(const char* name) const {
#if defined(FUZZ_ASAN)
    ASAN_UNPOISON_MEMORY_REGION(block_.get(), total_);
#endif
    for (std::size_t i = 0; i < total_; ++i)
      if ((i < front_ || i >= front_ + bytes_) && block_.get()[i] != 0xFF)
        fail(std::string("wrote outside ") + name);
  }

 private:
  struct Free {
    void operator()(unsigned char* p) const { std::free(p); }
  };
  static constexpr std::size_t guard_bytes = 128;
  std::unique_ptr<unsigned char, Free> block_;
  std::size_t front_ = 0;
  std::size_t bytes_ = 0;
  std::size_t total_ = 0;
};

/// An operand: extents, strides and memory.
struct Operand {
  rg::Tensor tensor;
  offset_t first = 0;  ///< position of element (0, …, 0)
  offset_t elems = 0;  ///< of memory
  Memory memory;

  [[nodiscard]] bool is_empty() const {
    for (index_t d = 0; d < tensor.rank; ++d)
      if (tensor.extent[d] <= 0) return true;
    return false;
  }

  void append(offset_t extent) { tensor.extent[tensor.rank++] = extent; }

  void arrange(const Layout& layout) {
    std::vector<index_t> left;
    for (index_t d = tensor.rank - 1; d >= 0; --d) left.push_back(d);
    std::uint32_t order = layout.order;
    offset_t step = layout.unit;
    first = 0;
    elems = is_empty() ? 0 : 1;
    while (!left.empty()) {
      const std::size_t at = order % left.size();
      order /= static_cast<std::uint32_t>(left.size());
      const index_t d = left[at];
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(at));
      const auto has = [d](std::uint32_t bits) { return (bits >> d & 1) != 0; };
      if (has(layout.shared)) continue;  // stride 0
      tensor.stride[d] = has(layout.reversed) ? -step : step;
      const offset_t span = (std::max<offset_t>(tensor.extent[d], 1) - 1) * step;
      if (elems > 0) {
        elems += span;
        if (has(layout.reversed)) first += span;
      }
      step = span + step + (has(layout.padded) ? layout.pad : 0);
    }
  }

  void allocate(rg::DType dtype, int shift) {
    tensor.dtype = dtype;
    const std::size_t elem_bytes = static_cast<std::size_t>(rg::bytes_of(dtype));
    constexpr offset_t most = offset_t{1} << 22;  // more: a defect that must be refused unread
    memory.allocate(static_cast<std::size_t>(elems <= most ? elems : 0) * elem_bytes,
                    static_cast<std::size_t>(shift) * elem_bytes);
    tensor.data = memory.data() + static_cast<std::size_t>(elems <= most ? first : 0) * elem_bytes;
  }
};

enum class Expect { run, refuse, either };

struct Built {
  Spec spec;
  Operand lhs, rhs, out, c;
  Memory entries, lhs_index, out_index, group_alpha, fault;
  std::vector<float> group_factors;
  rg::DimensionNumbers dims;
  rg::GroupTensor groups;
  rg::Options options;
  Expect expect = Expect::run;
};

template <class T>
void allocate_copy(Memory& memory, const std::vector<T>& values) {
  memory.allocate(values.size() * sizeof(T), 0);
  if (!values.empty()) std::memcpy(memory.data(), values.data(), memory.bytes());
}

/// The entries as bytes of their index type.
inline std::vector<unsigned char> stored(const std::vector<std::int64_t>& entries, IndexType type) {
  const int bytes_of_type[] = {1, 2, 4, 8, 1, 2, 4, 8};
  const int bytes = bytes_of_type[static_cast<int>(type)];
  std::vector<unsigned char> result;
  for (const std::int64_t entry : entries)
    for (int i = 0; i < bytes; ++i)  // little endian
      result.push_back(static_cast<unsigned char>(static_cast<std::uint64_t>(entry) >> (8 * i)));
  return result;
}

inline index_t host_config_row() {
  for (index_t row = 0; row < rg::config_rows; ++row)
    if (rg::config_row(row).arch == rg::Arch::host) return row;
  return -1;
}

/// Edits one entry of the dimension numbers.
inline void edit_dims(rg::DimensionNumbers& dims, std::int64_t how) {
  std::uint64_t code = static_cast<std::uint64_t>(how);
  const auto next = [&code](std::uint64_t n) {
    const std::uint64_t digit = code % n;
    code /= n;
    return static_cast<index_t>(digit);
  };
  rg::DimList* const lists[] = {&dims.lhs_contracting,
                                &dims.rhs_contracting,
                                &dims.lhs_batch,
                                &dims.rhs_batch,
                                &dims.lhs_ragged,
                                &dims.rhs_group};
  rg::DimList& list = *lists[next(6)];
  switch (next(4)) {
    case 0: list.count = next(11) - 1; break;
    case 1: std::swap(list.dim[next(3)], list.dim[next(3)]); break;
    default: list.dim[next(3)] = next(11) - 1; break;
  }
}

/// Builds in place: operands own their memory.
inline void build(const Spec& given, Built& b) {
  b.spec = given;
  Spec& s = b.spec;
  bool effective = false;  // the defect exists in this call
  bool either = false;     // it may be overlooked, where the output has no elements
  const auto a_semantic_extent = [&]() -> offset_t& {
    std::vector<offset_t*> all;
    for (Extents* extents : {&s.batch, &s.contract, &s.lhs_free, &s.rhs_free})
      for (offset_t& e : *extents) all.push_back(&e);
    return *all[static_cast<std::uint64_t>(s.defect_value) % all.size()];
  };
  if (s.defect == Defect::negative_extent) {
    if (s.gathers && s.scatters) s.scatters = false;  // else the extent may be in no operand
    a_semantic_extent() = -1;
    normalise(s);
    effective = true;
  } else if (s.defect == Defect::huge_extent && !s.general) {
    s.gathers = s.scatters = false;
    a_semantic_extent() = offset_t{1} << 41;
    normalise(s);
    effective = true;
  } else if (s.defect == Defect::dims && s.general) {
    s.gathers = s.scatters = false;  // the edited call has other dimensions
    normalise(s);
  }
  const bool batch = s.variant == Variant::batch;
  const bool contracting = s.variant == Variant::contracting;

  // lhs and rhs, with their dimension numbers.
  const auto place = [&](const std::vector<Place>& places, Operand& operand, bool is_lhs) {
    rg::DimList& batch_list = is_lhs ? b.dims.lhs_batch : b.dims.rhs_batch;
    rg::DimList& contract_list = is_lhs ? b.dims.lhs_contracting : b.dims.rhs_contracting;
    batch_list.count = static_cast<index_t>(s.batch.size());
    contract_list.count = static_cast<index_t>(s.contract.size());
    for (const Place& p : places) {
      const index_t dim = operand.tensor.rank;
      const bool ragged_kind = p.kind == (batch         ? 'b'
                                          : contracting ? 'c'
                                                        : 'f') &&
                               p.index == s.ragged_at;
      offset_t extent = 0;
      if (p.kind == 'b') {
        extent = s.batch[p.index];
        batch_list.dim[p.index] = dim;
      } else if (p.kind == 'c') {
        extent = s.contract[p.index];
        contract_list.dim[p.index] = dim;
        const bool rhs_decides =  // the product's extent
            contracting && s.gathers && !s.tells_extent && p.index == s.ragged_at;
        if (!is_lhs && p.index == 0 && s.defect == Defect::rhs_extent && !rhs_decides) {
          ++extent;
          effective = true;
        }
      } else if (p.kind == 'g') {
        extent = s.slabs;
        b.dims.rhs_group = {dim};
      } else {
        extent = (is_lhs ? s.lhs_free : s.rhs_free)[p.index];
      }
      if (is_lhs && ragged_kind) {
        b.dims.lhs_ragged = {dim};
        if (s.gathers) extent = s.lhs_extent;
      }
      operand.append(extent);
    }
  };
  place(s.lhs_places, b.lhs, true);
  place(s.rhs_places, b.rhs, false);
  if (contracting) b.out.append(s.slabs);
  for (const Extents* extents : {&s.batch, &s.lhs_free, &s.rhs_free})
    for (const offset_t e : *extents) b.out.append(e);
  rg::Tensor& out = b.out.tensor;
  const bool no_rows = s.scatters && s.row_extent() <= 0;
  if (s.scatters) out.extent[s.row_dim_of_out()] = s.out_extent;
  const bool out_empty = b.out.is_empty();
  // A scatter leaves out's rows free; a gathered product has those that out has.
  const bool out_decides =
      s.scatters || (s.variant == Variant::non_contracting && s.gathers && !s.tells_extent);
  const bool last_is_free =
      out_decides && static_cast<std::size_t>(out.rank) == s.row_dim_of_out() + 1;
  if (s.defect == Defect::out_extent && !last_is_free) {
    ++out.extent[out.rank - 1];
    effective = true;
    either = contracting && out.rank == 1 && s.group_offset >= 0;  // a shard of one group more
  }
  for (index_t d = 0; d < out.rank; ++d) b.c.append(out.extent[d]);
  b.lhs.arrange(s.lhs);
  b.rhs.arrange(s.rhs);
  Layout plain = s.out;
  plain.shared = 0;
  b.out.arrange(plain);
  b.c.arrange(s.c);
  const bool bf16_in = s.types != Types::f32;
  const rg::DType in_type = bf16_in ? rg::DType::bf16 : rg::DType::f32;
  const rg::DType out_type = s.types == Types::bf16 ? rg::DType::bf16 : rg::DType::f32;
  b.lhs.allocate(in_type, s.lhs.shift);
  b.rhs.allocate(in_type, s.rhs.shift);
  b.out.allocate(out_type, s.out.shift);
  b.c.allocate(out_type, s.c.shift);

  // Groups.
  allocate_copy(b.entries, stored(s.entries, s.type));
  const offset_t extra = s.kind == GroupKind::offsets ? 1 : 0;
  b.groups.groups = {b.entries.data(), s.group_count(), s.kind, s.type};
  if (s.kind == GroupKind::none) b.groups.groups = {};
  b.groups.rank = 0;
  if (s.general && s.prefix_groups) {
    const auto prefix = [&](offset_t e) { b.groups.extent[b.groups.rank++] = e; };
    if (!batch)
      for (const offset_t e : s.batch) prefix(e);
    for (std::size_t i = 0; i < s.ragged_at; ++i) prefix(s.ragged_kind()[i]);
  }
  b.groups.extent[b.groups.rank++] = s.group_count() + extra;
  if (s.defect == Defect::group_count && !batch && s.group_offset < 0) {
    ++b.groups.groups.count;
    ++b.groups.extent[b.groups.rank - 1];
    effective = true;
  }

  // Options.
  rg::Options& o = b.options;
  o.alpha = s.alpha;
  o.beta = s.beta;
  o.tail = s.tail;
  o.group_offset = s.group_offset;
  if (s.host_row) o.config_row = host_config_row();
  if (s.has_c || (s.defect >= Defect::c_extent && s.defect <= Defect::c_dtype)) {
    o.c = b.c.tensor;
    effective = effective || (s.defect >= Defect::c_extent && s.defect <= Defect::c_dtype);
    if (s.defect == Defect::c_extent) ++o.c.extent[o.c.rank - 1];
    if (s.defect == Defect::c_rank) --o.c.rank;
    if (s.defect == Defect::c_dtype) o.c.dtype = rg::DType::f16;
    s.has_c = true;
  }
  if (s.gathers) {
    allocate_copy(b.lhs_index, s.lhs_index);
    o.lhs_index = reinterpret_cast<const std::int32_t*>(b.lhs_index.data());
  }
  if (s.scatters) {
    allocate_copy(b.out_index, s.out_index);
    o.out_index = reinterpret_cast<const std::int32_t*>(b.out_index.data());
  }
  if (s.tells_extent) o.ragged_extent = s.ragged_extent();
  const offset_t factor_count = std::max<offset_t>(batch ? s.ragged_extent() : s.slabs, 0);
  if (s.group_alpha && factor_count < 1000) {
    for (offset_t i = 0; i < factor_count; ++i)
      b.group_factors.push_back(static_cast<float>((i * 5 + s.salt) % 6 - 2));
    allocate_copy(b.group_alpha, b.group_factors);
    o.group_alpha = reinterpret_cast<const float*>(b.group_alpha.data());
  } else {
    s.group_alpha = false;
  }
  if (s.fault) {
    b.fault.allocate(sizeof(rg::Fault), 0);
    o.fault = reinterpret_cast<rg::Fault*>(b.fault.data());
  }

  // Defects of options and pointers.
  const std::uint64_t value = static_cast<std::uint64_t>(s.defect_value);
  switch (s.defect) {
    case Defect::tail:
      o.tail = Tail::compute;
      effective = !batch;
      if (batch) o.tail = s.tail;
      break;
    case Defect::config_row:
      o.config_row = static_cast<index_t>(value & 0x7FFFFFFF);
      if (value % 2 == 0) o.config_row %= rg::config_rows;
      effective = o.config_row != host_config_row();
      break;
    case Defect::platform:
      o.platform = value % 2 == 0 ? rg::Platform::cuda : rg::Platform::hip;
      effective = true;
      break;
    case Defect::null_lhs:
      b.lhs.tensor.data = nullptr;
      effective = !b.lhs.is_empty();
      either = out_empty || no_rows || b.rhs.is_empty();
      break;
    case Defect::null_rhs:
      b.rhs.tensor.data = nullptr;
      effective = !b.rhs.is_empty();
      either = out_empty || no_rows || b.lhs.is_empty();
      break;
    case Defect::null_out:
      b.out.tensor.data = nullptr;
      effective = !out_empty;
      either = no_rows;
      break;
    case Defect::null_groups:
      b.groups.groups.data = nullptr;
      effective = s.group_count() > 0;
      either = out_empty || no_rows || s.entries.empty();
      break;
    case Defect::out_stride:
      for (index_t i = 0; i < out.rank && !effective; ++i) {
        const index_t d = static_cast<index_t>((value + static_cast<std::uint64_t>(i)) %
                                               static_cast<std::uint64_t>(out.rank));
        if (out.extent[d] <= 1 || out_empty) continue;
        out.stride[d] = 0;
        effective = true;
      }
      break;
    case Defect::shard:
      o.group_offset = batch ? 1 : s.group_count() - s.slabs + 1;
      if (!batch) {
        const std::int64_t more = s.defect_value & std::numeric_limits<std::int64_t>::max();
        if (__builtin_add_overflow(o.group_offset, more, &o.group_offset))
          o.group_offset = std::numeric_limits<std::int64_t>::max();
      }
      effective = true;
      either = out_empty;
      break;
    case Defect::scatter:
      if (!s.has_row_dim()) {
        static const std::int32_t zero = 0;
        o.out_index = &zero;
        effective = true;
      }
      break;
    case Defect::ragged_extent:
      if (s.variant != Variant::non_contracting || !s.gathers || !s.scatters) {
        o.ragged_extent = s.ragged_extent() + 1;
        effective = true;
      }
      break;
    case Defect::dims:
      if (s.general) {
        edit_dims(b.dims, s.defect_value);
        effective = either = true;
      }
      break;
    default: break;
  }
  b.expect = !effective ? Expect::run : either ? Expect::either : Expect::refuse;
}

}  // namespace fuzz
