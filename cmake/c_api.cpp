// SPDX-License-Identifier: Apache-2.0
// The C interface over the type-erased calls. Part of raggedgemm::compiled.
#include "raggedgemm/c_api.h"

#include <algorithm>
#include <cstring>

#include "raggedgemm/erased.hpp"
#include "raggedgemm/version.hpp"

namespace rg = raggedgemm;

namespace {

static_assert(sizeof(raggedgemm_fault) == sizeof(rg::Fault));
static_assert(static_cast<int>(raggedgemm_max_rank) == rg::max_rank);
static_assert(static_cast<int>(raggedgemm_e5m2fnuz) == static_cast<int>(rg::DType::e5m2fnuz));
static_assert(static_cast<int>(raggedgemm_index_u64) == static_cast<int>(rg::IndexType::u64));

rg::Status check_enum(const char* name, std::int32_t value, std::int32_t count) {
  if (value >= 0 && value < count) return {};
  return {rg::StatusCode::unsupported_option, name, value, count - 1, "not a value of this enum"};
}

template <class Pointer>
rg::BasicTensor<Pointer> tensor_of(const raggedgemm_tensor& t) {
  rg::BasicTensor<Pointer> tensor;
  tensor.data = t.data;
  tensor.dtype = static_cast<rg::DType>(t.dtype);
  tensor.rank = t.rank;
  std::copy(std::begin(t.extent), std::end(t.extent), tensor.extent);
  std::copy(std::begin(t.stride), std::end(t.stride), tensor.stride);
  return tensor;
}

rg::DimList dims_of(const raggedgemm_dims& d) {
  rg::DimList dims;
  dims.count = d.count;
  std::copy(std::begin(d.dim), std::end(d.dim), dims.dim);
  return dims;
}

struct Converted {
  rg::Status status;
  rg::erased::Call call;
  rg::Options options;
};

rg::Status convert_options(const raggedgemm_options* given, rg::Options& options) {
  raggedgemm_options o = raggedgemm_default_options();
  if (given != nullptr) {
    if (given->struct_bytes == 0 || given->struct_bytes > sizeof o)
      return {rg::StatusCode::unsupported_option,
              "options.struct_bytes",
              static_cast<std::int64_t>(given->struct_bytes),
              static_cast<std::int64_t>(sizeof o),
              "start from raggedgemm_default_options()"};
    std::memcpy(&o, given, given->struct_bytes);  // an older caller's struct is a prefix
  }
  if (const rg::Status s = check_enum("options.tail", o.tail, 3); !s.ok()) return s;
  if (const rg::Status s = check_enum("options.platform", o.platform, 4); !s.ok()) return s;
  options.stream = o.stream;
  options.alpha = o.alpha;
  options.beta = o.beta;
  if (o.c != nullptr) {
    if (const rg::Status s = check_enum("c.dtype", o.c->dtype, rg::dtype_count); !s.ok()) return s;
    options.c = tensor_of<const void*>(*o.c);
  }
  options.group_alpha = o.group_alpha;
  options.group_offset = o.group_offset;
  options.fault = reinterpret_cast<rg::Fault*>(o.fault);
  options.tail = static_cast<rg::Tail>(o.tail);
  options.platform = static_cast<rg::Platform>(o.platform);
  options.selection = o.require_fast != 0 ? rg::Selection::require_fast : rg::Selection::any;
  options.config_row = o.config_row;
  options.workspace = o.workspace;
  options.workspace_bytes = o.workspace_bytes;
  options.lhs_index = o.lhs_index;
  options.out_index = o.out_index;
  options.ragged_extent = o.ragged_extent;
  options.allow_tf32 = o.allow_tf32 != 0;
  options.whole_depth = o.whole_depth != 0;
  return {};
}

Converted convert(const raggedgemm_tensor* lhs,
                  const raggedgemm_tensor* rhs,
                  const raggedgemm_groups* groups,
                  const raggedgemm_tensor* out,
                  const raggedgemm_dimension_numbers* dims,
                  const raggedgemm_options* options) {
  Converted c;
  const auto fail = [&c](const rg::Status& status) {
    c.status = status;
    return !status.ok();
  };
  struct Named {
    const char* name;
    const void* pointer;
  };
  for (const Named& n : {Named{"lhs", lhs},
                         Named{"rhs", rhs},
                         Named{"groups", groups},
                         Named{"out", out},
                         Named{"dims", dims}})
    if (n.pointer == nullptr) {
      c.status = {rg::StatusCode::null_pointer, n.name, 0, 1, "a descriptor is missing"};
      return c;
    }
  if (fail(check_enum("lhs.dtype", lhs->dtype, rg::dtype_count)) ||
      fail(check_enum("rhs.dtype", rhs->dtype, rg::dtype_count)) ||
      fail(check_enum("out.dtype", out->dtype, rg::dtype_count)) ||
      fail(check_enum("groups.kind", groups->kind, 4)) || fail(convert_options(options, c.options)))
    return c;
  if (groups->index_type < 0 || groups->index_type > raggedgemm_index_u64) {
    c.status = {rg::StatusCode::group_sizes_not_integer,
                "groups.index_type",
                groups->index_type,
                raggedgemm_index_u64,
                "group sizes are integers of 8 to 64 bits"};
    return c;
  }
  rg::GroupTensor group_tensor;
  group_tensor.groups.data = groups->data;
  group_tensor.groups.kind = static_cast<rg::GroupKind>(groups->kind);
  group_tensor.groups.type = static_cast<rg::IndexType>(groups->index_type);
  group_tensor.rank = groups->rank;
  std::copy(std::begin(groups->extent), std::end(groups->extent), group_tensor.extent);
  const rg::DimensionNumbers numbers{dims_of(dims->lhs_contracting),
                                     dims_of(dims->rhs_contracting),
                                     dims_of(dims->lhs_batch),
                                     dims_of(dims->rhs_batch),
                                     dims_of(dims->lhs_ragged),
                                     dims_of(dims->rhs_group)};
  const rg::Result<rg::erased::Call> call = rg::erased::describe(tensor_of<const void*>(*lhs),
                                                                 tensor_of<const void*>(*rhs),
                                                                 group_tensor,
                                                                 tensor_of<void*>(*out),
                                                                 numbers,
                                                                 c.options);
  c.status = call.status();
  if (call.ok()) c.call = call.value();
  return c;
}

raggedgemm_status status_of(const rg::Status& s) {
  return {static_cast<std::int32_t>(s.code()),
          rg::name_of(s.code()),
          s.operand(),
          s.got(),
          s.needed(),
          s.advice()};
}

}  // namespace

extern "C" {

int32_t raggedgemm_version(void) {
  return 10000 * rg::version_major + 100 * rg::version_minor + rg::version_patch;
}

const char* raggedgemm_version_text(void) { return rg::version_string; }

raggedgemm_options raggedgemm_default_options(void) {
  raggedgemm_options options = {};
  options.struct_bytes = sizeof options;
  options.alpha = 1.0;
  options.group_offset = -1;
  options.config_row = -1;
  options.ragged_extent = -1;
  return options;
}

raggedgemm_status raggedgemm_ragged_dot_general(const raggedgemm_tensor* lhs,
                                                const raggedgemm_tensor* rhs,
                                                const raggedgemm_groups* groups,
                                                const raggedgemm_tensor* out,
                                                const raggedgemm_dimension_numbers* dims,
                                                const raggedgemm_options* options) {
  const Converted c = convert(lhs, rhs, groups, out, dims, options);
  return status_of(c.status.ok() ? rg::erased::run(c.call, c.options) : c.status);
}

int64_t raggedgemm_workspace_bytes(const raggedgemm_tensor* lhs,
                                   const raggedgemm_tensor* rhs,
                                   const raggedgemm_groups* groups,
                                   const raggedgemm_tensor* out,
                                   const raggedgemm_dimension_numbers* dims,
                                   const raggedgemm_options* options) {
  const Converted c = convert(lhs, rhs, groups, out, dims, options);
  if (!c.status.ok()) return -1;
  const rg::Result<rg::Plan> plan = rg::erased::make_plan(c.call, c.options);
  return plan.ok() ? rg::workspace_bytes(plan.value()) : -1;
}

size_t raggedgemm_explain(const raggedgemm_tensor* lhs,
                          const raggedgemm_tensor* rhs,
                          const raggedgemm_groups* groups,
                          const raggedgemm_tensor* out,
                          const raggedgemm_dimension_numbers* dims,
                          const raggedgemm_options* options,
                          char* buffer,
                          size_t buffer_bytes) {
  const Converted c = convert(lhs, rhs, groups, out, dims, options);
  const std::string text =
      c.status.ok() ? rg::erased::explain(c.call, c.options) : c.status.message();
  if (buffer != nullptr && buffer_bytes > 0) {
    const std::size_t length = std::min(text.size(), buffer_bytes - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
  }
  return text.size();
}

}  // extern "C"
