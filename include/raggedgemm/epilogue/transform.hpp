// SPDX-License-Identifier: Apache-2.0
// The epilogue interface, its neutral element, and how to chain two of them with `|`.
// An epilogue transforms the accumulator on its way out, in f32, before the one rounding.
#pragma once

#include <type_traits>

#include "raggedgemm/base/chunk.hpp"
#include "raggedgemm/base/index.hpp"

namespace raggedgemm {

/// Where a chunk lies in the output: its group (or batch), row and first column.
struct OutputPosition {
  offset_t slab = 0;
  offset_t row = 0;
  offset_t col = 0;
};

/// Base of every epilogue. An epilogue is a trivially copyable type (it travels as a kernel
/// parameter; nvcc wants it outside unnamed namespaces) with one member, callable on host and
/// device for any chunk width:
///
///     template <class T, int Width>
///     RG_HOST_DEVICE Chunk<T, Width> transform(Chunk<T, Width>, const OutputPosition&) const;
///
/// A chunk may reach past the last column at the right edge of the output: values computed there
/// are not stored, but memory indexed by column must be guarded (see Bias). Rows that belong to no
/// group are not transformed.
struct Epilogue {};

/// Changes nothing.
struct Identity : Epilogue {
  template <class T, int Width>
  RG_HOST_DEVICE Chunk<T, Width> transform(Chunk<T, Width> chunk, const OutputPosition&) const {
    return chunk;
  }
};

/// First `First`, then `Second`.
template <class First, class Second>
struct Chain : Epilogue {
  First first;
  Second second;

  constexpr Chain(First f, Second s) : first(f), second(s) {}

  template <class T, int Width>
  RG_HOST_DEVICE Chunk<T, Width> transform(Chunk<T, Width> chunk, const OutputPosition& at) const {
    return second.transform(first.transform(chunk, at), at);
  }
};

template <class First, class Second>
requires(std::is_base_of_v<Epilogue, First>&&
             std::is_base_of_v<Epilogue, Second>) constexpr Chain<First, Second>
operator|(First first, Second second) {
  return {first, second};
}

/// Applies a plain functor `T f(T)` to every element.
template <class F>
struct Elementwise : Epilogue {
  F function;

  constexpr explicit Elementwise(F f) : function(f) {}

  RG_EXEC_CHECK_DISABLE
  template <class T, int Width>
  RG_HOST_DEVICE Chunk<T, Width> transform(Chunk<T, Width> chunk, const OutputPosition&) const {
    RG_UNROLL
    for (int v = 0; v < Width; ++v) chunk[v] = function(chunk[v]);
    return chunk;
  }
};

/// Adapts a functor (a named type; for nvcc its call operator is `__host__ __device__`).
template <class F>
constexpr Elementwise<F> elementwise(F function) {
  return Elementwise<F>(function);
}

}  // namespace raggedgemm
