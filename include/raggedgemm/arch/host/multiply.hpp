// SPDX-License-Identifier: Apache-2.0
// The host's inner loops: C[rows, cols] += A·B on packed panels, f32 for AVX-512, AVX2 and any CPU.
// Which one runs is decided once, at run time, so that a portable build is fast everywhere.
#pragma once

#include "raggedgemm/base/index.hpp"
#include "raggedgemm/base/wrapping.hpp"

#if RG_HOST_X86
#include <immintrin.h>
#endif

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::host {

// Panel format, the same for every instruction set: A in panels of 6 rows, [panel][k][6]; B in
// panels of 16 columns, [panel][k][16]. A 6x16 tile is 12 AVX2 accumulators of 8 floats; AVX-512
// takes two panels of each at once, 12x32 in 24 accumulators of 16.
inline constexpr index_t panel_rows = 6;
inline constexpr index_t panel_cols = 16;

/// Packed operands and the accumulator of one block tile.
template <class T>
struct Panels {
  const T* a;
  offset_t a_panel_elems;  ///< from one 6-row panel to the next
  const T* b;
  offset_t b_panel_elems;  ///< from one 16-column panel to the next
  T* c;                    ///< row-major, whole panels
  offset_t c_pitch;
  index_t row_panels;
  index_t col_panels;
  index_t depth;
};

/// Any CPU and any type.
template <class T>
void multiply_panels_generic(const Panels<T>& p) {
  for (index_t jp = 0; jp < p.col_panels; ++jp) {
    for (index_t ip = 0; ip < p.row_panels; ++ip) {
      const T* a = p.a + ip * p.a_panel_elems;
      const T* b = p.b + jp * p.b_panel_elems;
      T* c = p.c + offset_t{ip} * panel_rows * p.c_pitch + offset_t{jp} * panel_cols;
      T acc[panel_rows][panel_cols] = {};
      for (index_t k = 0; k < p.depth; ++k)
        for (index_t i = 0; i < panel_rows; ++i)
          for (index_t j = 0; j < panel_cols; ++j)
            acc[i][j] = detail::multiply_add(
                a[offset_t{k} * panel_rows + i], b[offset_t{k} * panel_cols + j], acc[i][j]);
      for (index_t i = 0; i < panel_rows; ++i)
        for (index_t j = 0; j < panel_cols; ++j)
          c[i * p.c_pitch + j] = detail::add(c[i * p.c_pitch + j], acc[i][j]);
    }
  }
}

#if RG_HOST_X86

__attribute__((target("avx2,fma"))) inline void multiply_panels_avx2(const Panels<float>& p) {
  for (index_t jp = 0; jp < p.col_panels; ++jp) {
    for (index_t ip = 0; ip < p.row_panels; ++ip) {
      const float* a = p.a + ip * p.a_panel_elems;
      const float* b = p.b + jp * p.b_panel_elems;
      float* c = p.c + offset_t{ip} * panel_rows * p.c_pitch + offset_t{jp} * panel_cols;
      __m256 acc[panel_rows][2];
      RG_UNROLL
      for (index_t i = 0; i < panel_rows; ++i) {
        acc[i][0] = _mm256_loadu_ps(c + i * p.c_pitch);
        acc[i][1] = _mm256_loadu_ps(c + i * p.c_pitch + 8);
      }
      for (index_t k = 0; k < p.depth; ++k) {
        const __m256 b0 = _mm256_loadu_ps(b);
        const __m256 b1 = _mm256_loadu_ps(b + 8);
        RG_UNROLL
        for (index_t i = 0; i < panel_rows; ++i) {
          const __m256 ai = _mm256_broadcast_ss(a + i);
          acc[i][0] = _mm256_fmadd_ps(ai, b0, acc[i][0]);
          acc[i][1] = _mm256_fmadd_ps(ai, b1, acc[i][1]);
        }
        a += panel_rows;
        b += panel_cols;
      }
      RG_UNROLL
      for (index_t i = 0; i < panel_rows; ++i) {
        _mm256_storeu_ps(c + i * p.c_pitch, acc[i][0]);
        _mm256_storeu_ps(c + i * p.c_pitch + 8, acc[i][1]);
      }
    }
  }
}

/// RowPanels x 2 panels at a time: 6 RowPanels x 32.
template <index_t RowPanels>
__attribute__((target("avx512f"))) inline void multiply_pair_avx512(const Panels<float>& p,
                                                                    index_t ip,
                                                                    index_t jp) {
  constexpr index_t rows = RowPanels * panel_rows;
  const float* a = p.a + ip * p.a_panel_elems;
  const float* b = p.b + jp * p.b_panel_elems;
  float* c = p.c + offset_t{ip} * panel_rows * p.c_pitch + offset_t{jp} * panel_cols;
  __m512 acc[rows][2];
  RG_UNROLL
  for (index_t i = 0; i < rows; ++i) {
    acc[i][0] = _mm512_loadu_ps(c + i * p.c_pitch);
    acc[i][1] = _mm512_loadu_ps(c + i * p.c_pitch + panel_cols);
  }
  for (index_t k = 0; k < p.depth; ++k) {
    const __m512 b0 = _mm512_loadu_ps(b);
    const __m512 b1 = _mm512_loadu_ps(b + p.b_panel_elems);
    RG_UNROLL
    for (index_t i = 0; i < rows; ++i) {
      const __m512 ai = _mm512_set1_ps(a[(i / panel_rows) * p.a_panel_elems + i % panel_rows]);
      acc[i][0] = _mm512_fmadd_ps(ai, b0, acc[i][0]);
      acc[i][1] = _mm512_fmadd_ps(ai, b1, acc[i][1]);
    }
    a += panel_rows;
    b += panel_cols;
  }
  RG_UNROLL
  for (index_t i = 0; i < rows; ++i) {
    _mm512_storeu_ps(c + i * p.c_pitch, acc[i][0]);
    _mm512_storeu_ps(c + i * p.c_pitch + panel_cols, acc[i][1]);
  }
}

__attribute__((target("avx512f"))) inline void multiply_panels_avx512(const Panels<float>& p) {
  const index_t even_rows = p.row_panels / 2 * 2;
  for (index_t jp = 0; jp < p.col_panels / 2 * 2; jp += 2) {
    for (index_t ip = 0; ip < even_rows; ip += 2) multiply_pair_avx512<2>(p, ip, jp);
    if (even_rows < p.row_panels) multiply_pair_avx512<1>(p, even_rows, jp);
  }
}

#endif  // RG_HOST_X86

enum class Isa { generic, avx2, avx512 };

/// The instruction set that this process uses.
inline Isa isa() {
#if RG_HOST_X86
  static const Isa best = __builtin_cpu_supports("avx512f") ? Isa::avx512
                          : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                              ? Isa::avx2
                              : Isa::generic;
  return best;
#else
  return Isa::generic;
#endif
}

inline const char* isa_name() {
  switch (isa()) {
    case Isa::avx512: return "avx512";
    case Isa::avx2: return "avx2";
    case Isa::generic: break;
  }
  return "generic";
}

template <class T>
void multiply_panels(const Panels<T>& p) {
  multiply_panels_generic(p);
}

inline void multiply_panels(const Panels<float>& p) {
#if RG_HOST_X86
  if (isa() == Isa::avx512) {
    multiply_panels_avx512(p);
    if (p.col_panels % 2 != 0) {  // an odd last panel of columns
      Panels<float> last = p;
      last.b += (p.col_panels - 1) * p.b_panel_elems;
      last.c += offset_t{p.col_panels - 1} * panel_cols;
      last.col_panels = 1;
      multiply_panels_avx2(last);
    }
    return;
  }
  if (isa() == Isa::avx2) return multiply_panels_avx2(p);
#endif
  multiply_panels_generic(p);
}

}  // namespace arch::host
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
