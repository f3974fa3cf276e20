// SPDX-License-Identifier: Apache-2.0
// Runs config rows of the CDNA engine on shapes small enough for an ISA emulator, and compares each
// output element with a host loop. Operands are small integers, so results are exact; whatever must
// not be read holds NaN (integers: a large number), whatever must not be written holds a pattern.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "raggedgemm/platform/runtime.hpp"
#include "raggedgemm/raggedgemm.hpp"

namespace rg = raggedgemm;
using rg::offset_t;

namespace {

/// One call in the terms of rg::Problem, small and with the sizes on the host.
struct Case {
  const char* name;
  offset_t rows, depth, cols, slabs;
  std::vector<int> sizes;  ///< empty for the batch variant: no groups given
  offset_t extra_pitch =
      0;  ///< elements of padding behind each contiguous run, beyond rounding to 8
  rg::Tail tail = rg::Tail::zero;
  float alpha = 1.0F;
  float beta = 0.0F;
  int nan_group = -1;  ///< operands of this group (its rows, depths or slab) hold NaN
};

std::uint32_t random_state = 1;
int random_digit() {
  random_state = random_state * 1664525U + 1013904223U;
  return static_cast<int>(random_state >> 24) % 5 - 2;
}

/// Begin and end of each group in the ragged dimension, clamped as the library promises.
std::vector<std::pair<offset_t, offset_t>> ranges(const std::vector<int>& sizes, offset_t extent) {
  std::vector<std::pair<offset_t, offset_t>> result;
  offset_t at = 0;
  for (const int size : sizes) {
    const offset_t end = std::min(extent, at + std::max(0, size));
    result.emplace_back(at, end);
    at = end;
  }
  return result;
}

/// A stack of matrices in memory, contiguous along rows or columns, and the value of each element.
struct Matrices {
  offset_t slabs, rows, cols, pitch;
  bool rows_contiguous;
  rg::Strides stride;
  offset_t elems;

  /// `granule` divides the pitch.
  Matrices(offset_t s,
           offset_t r,
           offset_t c,
           bool row_major_transposed,
           offset_t extra,
           offset_t granule)
      : slabs(s), rows(r), cols(c), rows_contiguous(row_major_transposed) {
    pitch = rg::round_up(rg::round_up(rows_contiguous ? rows : cols, granule) + extra, granule);
    const offset_t slab = pitch * (rows_contiguous ? cols : rows);
    stride = rows_contiguous ? rg::Strides{slab, 1, pitch} : rg::Strides{slab, pitch, 1};
    elems = std::max(offset_t{1}, slabs) * slab;
  }
  offset_t at(offset_t s, offset_t r, offset_t c) const {
    return s * stride.slab + r * stride.row + c * stride.col;
  }
};

/// A number that fits into T; integers wrap.
template <class T>
T as(float x) {
  if constexpr (std::is_integral_v<T>)
    return rg::Element<T>::round(static_cast<std::int32_t>(x));
  else
    return rg::Element<T>::round(x);
}

/// What must not be read.
template <class T>
float poison() {
  return std::is_integral_v<T> ? 101.0F : __builtin_nanf("");
}

struct DeviceBytes {
  unsigned char* data;
  explicit DeviceBytes(std::size_t bytes)
      : data(static_cast<unsigned char*>(rg::runtime::gpu::allocate(bytes))) {}
  ~DeviceBytes() { rg::runtime::gpu::release(data); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
};

/// Operand values in memory: poison wherever no value was set, also in front and behind.
template <class T>
struct Values {
  static constexpr offset_t margin = 512;
  Matrices shape;
  std::vector<T> memory;
  std::vector<float> value;

  explicit Values(const Matrices& m)
      : shape(m),
        memory(static_cast<std::size_t>(m.elems + 2 * margin), as<T>(poison<T>())),
        value(static_cast<std::size_t>(m.elems), 0.0F) {}
  void set(offset_t s, offset_t r, offset_t c, float x) {
    const offset_t i = shape.at(s, r, c);
    value[static_cast<std::size_t>(i)] = x;
    memory[static_cast<std::size_t>(i + margin)] = as<T>(x);
  }
  float get(offset_t s, offset_t r, offset_t c) const {
    return value[static_cast<std::size_t>(shape.at(s, r, c))];
  }
};

template <rg::Variant V, class In, class Out>
std::string check(rg::index_t row_index,
                  const rg::KernelSet& set,
                  const Case& c,
                  rg::index_t blocks_at_most) {
  const rg::ConfigRow& row = rg::config_row(row_index);
  const bool contracting = V == rg::Variant::contracting;
  const bool batch = V == rg::Variant::batch;
  const bool a_rows = row.config.layout == rg::Layout::tn || row.config.layout == rg::Layout::tt;
  const bool b_depth = row.config.layout == rg::Layout::nt || row.config.layout == rg::Layout::tt;
  const offset_t a_slabs = batch ? c.slabs : 1;
  const offset_t b_slabs = contracting ? 1 : c.slabs;
  const offset_t d_slabs = V == rg::Variant::non_contracting ? 1 : c.slabs;
  constexpr offset_t granule = 16 / offset_t{sizeof(In)};
  Values<In> a(Matrices(a_slabs, c.rows, c.depth, a_rows, c.extra_pitch, granule));
  Values<In> b(Matrices(b_slabs, c.depth, c.cols, b_depth, c.extra_pitch, granule));
  const Matrices d(d_slabs, c.rows, c.cols, false, c.extra_pitch, 8);
  if (a_slabs == 1) a.shape.stride.slab = 0;
  if (b_slabs == 1 && contracting) b.shape.stride.slab = 0;

  const offset_t ragged = contracting ? c.depth : batch ? c.slabs : c.rows;
  const auto groups = ranges(c.sizes, ragged);
  const offset_t live = batch && c.sizes.empty() ? c.slabs
                        : groups.empty()         ? 0
                                                 : groups.back().second;
  const auto group_of = [&](offset_t i) {
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (i >= groups[g].first && i < groups[g].second) return static_cast<int>(g);
    return -1;
  };
  // Only what takes part in a product gets a value; the rest stays NaN.
  for (offset_t s = 0; s < a_slabs; ++s)
    for (offset_t r = 0; r < c.rows; ++r)
      for (offset_t k = 0; k < c.depth; ++k) {
        const offset_t where = contracting ? k : batch ? s : r;
        const bool alive = where < live || c.tail == rg::Tail::compute;
        const bool is_nan = !batch && c.nan_group >= 0 && group_of(where) == c.nan_group;
        if (alive) a.set(s, r, k, is_nan ? poison<In>() : static_cast<float>(random_digit()));
      }
  for (offset_t s = 0; s < b_slabs; ++s)
    for (offset_t k = 0; k < c.depth; ++k)
      for (offset_t n = 0; n < c.cols; ++n) {
        const bool in_group = V == rg::Variant::non_contracting
                                  ? groups[static_cast<std::size_t>(s)].first <
                                        groups[static_cast<std::size_t>(s)].second
                                  : (contracting ? k : s) < live || c.tail == rg::Tail::compute;
        if (in_group) b.set(s, k, n, static_cast<float>(random_digit()));
      }

  constexpr offset_t canary = 1024;
  std::vector<Out> out(static_cast<std::size_t>(d.elems + 2 * canary));
  for (std::size_t i = 0; i < out.size(); ++i) {
    Out pattern = as<Out>(static_cast<float>(static_cast<int>(i % 7) - 3));
    if (c.beta == 0.0F) std::memset(&pattern, 0x7F, sizeof pattern);  // NaN for 16 bits, else huge
    out[i] = pattern;
  }
  const std::vector<Out> before = out;

  rg::Problem p;
  p.variant = V;
  p.lhs_dtype = p.rhs_dtype = rg::dtype_of<In>;
  p.out_dtype = rg::dtype_of<Out>;
  p.rows = c.rows;
  p.cols = c.cols;
  p.depth = c.depth;
  p.slabs = c.slabs;
  p.group_count = static_cast<offset_t>(c.sizes.size());
  p.group_kind = c.sizes.empty() ? rg::GroupKind::none : rg::GroupKind::sizes;
  p.a = a.shape.stride;
  p.b = b.shape.stride;
  p.d = d.stride;
  if (V == rg::Variant::non_contracting) p.d.slab = 0;
  p.c = p.d;  // beta reads the output
  p.a_alignment_bytes = p.b_alignment_bytes = p.d_alignment_bytes = 16;
  p.alpha = c.alpha;
  p.beta = c.beta;
  p.allow_tf32 = row.tf32;
  p.tail = c.tail;
  rg::Options options;
  options.config_row = row_index;
  options.tail = c.tail;
  const rg::Result<rg::Plan> plan = make_plan(p, options, set);
  if (!plan.ok()) return plan.status().message();

  const std::size_t a_bytes = a.memory.size() * sizeof(In);
  const std::size_t b_bytes = b.memory.size() * sizeof(In);
  const std::size_t d_bytes = out.size() * sizeof(Out);
  const std::size_t size_bytes = c.sizes.size() * sizeof(int);
  DeviceBytes a_device(a_bytes), b_device(b_bytes), d_device(d_bytes), sizes_device(size_bytes + 4);
  rg::Status status = rg::runtime::gpu::copy_to_device(a_device.data, a.memory.data(), a_bytes);
  if (status.ok())
    status = rg::runtime::gpu::copy_to_device(b_device.data, b.memory.data(), b_bytes);
  if (status.ok()) status = rg::runtime::gpu::copy_to_device(d_device.data, out.data(), d_bytes);
  if (status.ok() && size_bytes > 0)
    status = rg::runtime::gpu::copy_to_device(sizes_device.data, c.sizes.data(), size_bytes);
  if (!status.ok()) return status.message();
  rg::Pointers pointers;
  pointers.a = a_device.data + Values<In>::margin * static_cast<offset_t>(sizeof(In));
  pointers.b = b_device.data + Values<In>::margin * static_cast<offset_t>(sizeof(In));
  pointers.d = d_device.data + canary * static_cast<offset_t>(sizeof(Out));
  if (!c.sizes.empty())
    pointers.groups =
        rg::GroupSizes(reinterpret_cast<const int*>(sizes_device.data), p.group_count);
  rg::Plan limited = plan.value();
  limited.blocks = std::min(limited.blocks, blocks_at_most);
  const std::size_t workspace_bytes = static_cast<std::size_t>(rg::workspace_bytes(limited));
  DeviceBytes workspace(workspace_bytes + 16);
  status = rg::runtime::gpu::fill(workspace.data, 0xFF, workspace_bytes);  // NaN
  if (!status.ok()) return status.message();
  pointers.workspace = workspace.data;
  const rg::Result<rg::BoundCall> bound = bind(limited, pointers);
  if (!bound.ok()) return bound.status().message();
  const rg::Identity identity;
  status = run(bound.value(), &identity, nullptr);
  if (status.ok()) status = rg::runtime::gpu::synchronize();
  if (status.ok()) status = rg::runtime::gpu::copy_to_host(out.data(), d_device.data, d_bytes);
  if (!status.ok()) return status.message();

  // What must be there.
  std::vector<Out> want = before;
  for (offset_t s = 0; s < d_slabs; ++s)
    for (offset_t r = 0; r < c.rows; ++r) {
      const int group = contracting ? static_cast<int>(s) : batch ? 0 : group_of(r);
      const bool is_tail = batch ? s >= live && c.tail != rg::Tail::compute : group < 0;
      if (is_tail && c.tail == rg::Tail::keep) continue;
      offset_t k_begin = 0;
      offset_t k_end = is_tail ? 0 : c.depth;
      if (contracting) {
        k_begin = groups[static_cast<std::size_t>(s)].first;
        k_end = groups[static_cast<std::size_t>(s)].second;
      }
      const offset_t a_slab = batch ? s : 0;
      const offset_t b_slab = contracting || is_tail ? 0 : batch ? s : group;
      std::vector<float> sum(static_cast<std::size_t>(c.cols), 0.0F);
      for (offset_t k = k_begin; k < k_end; ++k) {
        const float x = a.get(a_slab, r, k);
        if (x == 0.0F) continue;
        for (offset_t n = 0; n < c.cols; ++n)
          sum[static_cast<std::size_t>(n)] += x * b.get(b_slab, k, n);
      }
      for (offset_t n = 0; n < c.cols; ++n) {
        Out& slot = want[static_cast<std::size_t>(canary + d.at(s, r, n))];
        float result = c.alpha * sum[static_cast<std::size_t>(n)];
        if (c.beta != 0.0F) result += c.beta * static_cast<float>(rg::Element<Out>::widen(slot));
        slot = as<Out>(result);
      }
    }
  offset_t wrong = 0;
  std::string first;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const float got = static_cast<float>(rg::Element<Out>::widen(out[i]));
    const float expected = static_cast<float>(rg::Element<Out>::widen(want[i]));
    if (std::memcmp(&out[i], &want[i], sizeof(Out)) == 0) continue;
    if (std::memcmp(&want[i], &before[i], sizeof(Out)) != 0 && got != got && expected != expected)
      continue;  // NaN as it should be
    if (wrong++ == 0) {
      char text[160];
      const offset_t at = static_cast<offset_t>(i) - canary;
      const offset_t slab_elems = d.stride.slab;
      std::snprintf(text,
                    sizeof text,
                    "first at slab %lld row %lld col %lld: got %g, want %g",
                    static_cast<long long>(at / slab_elems),
                    static_cast<long long>(at % slab_elems / d.pitch),
                    static_cast<long long>(at % d.pitch),
                    static_cast<double>(got),
                    static_cast<double>(expected));
      first = text;
    }
  }
  if (wrong == 0) return "";
  return std::to_string(wrong) + " wrong; " + first;
}

/// Cases that visit every edge of a tile of `block` rows and `block_cols` columns.
std::vector<Case> cases(rg::Variant variant, int block, int block_cols) {
  const offset_t b = block;
  const offset_t past_cols = offset_t{block_cols} + 8;
  using rg::Tail;
  if (variant == rg::Variant::non_contracting)
    return {
        {"every row count round an edge",
         1 + 2 + 31 + 33 + (b - 1) + b + (b + 1) + 5,
         72,
         past_cols,
         8,
         {1, 2, 0, 31, 33, block - 1, block, block + 1}},
        {"one step", 40, 64, 64, 2, {17, 23}},
        {"k 8, n 8", 40, 8, 8, 3, {7, 1, 32}},
        {"k 13, n 13, padded", 37, 13, 13, 2, {20, 12}, 8},
        {"k 1, n 1, padded", 5, 1, 1, 2, {2, 2}, 0},
        {"k 328, sizes past m", 90, 328, 24, 3, {50, 100, 7}},
        {"k 135: last chunk of seven", 33, 135, 40, 1, {33}},
        {"k 129 into the third step", 33, 129, 40, 1, {33}},
        {"nothing but tail, k 0 groups", 21, 72, 16, 4, {0, -3, 0, 0}},
        {"tail kept", 70, 72, 16, 3, {-5, 3, 30}, 0, Tail::keep},
        {"alpha, beta", 50, 72, 20, 2, {30, 13}, 0, Tail::zero, 2.0F, -1.0F},
        {"NaN in a neighbour's rows", 96, 72, 32, 3, {32, 31, 33}, 0, Tail::zero, 1, 0, 1},
        {"k 0", 40, 0, 24, 2, {20, 10}},
    };
  if (variant == rg::Variant::contracting)
    return {
        {"every edge of both extents", b + 1, 70, past_cols, 2, {33, 37}},
        {"empty, negative, short and long groups", 24, 300, 40, 7, {1, 0, 63, -4, 64, 65, 100}},
        {"NaN in a neighbouring group", 40, 96, 24, 4, {5, 33, 31, 20}, 0, Tail::zero, 1, 0, 1},
        {"k 13, n 13, padded", 13, 37, 13, 2, {20, 12}, 8},
        {"sizes past m", 16, 100, 16, 3, {50, 100, 7}},
        {"nothing", 16, 30, 24, 2, {0, 0}},
        {"alpha, beta", 20, 50, 20, 3, {30, 0, 13}, 0, Tail::zero, 2.0F, -1.0F},
        {"three steps", 72, 130, 72, 1, {129}},
    };
  return {
      {"every batch live", 33, 72, past_cols, 2, {}},
      {"rows past a block", b + 1, 64, 40, 2, {1, 1}},
      {"dead batches hold NaN", 17, 40, 24, 4, {1, -1, 1}},
      {"dead batches kept", 17, 40, 24, 3, {2}, 0, Tail::keep},
      {"dead batches computed", 17, 40, 24, 3, {1}, 8, Tail::compute},
      {"k 135, n 13, padded", 13, 135, 13, 2, {}, 8},
  };
}

int failures = 0;
int runs = 0;
const char* filter = "";

/// How much of a row's list of cases is run.
struct Effort {
  std::size_t cases_at_most = 100;
  bool as_planned = true;  ///< not only with two blocks that take all tiles
  bool tf32 = false;       ///< rows that round to tf32, and no others
};

/// The cases of one row, if it is the device's, of this engine, and for this variant and dtype.
template <rg::Variant V, class In, class Out, rg::index_t Row>
void check_row(rg::Arch arch, const Effort& effort) {
  constexpr rg::ConfigRow row = rg::config_row(Row);
  if constexpr (row.config.engine == rg::EngineId::mfma &&
                row_instantiates(row, V, rg::dtype_of<In>, rg::dtype_of<In>)) {
    if (row.arch != arch || row.tf32 != effort.tf32) return;
#if defined(RAGGEDGEMM_COMPILED)  // raggedgemm::compiled has the kernels, if it has the dtypes
    const rg::KernelSet library = rg::compiled::kernels(
        rg::Platform::hip, V, rg::dtype_of<In>, rg::dtype_of<In>, rg::dtype_of<Out>);
    rg::KernelEntry entry;
    for (rg::index_t i = 0; i < library.count; ++i)
      if (library.entries[i].row == Row) entry = library.entries[i];
    if (entry.row != Row) {
      std::printf("SKIP %s %s: not in the library\n", row.name, name_of(V));
      return;
    }
#else
    const rg::KernelEntry entry = rg::dispatch::kernel_entry<rg::Platform::hip,
                                                             Row,
                                                             rg::dispatch::variant_type<V>,
                                                             rg::Types<In, In, Out>,
                                                             rg::Identity>();
#endif
    rg::KernelSet set;
    set.entries = &entry;
    set.count = 1;
    set.platform = rg::Platform::hip;
    set.device = &rg::runtime::gpu::device;
    std::size_t taken = 0;
    for (const Case& c : cases(V, row.config.block_m, row.config.block_n)) {
      if (taken++ == effort.cases_at_most) break;
      const std::string title = std::string(row.name) + " " + name_of(V) + " " +
                                name_of(rg::dtype_of<In>) + "->" + name_of(rg::dtype_of<Out>) +
                                ": " + c.name;
      if (title.find(filter) == std::string::npos) continue;
      // As planned, and with two blocks that take all tiles one after the other.
      for (const rg::index_t blocks : {1 << 20, 2}) {
        if (blocks != 2 && !effort.as_planned) continue;
        random_state = 12345;
        const std::string problem = check<V, In, Out>(Row, set, c, blocks);
        ++runs;
        failures += problem.empty() ? 0 : 1;
        std::printf("%s %s%s%s%s\n",
                    problem.empty() ? "PASS" : "FAIL",
                    title.c_str(),
                    blocks == 2 ? " (two blocks)" : "",
                    problem.empty() ? "" : ": ",
                    problem.c_str());
        std::fflush(stdout);
      }
    }
  }
}

template <rg::Variant V, class In, class Out, rg::index_t... Rows>
void check_rows(rg::Arch arch, const Effort& effort, std::integer_sequence<rg::index_t, Rows...>) {
  (check_row<V, In, Out, Rows>(arch, effort), ...);
}

template <rg::Variant V, class In, class Out>
void check_rows(rg::Arch arch, const Effort& effort = {}) {
  check_rows<V, In, Out>(arch, effort, std::make_integer_sequence<rg::index_t, rg::config_rows>{});
}

/// Runs `check(arch)` on the current device. Exit code: 1 when any case failed, 2
/// when none ran, 77 without a device.
template <class F>
int check_device(int argument_count, char** arguments, const F& check) {
  if (argument_count > 1) filter = arguments[1];
  const rg::Result<rg::Device> device = rg::runtime::gpu::device();
  if (!device.ok()) {
    std::printf("SKIPPED: %s\n", device.status().message().c_str());
    return 77;
  }
  const rg::Arch arch = device.value().arch;
  std::printf("device %s (%s)\n", device.value().name, name_of(arch));
  check(arch);
  std::printf("%d cases, %d failed\n", runs, failures);
  return failures != 0 ? 1 : runs == 0 ? 2 : 0;
}

}  // namespace
