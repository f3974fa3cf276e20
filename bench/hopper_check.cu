// SPDX-License-Identifier: Apache-2.0
// Checks and times every Hopper row of the config table on one GPU, without any test framework.
// hopper_check.sh builds and runs it; modes: check (all cases), tiny (for compute-sanitizer),
// repeat (bitwise equal results; with -DRAGGEDGEMM_PLANT_DELAYS the roles sleep at random), time.
#include <cublas_v2.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include "gpu.cuh"
#include "raggedgemm/epilogue/activation.hpp"
#include "raggedgemm/epilogue/bias.hpp"
#include "raggedgemm/raggedgemm.hpp"

namespace rg = raggedgemm;
using rg::index_t;
using rg::offset_t;

namespace {

// --- Data
// ------------------------------------------------------------------------------------------

template <class T>
__device__ T random_element(std::uint64_t i, std::uint32_t seed) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(noise(i, seed) * 128.0F);
  else
    return rg::Element<T>::round(noise(i, seed));
}

template <class T>
__global__ void fill_noise(T* to, std::size_t elems, std::uint32_t seed) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < elems;
       i += std::size_t{gridDim.x} * blockDim.x)
    to[i] = random_element<T>(i, seed);
}

/// NaN (an integer: 99) in columns `cols` … pitch - 1 of all lines, and in lines `begin` … `end`
/// - 1.
template <class T>
__global__ void plant_nan(
    T* to, offset_t lines, offset_t cols, offset_t pitch, offset_t begin, offset_t end) {
  for (offset_t i = blockIdx.x * offset_t{blockDim.x} + threadIdx.x; i < lines * pitch;
       i += offset_t{gridDim.x} * blockDim.x) {
    const offset_t line = i / pitch;
    if (i % pitch < cols && (line < begin || line >= end)) continue;
    if constexpr (std::is_integral_v<T>)
      to[i] = 99;
    else
      to[i] = rg::Element<T>::round(NAN);
  }
}

// --- Reference
// -------------------------------------------------------------------------------------

struct Expected {
  rg::Problem problem;
  const void* a;
  const void* b;
  const void* got;     // the whole output buffer, guards included
  const void* before;  // its contents before the call
  offset_t front;      // elements before (0, 0, 0)
  offset_t total;      // elements of the buffer
  offset_t slab_pitch;
  offset_t row_pitch;
  const offset_t* ends;  // inclusive prefix sums of the clamped sizes
  index_t groups;
  offset_t live;      // batches that are multiplied
  const float* bias;  // [groups, cols] or null; with it, relu follows
};

struct Findings {
  unsigned long long wrong;
  unsigned long long first;
  float got;
  double want;
};

/// Adds how many elements differ in bits.
template <class T>
__global__ void count_differences(const T* a,
                                  const T* b,
                                  std::size_t elems,
                                  unsigned long long* different) {
  for (std::size_t i = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; i < elems;
       i += std::size_t{gridDim.x} * blockDim.x) {
    bool differs = false;
    for (std::size_t byte = 0; byte < sizeof(T); ++byte)
      differs = differs || reinterpret_cast<const unsigned char*>(a + i)[byte] !=
                               reinterpret_cast<const unsigned char*>(b + i)[byte];
    if (differs) atomicAdd(different, 1ULL);
  }
}

/// One lane an output element, f64 sums. Everything outside the output must be as before.
template <class In, class Out>
__global__ void compare(Expected e, double unit, Findings* findings) {
  const rg::Problem& p = e.problem;
  const offset_t slabs = p.variant == rg::Variant::non_contracting ? 1 : p.slabs;
  for (offset_t i = blockIdx.x * offset_t{blockDim.x} + threadIdx.x; i < e.total;
       i += offset_t{gridDim.x} * blockDim.x) {
    const Out got_raw = static_cast<const Out*>(e.got)[i];
    const Out before_raw = static_cast<const Out*>(e.before)[i];
    const offset_t at = i - e.front;
    const offset_t slab = at / e.slab_pitch;
    const offset_t row = at % e.slab_pitch / e.row_pitch;
    const offset_t col = at % e.row_pitch;
    bool inside = at >= 0 && slab < slabs && row < p.rows && col < p.cols;
    offset_t group = p.variant == rg::Variant::non_contracting ? 0 : slab;
    offset_t k_begin = 0;
    offset_t k_end = p.depth;
    bool tail = false;
    if (inside && p.variant == rg::Variant::non_contracting) {
      while (group < e.groups && row >= e.ends[group]) ++group;
      tail = group == e.groups;
    } else if (inside && p.variant == rg::Variant::contracting) {
      k_begin = slab > 0 ? e.ends[slab - 1] : 0;
      k_end = e.ends[slab];
    } else if (inside) {
      tail = slab >= e.live;
    }
    if (tail && p.tail == rg::Tail::keep) inside = false;
    bool wrong = false;
    double want = 0;
    if (!inside) {
      for (std::size_t byte = 0; byte < sizeof(Out); ++byte)
        wrong = wrong || reinterpret_cast<const unsigned char*>(&got_raw)[byte] !=
                             reinterpret_cast<const unsigned char*>(&before_raw)[byte];
    } else {
      double sum = 0;
      double magnitude = 0;
      if (!tail) {
        const In* a = static_cast<const In*>(e.a) + group * p.a.slab + row * p.a.row;
        const In* b = static_cast<const In*>(e.b) + group * p.b.slab + col * p.b.col;
        for (offset_t k = k_begin; k < k_end; ++k) {
          const double product = static_cast<double>(rg::Element<In>::widen(a[k * p.a.col])) *
                                 static_cast<double>(rg::Element<In>::widen(b[k * p.b.row]));
          sum += product;
          magnitude += fabs(product);
        }
      }
      want = p.alpha * sum;
      magnitude *= fabs(static_cast<double>(p.alpha));
      if (p.beta != 0) {
        const double term = p.beta * static_cast<double>(rg::Element<Out>::widen(before_raw));
        want += term;
        magnitude += fabs(term);
      }
      if (e.bias != nullptr && !tail) {
        const double term = e.bias[group * p.cols + col];
        magnitude += fabs(term);
        want = want + term < 0 ? 0 : want + term;
      }
      const double got = rg::Element<Out>::widen(got_raw);
      // Tensor cores add 16 products at a time with a few bits less than f32's rounding. f32 is
      // rounded to tf32, both operands; products of 8-bit floats are added with some 14 bits.
      const double rounded = std::is_same_v<In, float>                               ? 0x1p-9
                             : sizeof(In) == 1 && !std::is_same_v<Out, std::int32_t> ? 0x1p-11
                                                                                     : 0;
      const double bound =
          magnitude * ((static_cast<double>(k_end - k_begin) / 16 + 8) * 0x1p-22 + rounded) +
          fabs(want) * unit + 0x1p-24;
      wrong = isnan(want) ? !isnan(got) : !(fabs(got - want) <= bound);
      if (std::is_same_v<Out, std::int32_t>) wrong = got != want;
    }
    if (wrong && atomicAdd(&findings->wrong, 1ULL) == 0) {
      findings->first = static_cast<unsigned long long>(i);
      findings->got = static_cast<float>(rg::Element<Out>::widen(got_raw));
      findings->want = want;
    }
  }
}

// --- Cases
// -----------------------------------------------------------------------------------------

struct Case {
  const char* name;
  offset_t m = 0;
  offset_t k = 0;
  offset_t n = 0;
  std::vector<std::int32_t> sizes;
  float alpha = 1;
  float beta = 0;
  rg::Tail tail = rg::Tail::zero;
  bool nan = false;        ///< in padding, in the rows and slabs of odd groups, in rows of no group
  offset_t pad = 0;        ///< elements that every input pitch is longer, before the alignment
  offset_t out_pad = 0;    ///< elements that the output pitch is longer
  offset_t out_shift = 0;  ///< elements that the output lies off a 256-byte boundary
};

std::vector<std::int32_t> some_sizes(index_t groups, index_t largest, std::uint32_t seed) {
  std::vector<std::int32_t> sizes;
  for (index_t g = 0; g < groups; ++g)
    sizes.push_back(static_cast<std::int32_t>((noise(static_cast<std::uint64_t>(g), seed) + 1) / 2 *
                                              static_cast<float>(largest + 1)));
  return sizes;
}

Case nan_all_around() {
  return {.name = "NaN all around",
          .m = 777,
          .k = 200,
          .n = 136,
          .sizes = {1, 7, 129, 300, 0, 3, 155, 92},
          .nan = true,
          .pad = 8};
}

std::vector<Case> all_cases() {
  using V = std::vector<std::int32_t>;
  std::vector<Case> cases;
  cases.push_back({.name = "whole tiles", .m = 512, .k = 256, .n = 512, .sizes = V(4, 128)});
  cases.push_back({.name = "odd sizes, empty groups",
                   .m = 777,
                   .k = 200,
                   .n = 136,
                   .sizes = {1, 0, 129, 300, 0, 0, 255, 92}});
  cases.push_back({.name = "sum < m", .m = 500, .k = 72, .n = 264, .sizes = {100, 0, 37}});
  cases.push_back({.name = "sum > m", .m = 500, .k = 136, .n = 520, .sizes = {400, 400, 100}});
  cases.push_back(
      {.name = "negative sizes", .m = 300, .k = 64, .n = 256, .sizes = {-5, 130, -1000000, 64}});
  cases.push_back(
      {.name = "huge sizes", .m = 300, .k = 64, .n = 256, .sizes = {2147483647, 2147483647, 5}});
  cases.push_back({.name = "all groups empty", .m = 130, .k = 128, .n = 256, .sizes = {0, 0, 0}});
  cases.push_back({.name = "one group", .m = 333, .k = 520, .n = 1032, .sizes = {333}});
  cases.push_back({.name = "one row", .m = 1, .k = 128, .n = 256, .sizes = {1}});
  cases.push_back({.name = "one row a group", .m = 50, .k = 128, .n = 264, .sizes = V(50, 1)});
  cases.push_back({.name = "smallest k and n", .m = 70, .k = 8, .n = 8, .sizes = {3, 65, 2}});
  cases.push_back({.name = "k past 64 by 8", .m = 130, .k = 72, .n = 64, .sizes = {66, 64}});
  cases.push_back({.name = "long k, many laps of the ring",
                   .m = 384,
                   .k = 4096,
                   .n = 256,
                   .sizes = {120, 264}});
  cases.push_back(
      {.name = "many groups", .m = 2200, .k = 128, .n = 512, .sizes = some_sizes(100, 40, 3)});
  cases.push_back(
      {.name = "more groups than lanes, most empty", .m = 300, .k = 64, .n = 256, .sizes = [] {
         V v(200, 0);
         v[3] = 100;
         v[70] = 120;
         v[199] = 50;
         return v;
       }()});
  cases.push_back(
      {.name = "more groups than a window, most empty", .m = 700, .k = 64, .n = 256, .sizes = [] {
         V v(900, 0);
         for (std::size_t g = 5; g < v.size(); g += 7) v[g] = static_cast<std::int32_t>(g % 13);
         v[255] = 40;
         v[256] = 33;
         v[600] = -7;
         return v;
       }()});
  cases.push_back({.name = "many tiles a block",
                   .m = 6000,
                   .k = 320,
                   .n = 2000,
                   .sizes = some_sizes(13, 900, 4)});
  cases.push_back(nan_all_around());
  cases.push_back({.name = "NaN, n a multiple of 64",
                   .m = 640,
                   .k = 192,
                   .n = 320,
                   .sizes = {63, 65, 127, 129, 1, 190},
                   .nan = true,
                   .pad = 64});
  cases.push_back({.name = "NaN, sum < m",
                   .m = 400,
                   .k = 96,
                   .n = 256,
                   .sizes = {33, 17, 100, 50, 16},
                   .nan = true});
  cases.push_back({.name = "alpha and beta",
                   .m = 500,
                   .k = 136,
                   .n = 328,
                   .sizes = {100, 0, 37, 250},
                   .alpha = 0.5F,
                   .beta = -2.0F});
  cases.push_back({.name = "tail kept",
                   .m = 500,
                   .k = 136,
                   .n = 328,
                   .sizes = {100, 0, 37},
                   .tail = rg::Tail::keep});
  cases.push_back(
      {.name = "output pitch odd", .m = 300, .k = 64, .n = 256, .sizes = {130, 170}, .out_pad = 3});
  cases.push_back({.name = "output off by one, beta",
                   .m = 300,
                   .k = 64,
                   .n = 200,
                   .sizes = {130, 170},
                   .beta = 1.0F,
                   .out_pad = 8,
                   .out_shift = 1});
  cases.push_back({.name = "rows that end inside 16 bytes, aligned pitches",
                   .m = 400,
                   .k = 70,
                   .n = 134,
                   .sizes = {100, 0, 37, 0, 3, 130, 0},
                   .pad = 2,
                   .out_pad = 2});
  cases.push_back({.name = "no group, rows that end inside 16 bytes",
                   .m = 300,
                   .k = 70,
                   .n = 78,
                   .sizes = {0, 0, 0, 2, 0},
                   .pad = 2,
                   .out_pad = 2});
  cases.push_back({.name = "k = 0", .m = 200, .k = 0, .n = 256, .sizes = {100, 50}});
  return cases;
}

std::vector<Case> tiny_cases() {
  std::vector<Case> cases;
  cases.push_back({.name = "tiny", .m = 150, .k = 72, .n = 136, .sizes = {1, 0, 70, 66}, .pad = 8});
  cases.push_back({.name = "tiny, off by one",
                   .m = 70,
                   .k = 136,
                   .n = 264,
                   .sizes = {20, 33},
                   .beta = 1.0F,
                   .out_pad = 1,
                   .out_shift = 1});
  return cases;
}

/// Few, for many repeats: short and long rings, tails, several tiles a block.
std::vector<Case> repeated_cases() {
  std::vector<Case> cases;
  cases.push_back(nan_all_around());
  cases.push_back({.name = "repeated, many tiles a block",
                   .m = 3000,
                   .k = 320,
                   .n = 1100,
                   .sizes = some_sizes(23, 300, 4)});
  return cases;
}

index_t row_named(const char* name) {
  for (index_t row = 0; row < rg::config_rows; ++row)
    if (std::strcmp(rg::config_row(row).name, name) == 0) return row;
  std::printf("FAILED: no config row %s\n", name);
  std::exit(2);
}

int failures = 0;
int checks = 0;
int repeats = 2;

/// Elements from line to line of an input: whole 16 bytes.
template <class In>
offset_t pitch_of(const Case& c, offset_t cols) {
  return rg::round_up(cols + c.pad, static_cast<offset_t>(16 / sizeof(In)));
}

/// Calls one variant on views of packed or padded buffers.
template <rg::Variant V, class In, class Out>
auto describe(const Case& c,
              rg::Layout layout,
              In* a,
              In* b,
              Out* d,
              const rg::Groups& groups,
              const rg::Options& options) {
  const offset_t g = V == rg::Variant::batch ? 5 : static_cast<offset_t>(c.sizes.size());
  const offset_t a_pitch = pitch_of<In>(c, c.k);
  const offset_t b_cols = layout == rg::Layout::nt ? c.k : c.n;
  const offset_t b_lines = layout == rg::Layout::nt ? c.n : c.k;
  const offset_t b_pitch = pitch_of<In>(c, b_cols);
  const offset_t d_pitch = c.n + c.out_pad;
  const bool b_transposed = layout == rg::Layout::nt;
  const rg::View<In, 3> rhs(
      b,
      {g, c.k, c.n},
      {b_lines * b_pitch, b_transposed ? 1 : b_pitch, b_transposed ? b_pitch : 1});
  if constexpr (V == rg::Variant::non_contracting) {
    return rg::describe(rg::View<In, 2>(a, {c.m, c.k}, {a_pitch, 1}),
                        rhs,
                        groups,
                        rg::View<Out, 2>(d, {c.m, c.n}, {d_pitch, 1}),
                        options);
  } else if constexpr (V == rg::Variant::contracting) {
    return rg::describe_contracting(rg::View<In, 2>(a, {c.m, c.k}, {a_pitch, 1}),
                                    rg::View<In, 2>(b, {c.m, c.n}, {pitch_of<In>(c, c.n), 1}),
                                    groups,
                                    rg::View<Out, 3>(d, {g, c.k, c.n}, {c.k * d_pitch, d_pitch, 1}),
                                    options);
  } else {
    return rg::describe_batch(rg::View<In, 3>(a, {g, c.m, c.k}, {c.m * a_pitch, a_pitch, 1}),
                              rhs,
                              groups,
                              rg::View<Out, 3>(d, {g, c.m, c.n}, {c.m * d_pitch, d_pitch, 1}),
                              options);
  }
}

template <rg::Variant V, class In, class Out, class E>
void check(const Case& c, const char* row_name, const E& epilogue, const float* bias) {
  const index_t row = row_named(row_name);
  const rg::Layout layout = rg::config_row(row).config.layout;
  const bool contracting = V == rg::Variant::contracting;
  const bool batch = V == rg::Variant::batch;
  const offset_t g = batch ? 5 : static_cast<offset_t>(c.sizes.size());
  const offset_t a_lines = batch ? g * c.m : c.m;
  const offset_t b_cols = layout == rg::Layout::nt ? c.k : c.n;
  const offset_t b_lines = contracting ? c.m : g * (layout == rg::Layout::nt ? c.n : c.k);
  const offset_t a_pitch = pitch_of<In>(c, c.k);
  const offset_t b_pitch = pitch_of<In>(c, b_cols);
  Buffer<In> a(static_cast<std::size_t>(a_lines * a_pitch));
  Buffer<In> b(static_cast<std::size_t>(b_lines * b_pitch));
  fill_noise<<<264, 256>>>(a.get(), a.elems(), 1);
  fill_noise<<<264, 256>>>(b.get(), b.elems(), 2);

  // The groups as the host sees them: sizes clamped to the rows that are left.
  const std::vector<std::int32_t> batch_sizes = {2, -1, 1};
  const std::vector<std::int32_t>& sizes = batch ? batch_sizes : c.sizes;
  std::vector<offset_t> ends;
  offset_t sum = 0;
  for (const std::int32_t size : sizes) {
    sum = std::min(sum + std::max<offset_t>(size, 0), batch ? g : c.m);
    ends.push_back(sum);
  }
  if (c.nan && a.elems() > 0 && b.elems() > 0) {
    const offset_t rows_per_slab = batch ? c.m : 1;
    const auto poison_rows = [&](offset_t begin, offset_t end) {
      plant_nan<<<264, 256>>>(
          a.get(), a_lines, c.k, a_pitch, begin * rows_per_slab, end * rows_per_slab);
      if (contracting) plant_nan<<<264, 256>>>(b.get(), b_lines, c.n, b_pitch, begin, end);
    };
    if (batch) {
      poison_rows(1, 2);
      poison_rows(sum, g);
    } else {
      for (std::size_t i = 1; i < ends.size(); i += 2) poison_rows(ends[i - 1], ends[i]);
      poison_rows(sum, c.m);
    }
    const offset_t slab_lines = layout == rg::Layout::nt ? c.n : c.k;
    if (!contracting)
      for (offset_t s = 1; s < g; s += 2)
        plant_nan<<<264, 256>>>(
            b.get(), b_lines, b_cols, b_pitch, s * slab_lines, (s + 1) * slab_lines);
  }

  const offset_t d_pitch = c.n + c.out_pad;
  const offset_t d_rows = contracting ? c.k : c.m;
  const offset_t d_slabs = V == rg::Variant::non_contracting ? 1 : g;
  constexpr offset_t guard = 1024;
  Expected e{};
  e.front = guard + c.out_shift;
  e.row_pitch = std::max<offset_t>(d_pitch, 1);
  e.slab_pitch = std::max<offset_t>(d_rows * d_pitch, 1);
  e.total = d_slabs * d_rows * d_pitch + 2 * guard;
  Buffer<Out> d(static_cast<std::size_t>(e.total));
  Buffer<Out> before(static_cast<std::size_t>(e.total));
  if (c.beta != 0) {
    fill_noise<<<264, 256>>>(before.get(), before.elems(), 3);
  } else {
    require(cudaMemset(before.get(), 0xFF, before.bytes()), "poison");  // NaN of every format
  }
  Buffer<std::int32_t> device_sizes(sizes.size());
  Buffer<offset_t> device_ends(ends.size());
  require(
      cudaMemcpy(device_sizes.get(), sizes.data(), device_sizes.bytes(), cudaMemcpyHostToDevice),
      "sizes");
  require(cudaMemcpy(device_ends.get(), ends.data(), device_ends.bytes(), cudaMemcpyHostToDevice),
          "ends");

  rg::Options options;
  options.alpha = c.alpha;
  options.beta = c.beta;
  options.tail = c.tail;
  options.allow_tf32 = true;
  options.config_row = row;
  const rg::GroupSizes groups(device_sizes.get(), static_cast<offset_t>(sizes.size()));
  const auto call = describe<V>(c, layout, a.get(), b.get(), d.get() + e.front, groups, options);
  e.problem = call.problem;
  e.a = a.get();
  e.b = b.get();
  e.got = d.get();
  e.before = before.get();
  e.ends = device_ends.get();
  e.groups = static_cast<index_t>(ends.size());
  e.live = sum;
  e.bias = bias;
  Buffer<Findings> findings(1);
  Buffer<Out> first(repeats > 2 ? d.elems() : 0);
  for (int repeat = 0; repeat < repeats; ++repeat) {
    ++checks;
    require(cudaMemcpy(d.get(), before.get(), d.bytes(), cudaMemcpyDeviceToDevice), "copy");
    require(cudaMemset(findings.get(), 0, sizeof(Findings)), "clear");
    const rg::Status status = rg::run(call, options, epilogue);
    if (!status.ok()) {
      std::printf("FAILED: %s, %s: %s\n", row_name, c.name, status.message().c_str());
      ++failures;
      return;
    }
    require(cudaDeviceSynchronize(), c.name);
    if (repeat > 1) {
      count_differences<<<264, 256>>>(first.get(), d.get(), d.elems(), &findings.get()->wrong);
      unsigned long long different = 0;
      require(cudaMemcpy(&different, findings.get(), sizeof different, cudaMemcpyDeviceToHost),
              "differences");
      if (different == 0) continue;
      std::printf("FAILED: %s %s, %s: repeat %d differs in %llu elements\n",
                  row_name,
                  rg::name_of(V),
                  c.name,
                  repeat,
                  different);
      ++failures;
      return;
    }
    if (repeats > 2)
      require(cudaMemcpy(first.get(), d.get(), d.bytes(), cudaMemcpyDeviceToDevice), "first");
    const double unit = std::is_same_v<Out, rg::bf16>   ? 0x1p-8
                        : std::is_same_v<Out, rg::fp16> ? 0x1p-11
                                                        : 0x1p-23;
    compare<In, Out><<<1056, 128>>>(e, unit, findings.get());
    Findings f{};
    require(cudaMemcpy(&f, findings.get(), sizeof f, cudaMemcpyDeviceToHost), "compare");
    if (f.wrong != 0) {
      const offset_t at = static_cast<offset_t>(f.first) - e.front;
      std::printf(
          "FAILED: %s %s %s→%s, %s: %llu wrong; slab %lld row %lld col %lld: got %g, want %g\n",
          row_name,
          rg::name_of(V),
          rg::name_of(rg::dtype_of<In>),
          rg::name_of(rg::dtype_of<Out>),
          c.name,
          f.wrong,
          static_cast<long long>(at / e.slab_pitch),
          static_cast<long long>(at % e.slab_pitch / e.row_pitch),
          static_cast<long long>(at % e.row_pitch),
          static_cast<double>(f.got),
          f.want);
      ++failures;
      return;
    }
  }
}

/// The Hopper rows of this program (the core rows) for a variant.
template <rg::Variant V, class In = rg::bf16>
std::vector<const char*> rows_for() {
  std::vector<const char*> names;
  for (index_t row = 0; row < rg::config_rows; ++row)
    if (rg::config_row(row).config.engine == rg::EngineId::tma_wgmma && rg::config_row(row).core &&
        (rg::config_row(row).variants & rg::bit_of(V)) != 0 &&
        (rg::config_row(row).input_dtypes & rg::bit_of(rg::dtype_of<In>)) != 0)
      names.push_back(rg::config_row(row).name);
  return names;
}

template <rg::Variant V, class In, class Out>
void check_all(const std::vector<Case>& cases) {
  for (const char* row : rows_for<V, In>())
    for (const Case& c : cases)
      if (!std::is_integral_v<In> || c.alpha == 1)  // integers take whole factors only
        check<V, In, Out>(c, row, rg::Identity{}, nullptr);
  std::fflush(stdout);
}

void check_epilogue(const std::vector<Case>& cases, const char* row) {
  for (const Case& c : cases) {
    const offset_t g = static_cast<offset_t>(c.sizes.size());
    Buffer<float> bias(static_cast<std::size_t>(g * c.n));
    fill_noise<<<264, 256>>>(bias.get(), bias.elems(), 4);
    check<rg::Variant::non_contracting, rg::bf16, rg::bf16>(
        c, row, rg::bias(rg::view(bias.get(), g, c.n)) | rg::relu(), bias.get());
  }
}

int check_everything(const std::vector<Case>& cases) {
  using rg::Variant;
  check_all<Variant::non_contracting, rg::bf16, rg::bf16>(cases);
  check_all<Variant::contracting, rg::bf16, rg::bf16>(cases);
  check_all<Variant::batch, rg::bf16, rg::bf16>(cases);
  check_all<Variant::contracting, rg::fp16, rg::fp16>(cases);
  check_all<Variant::non_contracting, rg::bf16, float>(cases);
  check_all<Variant::contracting, rg::bf16, float>(cases);
  check_all<Variant::non_contracting, float, float>(cases);
  check_all<Variant::batch, float, float>(cases);
  check_all<Variant::non_contracting, rg::fp8_e4m3fn, float>(cases);
  check_all<Variant::non_contracting, rg::fp8_e4m3fn, rg::bf16>(cases);
  check_all<Variant::batch, rg::fp8_e5m2, rg::bf16>(cases);
  check_all<Variant::non_contracting, std::int8_t, std::int32_t>(cases);
  check_all<Variant::batch, std::int8_t, std::int32_t>(cases);
  for (const char* row : rows_for<Variant::non_contracting>()) check_epilogue(cases, row);
  std::printf("%d checks, %d failed\n", checks, failures);
  return failures == 0 ? 0 : 1;
}

// --- Time
// ------------------------------------------------------------------------------------------

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

class Timer {
 public:
  Timer() : memory_((256U << 20U) / sizeof(uint4)), sink_(1) {
    require(cudaMemset(memory_.get(), 0, memory_.bytes()), "evict memory");
    require(cudaEventCreate(&start_), "event");
    require(cudaEventCreate(&stop_), "event");
  }
  template <class F>
  double microseconds(const F& call) {
    evict<<<1056, 256>>>(memory_.get(), memory_.elems(), sink_.get());
    require(cudaEventRecord(start_), "event");
    call();
    require(cudaEventRecord(stop_), "event");
    require(cudaEventSynchronize(stop_), "timed call");
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, start_, stop_), "event");
    return 1e3 * static_cast<double>(milliseconds);
  }

 private:
  Buffer<uint4> memory_;
  Buffer<std::uint32_t> sink_;
  cudaEvent_t start_ = nullptr;
  cudaEvent_t stop_ = nullptr;
};

/// One class of one shape against one dense bf16 product of cuBLAS of the same flops, interleaved.
template <rg::Variant V, class In = rg::bf16>
void time_shape(Timer& timer,
                cublasHandle_t blas,
                const char* row_name,
                offset_t m,
                offset_t k,
                offset_t n,
                offset_t g,
                bool skewed) {
  using rg::bf16;
  const bool contracting = V == rg::Variant::contracting;
  Case c{.name = "time", .m = m, .k = k, .n = n};
  double weights = 0;
  for (offset_t i = 0; i < g; ++i) weights += skewed ? 1.0 / static_cast<double>(1 + i) : 1.0;
  offset_t sum = 0;
  for (offset_t i = 0; i < g; ++i) {
    const double share = (skewed ? 1.0 / static_cast<double>(1 + (i * 7) % g) : 1.0) / weights;
    const offset_t size =
        i + 1 == g ? m - sum
                   : std::min(m - sum, static_cast<offset_t>(share * static_cast<double>(m)));
    c.sizes.push_back(static_cast<std::int32_t>(size));
    sum += size;
  }
  const index_t row = row_named(row_name);
  const rg::Layout layout = rg::config_row(row).config.layout;
  using Out = std::conditional_t<std::is_integral_v<In>, std::int32_t, bf16>;
  Buffer<In> a(static_cast<std::size_t>(m * k));
  Buffer<In> b(static_cast<std::size_t>(contracting ? m * n : g * k * n));
  // The dense product's operands; ours, too, where they are bf16.
  constexpr bool same = std::is_same_v<In, bf16>;
  Buffer<bf16> dense_a(same ? 0 : static_cast<std::size_t>(m * k));
  Buffer<bf16> dense_b(same ? 0 : static_cast<std::size_t>(contracting ? m * n : k * n));
  Buffer<bf16> dense_d(static_cast<std::size_t>(contracting ? k * n : m * n));
  fill_noise<<<1320, 256>>>(dense_a.get(), dense_a.elems(), 1);
  fill_noise<<<1320, 256>>>(dense_b.get(), dense_b.elems(), 2);
  const void* const blas_a = same ? static_cast<void*>(a.get()) : dense_a.get();
  const void* const blas_b = same ? static_cast<void*>(b.get()) : dense_b.get();
  Buffer<Out> d(static_cast<std::size_t>(contracting ? g * k * n : m * n));
  Buffer<std::int32_t> sizes(c.sizes.size());
  fill_noise<<<1320, 256>>>(a.get(), a.elems(), 1);
  fill_noise<<<1320, 256>>>(b.get(), b.elems(), 2);
  require(cudaMemcpy(sizes.get(), c.sizes.data(), sizes.bytes(), cudaMemcpyHostToDevice), "sizes");
  rg::Options options;
  const rg::GroupSizes groups(sizes.get(), g);
  const auto call = describe<V>(c, layout, a.get(), b.get(), d.get(), groups, options);
  const auto chosen = rg::make_plan(call, options);
  const bool is_chosen = chosen.ok() && chosen.value().kernel.row == row;
  options.config_row = row;
  const auto ours = [&] {
    const rg::Status status = rg::run(call, options);
    if (!status.ok()) std::printf("FAILED: %s\n", status.message().c_str());
  };
  const auto dense = [&] {
    const float one = 1;
    const float zero = 0;
    const auto i = [](offset_t v) { return static_cast<int>(v); };
    const offset_t depth = contracting ? m : k;
    const cublasStatus_t status = cublasGemmEx(blas,
                                               layout == rg::Layout::nt ? CUBLAS_OP_T : CUBLAS_OP_N,
                                               contracting ? CUBLAS_OP_T : CUBLAS_OP_N,
                                               i(n),
                                               i(contracting ? k : m),
                                               i(depth),
                                               &one,
                                               blas_b,
                                               CUDA_R_16BF,
                                               i(layout == rg::Layout::nt ? k : n),
                                               blas_a,
                                               CUDA_R_16BF,
                                               i(k),
                                               &zero,
                                               dense_d.get(),
                                               CUDA_R_16BF,
                                               i(n),
                                               CUBLAS_COMPUTE_32F,
                                               CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS)
      std::printf("FAILED: cublas %d\n", static_cast<int>(status));
  };
  std::vector<double> ours_us;
  std::vector<double> dense_us;
  constexpr int warm_up = 4;
  constexpr int rounds = 24;
  for (int r = 0; r < warm_up + rounds; ++r) {
    const double o = timer.microseconds(ours);
    const double t = timer.microseconds(dense);
    if (r < warm_up) continue;
    ours_us.push_back(o);
    dense_us.push_back(t);
  }
  const double o = median(ours_us);
  const double t = median(dense_us);
  const double flops =
      2.0 * static_cast<double>(m) * static_cast<double>(k) * static_cast<double>(n);
  const auto [least, most] = std::minmax_element(ours_us.begin(), ours_us.end());
  std::printf(
      "%-28s%s %lldx%lldx%lldx%lld %-8s ours %8.1f us (%.1f-%.1f) %6.1f TFLOP/s  dense %8.1f us "
      "%6.1f TFLOP/s  ratio %.3f\n",
      row_name,
      is_chosen ? "*" : " ",
      static_cast<long long>(m),
      static_cast<long long>(k),
      static_cast<long long>(n),
      static_cast<long long>(g),
      skewed ? "skewed" : "balanced",
      o,
      *least,
      *most,
      flops / o * 1e-6,
      t,
      flops / t * 1e-6,
      t / o);
  std::fflush(stdout);
}

int time_one(const char* row, const char* shape, bool skewed) {
  long long m = 0;
  long long k = 0;
  long long n = 0;
  long long g = 0;
  if (std::sscanf(shape, "%lld,%lld,%lld,%lld", &m, &k, &n, &g) != 4) return 2;
  Timer timer;
  cublasHandle_t blas = nullptr;
  if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS) return 2;
  const rg::ConfigRow& config = rg::config_row(row_named(row));
  if ((config.variants & rg::bit_of(rg::Variant::contracting)) != 0)
    time_shape<rg::Variant::contracting>(timer, blas, row, m, k, n, g, skewed);
  else if ((config.input_dtypes & rg::bit_of(rg::DType::e4m3fn)) != 0)
    time_shape<rg::Variant::non_contracting, rg::fp8_e4m3fn>(timer, blas, row, m, k, n, g, skewed);
  else if ((config.input_dtypes & rg::bit_of(rg::DType::s8)) != 0)
    time_shape<rg::Variant::non_contracting, std::int8_t>(timer, blas, row, m, k, n, g, skewed);
  else
    time_shape<rg::Variant::non_contracting>(timer, blas, row, m, k, n, g, skewed);
  static_cast<void>(cublasDestroy(blas));
  return failures == 0 ? 0 : 1;
}

int time_everything() {
  using rg::Variant;
  Timer timer;
  cublasHandle_t blas = nullptr;
  if (cublasCreate(&blas) != CUBLAS_STATUS_SUCCESS) return 2;
  struct Shape {
    offset_t m;
    offset_t k;
    offset_t n;
    offset_t g;
  };
  for (const Shape& s : {Shape{15360, 6144, 20480, 32},
                         Shape{8192, 7168, 4096, 32},
                         Shape{20480, 4096, 1536, 128},
                         Shape{10240, 2880, 2880, 128},
                         Shape{10240, 2048, 768, 128},
                         Shape{5120, 512, 512, 256},
                         Shape{1920, 5120, 1536, 160}})
    for (const bool skewed : {false, true}) {
      for (const char* row : rows_for<Variant::non_contracting>())
        time_shape<Variant::non_contracting>(timer, blas, row, s.m, s.k, s.n, s.g, skewed);
      for (const char* row : rows_for<Variant::contracting>())
        time_shape<Variant::contracting>(timer, blas, row, s.m, s.k, s.n, s.g, skewed);
      for (const char* row : rows_for<Variant::non_contracting, rg::fp8_e4m3fn>())
        time_shape<Variant::non_contracting, rg::fp8_e4m3fn>(
            timer, blas, row, s.m, s.k, s.n, s.g, skewed);
      for (const char* row : rows_for<Variant::non_contracting, std::int8_t>())
        time_shape<Variant::non_contracting, std::int8_t>(
            timer, blas, row, s.m, s.k, s.n, s.g, skewed);
    }
  // Rows a group: time grows without cliffs.
  for (const offset_t rows : {64, 128, 129, 192, 256, 257, 320, 384})
    for (const char* row : rows_for<Variant::non_contracting>())
      time_shape<Variant::non_contracting>(timer, blas, row, 32 * rows, 7168, 4096, 32, false);
  static_cast<void>(cublasDestroy(blas));
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "check";
  if (mode == "check") return check_everything(all_cases());
  if (mode == "tiny") return check_everything(tiny_cases());
  if (mode == "repeat") {
    repeats = argc > 2 ? std::atoi(argv[2]) : 1000;
    return check_everything(repeated_cases());
  }
  if (mode == "time" && argc == 2) return time_everything();
  if (mode == "time" && argc >= 4) return time_one(argv[2], argv[3], argc > 4);
  std::printf("modes: check; tiny; repeat [TIMES]; time [ROW M,K,N,G [skewed]]\n");
  return 2;
}
