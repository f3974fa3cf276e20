// SPDX-License-Identifier: Apache-2.0
// Tensor maps, made on the host: what the copy engine needs to find boxes of an operand.
// The driver's encoder is found through the runtime, so nothing links to libcuda.
#pragma once

#include "raggedgemm/arch/sm90/tma_limits.hpp"
#include "raggedgemm/base/status.hpp"

#if RG_PLATFORM_CUDA
#include <cuda.h>
#include <cuda_runtime.h>
#endif

namespace raggedgemm {
inline namespace RG_PLATFORM {
namespace arch::sm90 {

#if RG_PLATFORM_CUDA

/// Elements of one 128-byte row of a swizzled box.
constexpr index_t box_cols(DType dtype) { return 128 / bytes_of(dtype); }

/// A tensor map over a whole operand. MN-major operands whose contiguous extent is a multiple of 64
/// (16-bit elements) get a map that cuts it into chunks of 64, so that one copy brings all chunks
/// of a tile.
struct OperandMap {
  CUtensorMap map;
  bool chunked;  ///< coordinates are (0, line, chunk, slab), else (element, line, 0, slab)
};

/// A tensor map over a whole output, in boxes of 64 rows of 128 bytes; coordinates (column, row,
/// slab).
struct OutputMap {
  CUtensorMap map;
  bool usable;  ///< false: the copy engine cannot store this output, and `map` is empty
  bool has_c;   ///< the call reads C
  /// Rows end at a multiple of 16 bytes. Where they don't, a box that holds their end is not to be
  /// stored: on an H200, a few of many such boxes wrote past it.
  bool whole_units;
  bool in_units;  ///< rows begin at multiples of 16 bytes, and their elements lie together
};
inline constexpr index_t output_box_rows = 64;

namespace detail {

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

/// nullptr when the driver has none. Found once; the function is the same for every device.
inline EncodeTiled encode_tiled() noexcept {
  static const EncodeTiled function = []() noexcept -> EncodeTiled {
    constexpr unsigned introduced = 12000;  // CUDA version, as CUDA_VERSION counts
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
    if (cudaGetDriverEntryPointByVersion(
            "cuTensorMapEncodeTiled", &found, introduced, cudaEnableDefault, &result) !=
            cudaSuccess ||
        result != cudaDriverEntryPointSuccess) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    return reinterpret_cast<EncodeTiled>(found);
  }();
  return function;
}

constexpr CUtensorMapDataType type_of(DType dtype) {
  switch (dtype) {
    case DType::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    case DType::f16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    case DType::f32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    case DType::s32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
    default: return CU_TENSOR_MAP_DATA_TYPE_UINT8;  // 8-bit elements, which nothing converts
  }
}

/// Makes a map of `rank` dimensions (4 at most) in 128-byte swizzled boxes.
inline Status encode(CUtensorMap& map,
                     const char* operand,
                     CUtensorMapDataType type,
                     cuuint32_t rank,
                     const void* data,
                     const cuuint64_t* extents,
                     const cuuint64_t* strides,
                     const cuuint32_t* box,
                     CUtensorMapL2promotion promotion) noexcept {
  const EncodeTiled driver_encode = encode_tiled();
  if (driver_encode == nullptr)
    return {StatusCode::vendor_error, operand, 0, 1, "the driver has no cuTensorMapEncodeTiled"};
  const cuuint32_t element_strides[4] = {1, 1, 1, 1};
  const CUresult result = driver_encode(&map,
                                        type,
                                        rank,
                                        const_cast<void*>(data),
                                        extents,
                                        strides,
                                        box,
                                        element_strides,
                                        CU_TENSOR_MAP_INTERLEAVE_NONE,
                                        CU_TENSOR_MAP_SWIZZLE_128B,
                                        promotion,
                                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS) return {};
  return {StatusCode::vendor_error,
          operand,
          static_cast<std::int64_t>(result),
          0,
          "cuTensorMapEncodeTiled refused the operand; force another config row"};
}

}  // namespace detail

/// Makes the map of an operand with boxes of 128 contiguous bytes, swizzled, by `box_lines` lines,
/// and `box_chunks` such boxes a copy where the map is chunked. f32 is rounded to tf32 on its way.
///
/// Requires: why_not_tma(t) == nullptr and a 16-byte aligned address (selection checks both).
/// Guarantees: elements outside the operand read as zero. Errors: vendor_error.
inline Status make_operand_map(OperandMap& out,
                               const char* operand,
                               DType dtype,
                               const void* data,
                               const TmaOperand& t,
                               index_t box_lines,
                               index_t box_chunks) noexcept {
  const offset_t elem_bytes = bytes_of(dtype);
  const offset_t cols = box_cols(dtype);
  const auto bytes = [elem_bytes](offset_t elems) {
    return static_cast<cuuint64_t>(elems * elem_bytes);
  };
  // A dimension of one element takes no step: any legal stride will do.
  const cuuint64_t pitch = bytes(t.lines > 1 ? t.pitch : round_up(t.contiguous, offset_t{16}));
  const cuuint64_t slab_pitch = t.slabs > 1 ? bytes(t.slab_pitch) : pitch;
  const auto contiguous = static_cast<cuuint64_t>(t.contiguous);
  const auto lines = static_cast<cuuint64_t>(t.lines);
  const auto slabs = static_cast<cuuint64_t>(t.slabs);
  out.chunked = box_chunks > 1 && t.contiguous % cols == 0;
  const cuuint64_t extents[4] = {out.chunked ? static_cast<cuuint64_t>(cols) : contiguous,
                                 lines,
                                 out.chunked ? contiguous / static_cast<cuuint64_t>(cols) : 1,
                                 slabs};
  const cuuint64_t strides[3] = {pitch, out.chunked ? bytes(cols) : pitch, slab_pitch};
  const cuuint32_t box[4] = {static_cast<cuuint32_t>(cols),
                             static_cast<cuuint32_t>(box_lines),
                             static_cast<cuuint32_t>(out.chunked ? box_chunks : 1),
                             1};
  const CUtensorMapDataType type =
      dtype == DType::f32 ? CU_TENSOR_MAP_DATA_TYPE_TFLOAT32 : detail::type_of(dtype);
  return detail::encode(
      out.map, operand, type, 4, data, extents, strides, box, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
}

/// Makes the map of an output of 16-bit, f32 or s32 elements.
///
/// Requires: why_not_tma_store() == nullptr. Errors: vendor_error.
inline Status make_output_map(OutputMap& out,
                              DType dtype,
                              void* data,
                              const Strides& stride,
                              offset_t rows,
                              offset_t cols,
                              offset_t slabs) noexcept {
  const offset_t elem_bytes = bytes_of(dtype);
  const auto bytes = [elem_bytes](offset_t elems) {
    return static_cast<cuuint64_t>(elems * elem_bytes);
  };
  const cuuint64_t pitch = bytes(rows > 1 ? stride.row : round_up(cols, offset_t{8}));
  const bool has_slabs = slabs > 1 && stride.slab != 0;
  const cuuint64_t extents[3] = {static_cast<cuuint64_t>(cols),
                                 static_cast<cuuint64_t>(rows),
                                 static_cast<cuuint64_t>(has_slabs ? slabs : 1)};
  const cuuint64_t strides[2] = {pitch, has_slabs ? bytes(stride.slab) : pitch};
  const cuuint32_t box[3] = {
      static_cast<cuuint32_t>(box_cols(dtype)), static_cast<cuuint32_t>(output_box_rows), 1};
  const Status status = detail::encode(out.map,
                                       "out",
                                       detail::type_of(dtype),
                                       3,
                                       data,
                                       extents,
                                       strides,
                                       box,
                                       CU_TENSOR_MAP_L2_PROMOTION_NONE);
  out.usable = status.ok();
  return status;
}

#endif

}  // namespace arch::sm90
}  // namespace RG_PLATFORM
}  // namespace raggedgemm
