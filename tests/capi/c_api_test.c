// SPDX-License-Identifier: Apache-2.0
/* The C interface from C11: a call of each variant, refusals and their text, options of an older
 * caller, explain and version. Runs on the host's kernels whatever the platform, so it needs no
 * device. With C_API_LIBRARY (a path) defined the functions come from the shared library by dlopen.
 */
#if defined(C_API_LIBRARY)
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "raggedgemm/c_api.h"

static int failures = 0;
static int checks = 0;

#define CHECK(condition)                                               \
  do {                                                                 \
    ++checks;                                                          \
    if (!(condition)) {                                                \
      ++failures;                                                      \
      printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                  \
  } while (0)

/* The functions under test, linked or loaded. */
typedef struct api {
  int32_t (*version)(void);
  const char* (*version_text)(void);
  raggedgemm_options (*default_options)(void);
  raggedgemm_status (*ragged_dot_general)(const raggedgemm_tensor*,
                                          const raggedgemm_tensor*,
                                          const raggedgemm_groups*,
                                          const raggedgemm_tensor*,
                                          const raggedgemm_dimension_numbers*,
                                          const raggedgemm_options*);
  int64_t (*workspace_bytes)(const raggedgemm_tensor*,
                             const raggedgemm_tensor*,
                             const raggedgemm_groups*,
                             const raggedgemm_tensor*,
                             const raggedgemm_dimension_numbers*,
                             const raggedgemm_options*);
  size_t (*explain)(const raggedgemm_tensor*,
                    const raggedgemm_tensor*,
                    const raggedgemm_groups*,
                    const raggedgemm_tensor*,
                    const raggedgemm_dimension_numbers*,
                    const raggedgemm_options*,
                    char*,
                    size_t);
} api;

static api load(void) {
  api a;
#if defined(C_API_LIBRARY)
  void* library = dlopen(C_API_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    exit(1);
  }
#define LOAD(name)                                            \
  do {                                                        \
    void* symbol = dlsym(library, "raggedgemm_" #name);       \
    if (symbol == NULL) {                                     \
      printf("raggedgemm_" #name " is not in the library\n"); \
      exit(1);                                                \
    }                                                         \
    memcpy(&a.name, &symbol, sizeof symbol);                  \
  } while (0)
#else
#define LOAD(name) a.name = &raggedgemm_##name
#endif
  LOAD(version);
  LOAD(version_text);
  LOAD(default_options);
  LOAD(ragged_dot_general);
  LOAD(workspace_bytes);
  LOAD(explain);
  return a;
}

enum { m = 6, k = 3, n = 4, g = 3, b = 4 };

/* A row-major tensor. */
static raggedgemm_tensor tensor(void* data, int32_t dtype, int32_t rank, const int64_t* extent) {
  raggedgemm_tensor t;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.dtype = dtype;
  t.rank = rank;
  int64_t step = 1;
  for (int32_t d = rank - 1; d >= 0; --d) {
    t.extent[d] = extent[d];
    t.stride[d] = step;
    step *= extent[d];
  }
  return t;
}

static raggedgemm_groups sizes_of(const int32_t* data, int64_t count) {
  raggedgemm_groups groups;
  memset(&groups, 0, sizeof groups);
  groups.data = data;
  groups.kind = raggedgemm_groups_sizes;
  groups.index_type = raggedgemm_index_s32;
  groups.rank = 1;
  groups.extent[0] = count;
  return groups;
}

static raggedgemm_dims dims1(int32_t dim) {
  raggedgemm_dims dims;
  memset(&dims, 0, sizeof dims);
  dims.count = 1;
  dims.dim[0] = dim;
  return dims;
}

/* x [m, k] · y [g, k, n]; sizes 2, 0, 3: the last of 6 rows belongs to no group. */
typedef struct problem {
  float x[m * k];
  float y[g * k * n];
  float out[m * n];
  int32_t sizes[g];
  raggedgemm_tensor lhs, rhs, result;
  raggedgemm_groups groups;
  raggedgemm_dimension_numbers dims;
} problem;

static void set_up(problem* p) {
  memset(p, 0, sizeof *p);
  for (int i = 0; i < m * k; ++i) p->x[i] = (float)(i % 7 - 3);
  for (int i = 0; i < g * k * n; ++i) p->y[i] = (float)(i % 5 - 2);
  for (int i = 0; i < m * n; ++i) p->out[i] = -77.0F;
  p->sizes[0] = 2;
  p->sizes[2] = 3;
  p->lhs = tensor(p->x, raggedgemm_f32, 2, (int64_t[]){m, k});
  p->rhs = tensor(p->y, raggedgemm_f32, 3, (int64_t[]){g, k, n});
  p->result = tensor(p->out, raggedgemm_f32, 2, (int64_t[]){m, n});
  p->groups = sizes_of(p->sizes, g);
  p->dims.lhs_contracting = dims1(1);
  p->dims.rhs_contracting = dims1(1);
  p->dims.lhs_ragged = dims1(0);
  p->dims.rhs_group = dims1(0);
}

static int untouched(const problem* p) {
  for (int i = 0; i < m * n; ++i)
    if (p->out[i] != -77.0F) return 0;
  return 1;
}

/* Whether out is alpha·product + beta·before. */
static int is_product(const problem* p, float alpha, float before) {
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < n; ++col) {
      const int group = row < 2 ? 0 : row < 5 ? 2 : -1;
      float sum = 0;
      for (int i = 0; i < k && group >= 0; ++i)
        sum += p->x[row * k + i] * p->y[(group * k + i) * n + col];
      if (p->out[row * n + col] != alpha * sum + before) return 0;
    }
  return 1;
}

static raggedgemm_options host_options(const api* a) {
  raggedgemm_options options = a->default_options();
  options.platform = raggedgemm_platform_host;
  return options;
}

static raggedgemm_status run(const api* a, const problem* p, const raggedgemm_options* options) {
  return a->ragged_dot_general(&p->lhs, &p->rhs, &p->groups, &p->result, &p->dims, options);
}

static void test_version(const api* a) {
  char text[64];
  const int32_t v = a->version();
  snprintf(text, sizeof text, "%d.%d.%d", v / 10000, v / 100 % 100, v % 100);
  CHECK(v > 0);
  CHECK(strcmp(text, a->version_text()) == 0);
}

static void test_defaults(const api* a) {
  const raggedgemm_options options = a->default_options();
  CHECK(options.struct_bytes == sizeof(raggedgemm_options));
  CHECK(options.alpha == 1.0 && options.beta == 0.0);
  CHECK(options.group_offset == -1 && options.config_row == -1);
  CHECK(options.lhs_index == NULL && options.out_index == NULL && options.ragged_extent == -1);
  CHECK(options.allow_tf32 == 0 && options.whole_depth == 0);
  CHECK(options.tail == raggedgemm_tail_zero);
  CHECK(options.platform == raggedgemm_platform_automatic);
  CHECK(options.stream == NULL && options.c == NULL && options.group_alpha == NULL &&
        options.fault == NULL && options.workspace == NULL);
}

static void test_non_contracting(const api* a) {
  problem p;
  set_up(&p);
  raggedgemm_options options = host_options(a);
  raggedgemm_status status = run(a, &p, &options);
  CHECK(status.code == 0);
  CHECK(strcmp(status.name, "ok") == 0);
  CHECK(is_product(&p, 1, 0));
  CHECK(a->workspace_bytes(&p.lhs, &p.rhs, &p.groups, &p.result, &p.dims, &options) == 0);

  set_up(&p);
  options.alpha = 2;
  options.beta = -1;
  CHECK(run(a, &p, &options).code == 0);
  CHECK(is_product(&p, 2, 77));

  set_up(&p);
  options = host_options(a);
  options.tail = raggedgemm_tail_keep;
  raggedgemm_fault fault = {9, 9, 9};
  options.fault = &fault;
  p.sizes[1] = -4;
  CHECK(run(a, &p, &options).code == 0);
  CHECK(p.out[5 * n] == -77.0F && p.out[4 * n] != -77.0F);
  CHECK(fault.code == 1 && fault.group == 1 && fault.value == -4);
}

static void test_contracting(const api* a) {
  /* x [m, k], y [m, n] → [g, k, n] */
  float x[m * k], y[m * n], out[g * k * n];
  const int32_t sizes[g] = {2, 0, 3};
  for (int i = 0; i < m * k; ++i) x[i] = (float)(i % 7 - 3);
  for (int i = 0; i < m * n; ++i) y[i] = (float)(i % 5 - 2);
  for (int i = 0; i < g * k * n; ++i) out[i] = -77.0F;
  const raggedgemm_tensor lhs = tensor(x, raggedgemm_f32, 2, (int64_t[]){m, k});
  const raggedgemm_tensor rhs = tensor(y, raggedgemm_f32, 2, (int64_t[]){m, n});
  const raggedgemm_tensor result = tensor(out, raggedgemm_f32, 3, (int64_t[]){g, k, n});
  const raggedgemm_groups groups = sizes_of(sizes, g);
  raggedgemm_dimension_numbers dims;
  memset(&dims, 0, sizeof dims);
  dims.lhs_contracting = dims1(0);
  dims.rhs_contracting = dims1(0);
  dims.lhs_ragged = dims1(0);
  const raggedgemm_options options = host_options(a);
  CHECK(a->ragged_dot_general(&lhs, &rhs, &groups, &result, &dims, &options).code == 0);
  for (int group = 0; group < g; ++group)
    for (int i = 0; i < k; ++i)
      for (int col = 0; col < n; ++col) {
        float sum = 0;
        for (int row = group == 0 ? 0 : 2; row < (group == 0 ? 2 : group == 1 ? 2 : 5); ++row)
          sum += x[row * k + i] * y[row * n + col];
        CHECK(out[(group * k + i) * n + col] == sum);
      }
}

static void test_batch(const api* a) {
  /* s8 operands: x [b, m, k], y [b, k, n] → s32 [b, m, n], three of four batches live */
  int8_t x[b * m * k], y[b * k * n];
  int32_t out[b * m * n];
  const int32_t sizes[2] = {1, 2};
  for (int i = 0; i < b * m * k; ++i) x[i] = (int8_t)(i * 37 % 256 - 128);
  for (int i = 0; i < b * k * n; ++i) y[i] = (int8_t)(i * 91 % 256 - 128);
  for (int i = 0; i < b * m * n; ++i) out[i] = -77;
  const raggedgemm_tensor lhs = tensor(x, raggedgemm_s8, 3, (int64_t[]){b, m, k});
  const raggedgemm_tensor rhs = tensor(y, raggedgemm_s8, 3, (int64_t[]){b, k, n});
  const raggedgemm_tensor result = tensor(out, raggedgemm_s32, 3, (int64_t[]){b, m, n});
  const raggedgemm_groups groups = sizes_of(sizes, 2);
  raggedgemm_dimension_numbers dims;
  memset(&dims, 0, sizeof dims);
  dims.lhs_contracting = dims1(2);
  dims.rhs_contracting = dims1(1);
  dims.lhs_batch = dims1(0);
  dims.rhs_batch = dims1(0);
  dims.lhs_ragged = dims1(0);
  const raggedgemm_options options = host_options(a);
  CHECK(a->ragged_dot_general(&lhs, &rhs, &groups, &result, &dims, &options).code == 0);
  for (int batch = 0; batch < b; ++batch)
    for (int row = 0; row < m; ++row)
      for (int col = 0; col < n; ++col) {
        int32_t sum = 0;
        for (int i = 0; i < k && batch < 3; ++i)
          sum += (int32_t)x[(batch * m + row) * k + i] * y[(batch * k + i) * n + col];
        CHECK(out[(batch * m + row) * n + col] == sum);
      }
}

static void test_indices(const api* a) {
  /* Four product rows, gathered from six and scattered to six; entries outside count for nothing.
   */
  problem p;
  const int32_t lhs_index[4] = {5, -1, 0, m};
  const int32_t out_index[4] = {1, m, 0, 5};
  raggedgemm_options options = host_options(a);
  options.lhs_index = lhs_index;
  options.out_index = out_index;
  options.ragged_extent = 4;
  set_up(&p);
  p.sizes[0] = 1; /* row 0 is group 0's, rows 1 to 3 are group 2's */
  CHECK(run(a, &p, &options).code == 0);
  for (int row = 0; row < m; ++row)
    for (int col = 0; col < n; ++col) {
      float needed = row == 5 ? 0.0F : -77.0F; /* row 5: the lhs row that does not exist */
      if (row <= 1) {
        needed = 0;
        for (int i = 0; i < k; ++i)
          needed += p.x[(row == 1 ? 5 : 0) * k + i] * p.y[((row == 1 ? 0 : 2) * k + i) * n + col];
      }
      CHECK(p.out[row * n + col] == needed);
    }
  options.ragged_extent = -1; /* then out's rows are the product's */
  options.out_index = NULL;
  p.result.extent[0] = 4;
  p.sizes[0] = 4;
  CHECK(run(a, &p, &options).code == 0);
  for (int col = 0; col < n; ++col) CHECK(p.out[1 * n + col] == 0);
  options.ragged_extent = 5;
  set_up(&p);
  CHECK(strcmp(run(a, &p, &options).operand, "out") == 0);
  options.lhs_index = (const int32_t*)(const void*)((const char*)lhs_index + 2);
  options.ragged_extent = -1;
  CHECK(strcmp(run(a, &p, &options).operand, "options.lhs_index") == 0);
  CHECK(untouched(&p));
}

static void test_refusals(const api* a) {
  problem p;
  raggedgemm_options options = host_options(a);

  set_up(&p);
  p.rhs.extent[1] = k + 1;
  raggedgemm_status status = run(a, &p, &options);
  CHECK(status.code != 0);
  CHECK(strcmp(status.name, "dimension_numbers") == 0);
  CHECK(strcmp(status.operand, "rhs contracting extent") == 0);
  CHECK(status.got == k + 1 && status.needed == k);
  CHECK(strlen(status.advice) > 0);
  CHECK(a->workspace_bytes(&p.lhs, &p.rhs, &p.groups, &p.result, &p.dims, &options) == -1);
  CHECK(untouched(&p));

  set_up(&p);
  CHECK(strcmp(a->ragged_dot_general(NULL, &p.rhs, &p.groups, &p.result, &p.dims, &options).operand,
               "lhs") == 0);
  CHECK(strcmp(a->ragged_dot_general(&p.lhs, &p.rhs, NULL, &p.result, &p.dims, &options).name,
               "null_pointer") == 0);
  CHECK(strcmp(a->ragged_dot_general(&p.lhs, &p.rhs, &p.groups, &p.result, NULL, &options).operand,
               "dims") == 0);

  /* Values outside the enumerations, and nonsense counts, from a language without types. */
  const int32_t odd[] = {-1, 10, 99, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < sizeof odd / sizeof odd[0]; ++i) {
    set_up(&p);
    p.lhs.dtype = odd[i];
    status = run(a, &p, &options);
    CHECK(strcmp(status.name, "unsupported_option") == 0 &&
          strcmp(status.operand, "lhs.dtype") == 0);
    set_up(&p);
    p.groups.index_type = odd[i];
    CHECK(strcmp(run(a, &p, &options).name, "group_sizes_not_integer") == 0);
    set_up(&p);
    p.groups.kind = odd[i];
    CHECK(strcmp(run(a, &p, &options).operand, "groups.kind") == 0);
    set_up(&p);
    p.lhs.rank = odd[i];
    CHECK(run(a, &p, &options).code != 0);
    set_up(&p);
    p.result.rank = odd[i];
    CHECK(run(a, &p, &options).code != 0);
    set_up(&p);
    p.groups.rank = odd[i];
    CHECK(run(a, &p, &options).code != 0);
    set_up(&p);
    p.dims.lhs_ragged.count = odd[i];
    CHECK(strcmp(run(a, &p, &options).name, "ragged_dim_count") == 0);
    set_up(&p);
    p.dims.lhs_contracting.count = odd[i];
    CHECK(run(a, &p, &options).code != 0);
    set_up(&p);
    p.dims.rhs_group.dim[0] = odd[i];
    CHECK(run(a, &p, &options).code != 0);
    CHECK(untouched(&p));
    set_up(&p);
    options.tail = odd[i];
    CHECK(strcmp(run(a, &p, &options).operand, "options.tail") == 0);
    options = host_options(a);
    options.platform = odd[i];
    CHECK(strcmp(run(a, &p, &options).operand, "options.platform") == 0);
    options = host_options(a);
    CHECK(untouched(&p));
  }

  set_up(&p);
  p.result.dtype = raggedgemm_s8;
  CHECK(strcmp(run(a, &p, &options).name, "unsupported_dtypes") == 0);
  set_up(&p);
  p.lhs.extent[0] = -1;
  p.result.extent[0] = -1;
  CHECK(strcmp(run(a, &p, &options).name, "negative_extent") == 0);
  set_up(&p);
  p.lhs.data = NULL;
  CHECK(strcmp(run(a, &p, &options).name, "null_pointer") == 0);
  options.config_row = 1000;
  set_up(&p);
  CHECK(strcmp(run(a, &p, &options).name, "config_not_applicable") == 0);
  CHECK(untouched(&p));
}

static void test_alignment(const api* a) {
  /* Addresses that no element can have: a device would fault, and lose its context, on them. */
  problem p;
  raggedgemm_options options = host_options(a);
  set_up(&p);
  p.lhs.data = (char*)p.x + 2;
  raggedgemm_status status = run(a, &p, &options);
  CHECK(strcmp(status.name, "misaligned") == 0 && strcmp(status.operand, "lhs") == 0);
  CHECK(status.got == 2 && status.needed == 4);
  set_up(&p);
  p.rhs.data = (char*)p.y + 1;
  CHECK(strcmp(run(a, &p, &options).operand, "rhs") == 0);
  set_up(&p);
  p.result.data = (char*)p.out + 3;
  CHECK(strcmp(run(a, &p, &options).operand, "out") == 0);
  set_up(&p);
  p.groups.data = (char*)p.sizes + 2;
  CHECK(strcmp(run(a, &p, &options).operand, "group_sizes") == 0);
  set_up(&p);
  options.beta = 1;
  raggedgemm_tensor c = p.result;
  c.data = (char*)p.out + 1;
  options.c = &c;
  CHECK(strcmp(run(a, &p, &options).operand, "options.c") == 0);
  options = host_options(a);
  double words[4] = {0, 0, 0, 0};
  options.group_alpha = (const float*)(const void*)((const char*)words + 2);
  CHECK(strcmp(run(a, &p, &options).operand, "options.group_alpha") == 0);
  options = host_options(a);
  options.fault = (raggedgemm_fault*)(void*)((char*)words + 4);
  CHECK(strcmp(run(a, &p, &options).operand, "options.fault") == 0);
  CHECK(untouched(&p));
  /* Elements, not words: s8 sizes may lie anywhere. */
  int8_t narrow[8] = {0, 2, 0, 3, 0, 0, 0, 0};
  options = host_options(a);
  set_up(&p);
  p.groups.data = narrow + 1;
  p.groups.index_type = raggedgemm_index_s8;
  CHECK(run(a, &p, &options).code == 0);
  CHECK(is_product(&p, 1, 0));
}

static void test_older_caller(const api* a) {
  /* An older caller's options end earlier; what it does not know has its default. */
  problem p;
  const size_t after_platform = offsetof(raggedgemm_options, require_fast);
  const size_t after_workspace = offsetof(raggedgemm_options, lhs_index);
  struct older {
    union {
      raggedgemm_options options;
      unsigned char bytes[sizeof(raggedgemm_options)];
    } u;
  } old;
  old.u.options = host_options(a);
  old.u.options.alpha = 3;
  old.u.options.struct_bytes = after_platform;
  memset(old.u.bytes + after_platform, 0x5A, sizeof old.u.bytes - after_platform);
  set_up(&p);
  CHECK(run(a, &p, &old.u.options).code == 0);
  CHECK(is_product(&p, 3, 0));

  /* One that knew nothing of indices. */
  old.u.options = host_options(a);
  old.u.options.struct_bytes = after_workspace;
  memset(old.u.bytes + after_workspace, 0x5A, sizeof old.u.bytes - after_workspace);
  set_up(&p);
  CHECK(run(a, &p, &old.u.options).code == 0);
  CHECK(is_product(&p, 1, 0));
  old.u.options.alpha = 3;
  old.u.options.struct_bytes = after_platform;

  /* The same in memory that ends where the old struct does. */
  unsigned char* exact = malloc(after_platform);
  CHECK(exact != NULL);
  if (exact != NULL) {
    memcpy(exact, &old, after_platform);
    set_up(&p);
    CHECK(run(a, &p, (const raggedgemm_options*)(const void*)exact).code == 0);
    CHECK(is_product(&p, 3, 0));
    free(exact);
  }

  const size_t refused[] = {0, sizeof(raggedgemm_options) + 1, (size_t)-1};
  for (size_t i = 0; i < 3; ++i) {
    raggedgemm_options options = host_options(a);
    options.struct_bytes = refused[i];
    set_up(&p);
    const raggedgemm_status status = run(a, &p, &options);
    CHECK(strcmp(status.name, "unsupported_option") == 0);
    CHECK(strcmp(status.operand, "options.struct_bytes") == 0);
    CHECK(untouched(&p));
  }
}

static void test_explain(const api* a) {
  problem p;
  set_up(&p);
  const raggedgemm_options options = host_options(a);
  char text[4096];
  memset(text, '#', sizeof text);
  const size_t length =
      a->explain(&p.lhs, &p.rhs, &p.groups, &p.result, &p.dims, &options, text, sizeof text);
  CHECK(length > 0 && length < sizeof text);
  CHECK(strlen(text) == length);
  CHECK(strstr(text, "non_contracting") != NULL && strstr(text, "host_") != NULL);
  CHECK(untouched(&p));

  /* A short buffer is terminated, and the length is that of the whole text. */
  char few[8];
  memset(few, '#', sizeof few);
  CHECK(a->explain(&p.lhs, &p.rhs, &p.groups, &p.result, &p.dims, &options, few, 5) == length);
  CHECK(memcmp(few, text, 4) == 0 && few[4] == '\0' && few[5] == '#');
  CHECK(a->explain(&p.lhs, &p.rhs, &p.groups, &p.result, &p.dims, &options, NULL, 0) == length);

  p.rhs.extent[1] = k + 1;
  a->explain(&p.lhs, &p.rhs, &p.groups, &p.result, &p.dims, &options, text, sizeof text);
  CHECK(strstr(text, "dimension_numbers") != NULL && strstr(text, "got 4, needed 3") != NULL);
}

static void test_platforms(const api* a) {
  /* A platform that the library was not built for, or that has no device here, is refused by name;
   * it never falls back. */
  problem p;
  for (int32_t platform = raggedgemm_platform_cuda; platform <= raggedgemm_platform_hip;
       ++platform) {
    raggedgemm_options options = host_options(a);
    options.platform = platform;
    set_up(&p);
    const raggedgemm_status status = run(a, &p, &options);
    CHECK(status.code != 0);
    CHECK(untouched(&p));
  }
}

int main(void) {
  const api a = load();
  test_version(&a);
  test_defaults(&a);
  test_non_contracting(&a);
  test_contracting(&a);
  test_batch(&a);
  test_indices(&a);
  test_refusals(&a);
  test_alignment(&a);
  test_older_caller(&a);
  test_explain(&a);
  test_platforms(&a);
  printf("c_api: %d checks, %d failed\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
