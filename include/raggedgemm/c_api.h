// SPDX-License-Identifier: Apache-2.0
/* The C interface: general ragged dots with dtypes, ranks and dimension numbers known at run time.
 * Link raggedgemm::compiled, or the shared library raggedgemm_c (option RAGGEDGEMM_BUILD_SHARED).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version as 10000 * major + 100 * minor + patch, and as text. */
int32_t raggedgemm_version(void);
const char* raggedgemm_version_text(void);

enum { raggedgemm_max_rank = 8 };

/* Element types: the values of raggedgemm::DType. All enumerations here are append-only. */
enum {
  raggedgemm_bf16 = 0,
  raggedgemm_f16 = 1,
  raggedgemm_f32 = 2,
  raggedgemm_f64 = 3,
  raggedgemm_s8 = 4,
  raggedgemm_s32 = 5,
  raggedgemm_e4m3fn = 6,
  raggedgemm_e5m2 = 7,
  raggedgemm_e4m3fnuz = 8,
  raggedgemm_e5m2fnuz = 9
};

/* Integer types of a group description: the values of raggedgemm::IndexType. */
enum {
  raggedgemm_index_s8 = 0,
  raggedgemm_index_s16 = 1,
  raggedgemm_index_s32 = 2,
  raggedgemm_index_s64 = 3,
  raggedgemm_index_u8 = 4,
  raggedgemm_index_u16 = 5,
  raggedgemm_index_u32 = 6,
  raggedgemm_index_u64 = 7
};

/* What a group description holds: the values of raggedgemm::GroupKind. */
enum {
  raggedgemm_groups_none = 0,
  raggedgemm_groups_sizes = 1,
  raggedgemm_groups_end_offsets = 2,
  raggedgemm_groups_offsets = 3
};

/* raggedgemm::Tail and raggedgemm::Platform. */
enum { raggedgemm_tail_zero = 0, raggedgemm_tail_keep = 1, raggedgemm_tail_compute = 2 };
enum {
  raggedgemm_platform_automatic = 0,
  raggedgemm_platform_host = 1,
  raggedgemm_platform_cuda = 2,
  raggedgemm_platform_hip = 3
};

/* An operand: device memory, extents, strides in elements. An output's data is written. */
typedef struct raggedgemm_tensor {
  void* data;
  int32_t dtype;
  int32_t rank;
  int64_t extent[raggedgemm_max_rank];
  int64_t stride[raggedgemm_max_rank];
} raggedgemm_tensor;

/* A group description of shape [g] or [prefix..., g], row-major. */
typedef struct raggedgemm_groups {
  const void* data;
  int32_t kind;
  int32_t index_type;
  int32_t rank;
  int64_t extent[raggedgemm_max_rank];
} raggedgemm_groups;

typedef struct raggedgemm_dims {
  int32_t count;
  int32_t dim[raggedgemm_max_rank];
} raggedgemm_dims;

/* The dimension numbers of XLA's and JAX's ragged_dot_general. */
typedef struct raggedgemm_dimension_numbers {
  raggedgemm_dims lhs_contracting;
  raggedgemm_dims rhs_contracting;
  raggedgemm_dims lhs_batch;
  raggedgemm_dims rhs_batch;
  raggedgemm_dims lhs_ragged;
  raggedgemm_dims rhs_group;
} raggedgemm_dimension_numbers;

/* Where the first fault of the group description is reported (device memory, optional). */
typedef struct raggedgemm_fault {
  int32_t code; /* 0 none, 1 negative size, 2 decreasing offsets, 3 sum past the extent */
  int64_t group;
  int64_t value;
} raggedgemm_fault;

/* Options; raggedgemm_default_options() fills in the defaults. */
typedef struct raggedgemm_options {
  size_t struct_bytes; /* sizeof this struct, as the caller compiled it */
  void* stream;
  double alpha;
  double beta;
  const raggedgemm_tensor* c; /* what beta scales; null: out itself */
  const float* group_alpha;
  int64_t group_offset; /* below 0: not a shard */
  raggedgemm_fault* fault;
  int32_t tail;
  int32_t platform;
  int32_t require_fast;
  int32_t config_row; /* below 0: selection decides */
  void* workspace;
  int64_t workspace_bytes;
  /* Device memory, or null. Gather: index i of lhs's ragged dimension is read at lhs_index[i], as
   * zero where there is no such index. Scatter: row i of the product goes to row out_index[i] of
   * out, and nowhere where there is no such row. ragged_extent: the entries of lhs_index; below 0:
   * as the other operands say. */
  const int32_t* lhs_index;
  const int32_t* out_index;
  int64_t ragged_extent;
  int32_t allow_tf32;  /* not 0: f32 operands may be rounded to tf32 */
  int32_t whole_depth; /* not 0: the workspace is not for parts of the depth */
} raggedgemm_options;

/* The outcome of a call: code 0 is success; the values are those of raggedgemm::StatusCode. The
 * strings are static. */
typedef struct raggedgemm_status {
  int32_t code;
  const char* name;
  const char* operand;
  int64_t got;
  int64_t needed;
  const char* advice;
} raggedgemm_status;

raggedgemm_options raggedgemm_default_options(void);

/* Enqueues a general ragged dot on options->stream (null options: the defaults). One launch, no
 * allocation, no synchronisation. See raggedgemm/ragged_dot_general.hpp for the semantics. */
raggedgemm_status raggedgemm_ragged_dot_general(const raggedgemm_tensor* lhs,
                                                const raggedgemm_tensor* rhs,
                                                const raggedgemm_groups* groups,
                                                const raggedgemm_tensor* out,
                                                const raggedgemm_dimension_numbers* dims,
                                                const raggedgemm_options* options);

/* Device memory that the call would use of options->workspace_bytes (as much as is useful: pass
 * INT64_MAX), or -1 when it would be refused. options->workspace is not looked at. */
int64_t raggedgemm_workspace_bytes(const raggedgemm_tensor* lhs,
                                   const raggedgemm_tensor* rhs,
                                   const raggedgemm_groups* groups,
                                   const raggedgemm_tensor* out,
                                   const raggedgemm_dimension_numbers* dims,
                                   const raggedgemm_options* options);

/* What would run and why, into buffer (always terminated); returns the length of the whole text. */
size_t raggedgemm_explain(const raggedgemm_tensor* lhs,
                          const raggedgemm_tensor* rhs,
                          const raggedgemm_groups* groups,
                          const raggedgemm_tensor* out,
                          const raggedgemm_dimension_numbers* dims,
                          const raggedgemm_options* options,
                          char* buffer,
                          size_t buffer_bytes);

#ifdef __cplusplus
}
#endif
