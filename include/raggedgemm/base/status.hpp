// SPDX-License-Identifier: Apache-2.0
// Status: what every host call returns. Names the operand, what it got and what it needed.
// No allocation, no exceptions; text is made only when it is asked for.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace raggedgemm {

/// Why a call was refused. Values are append-only.
enum class StatusCode : std::int32_t {
  ok = 0,
  negative_extent,        ///< an extent is below zero
  extent_mismatch,        ///< two operands disagree on an extent
  extent_too_large,       ///< an extent or a tile count does not fit the library's indices
  null_pointer,           ///< an operand with elements has no data
  overlapping_output,     ///< two elements of the output share an address (a zero stride)
  unsupported_dtypes,     ///< no kernel of this program multiplies these dtypes
  unsupported_option,     ///< this option does not exist for this variant
  no_kernel,              ///< the kernels exist, but this binary holds none for the device present
  no_fast_kernel,         ///< only slow kernels fit and Selection::require_fast was asked for
  config_not_applicable,  ///< the forced config row cannot run this problem
  no_device,              ///< the platform asked for has no device
  platform_not_compiled,  ///< this program was not compiled for the platform asked for
  misaligned,             ///< a pointer is less aligned than the plan was made for
  plan_mismatch,          ///< operands do not fit the plan
  workspace_too_small,    ///< the workspace holds fewer bytes than workspace_bytes()
  vendor_error,           ///< the vendor runtime failed; `got` is its error number

  // The shape conditions of a general ragged dot, in the order in which they are checked.
  ragged_dim_count,           ///< not exactly one ragged dimension
  ragged_dim_out_of_range,    ///< the ragged dimension is not one of lhs's
  group_sizes_rank_zero,      ///< the group description is a scalar
  group_sizes_shape,          ///< its shape is neither [g] nor [prefix…, g]
  group_sizes_not_integer,    ///< its elements are not integers
  group_count_unknown,        ///< the number of groups is not known when the call is made
  group_dim_not_allowed,      ///< rhs has a group dimension in a contracting or batch ragged dot
  group_dim_count,            ///< rhs has not exactly one group dimension in a non-contracting one
  group_dim_not_distinct,     ///< the group dimension is a batch or contracting dimension
  group_dim_extent,           ///< its extent is not the number of groups
  dimension_numbers,          ///< ranges, counts, repeats or extents of batch and contracting dims
  group_offset_out_of_range,  ///< the shard's groups do not lie inside the group description

  not_device_memory,  ///< host memory where the device must read
  wrong_device,       ///< memory of another device than the current one
};

inline const char* name_of(StatusCode code) noexcept {
  switch (code) {
    case StatusCode::ok: return "ok";
    case StatusCode::negative_extent: return "negative_extent";
    case StatusCode::extent_mismatch: return "extent_mismatch";
    case StatusCode::extent_too_large: return "extent_too_large";
    case StatusCode::null_pointer: return "null_pointer";
    case StatusCode::overlapping_output: return "overlapping_output";
    case StatusCode::unsupported_dtypes: return "unsupported_dtypes";
    case StatusCode::unsupported_option: return "unsupported_option";
    case StatusCode::no_kernel: return "no_kernel";
    case StatusCode::no_fast_kernel: return "no_fast_kernel";
    case StatusCode::config_not_applicable: return "config_not_applicable";
    case StatusCode::no_device: return "no_device";
    case StatusCode::platform_not_compiled: return "platform_not_compiled";
    case StatusCode::misaligned: return "misaligned";
    case StatusCode::plan_mismatch: return "plan_mismatch";
    case StatusCode::workspace_too_small: return "workspace_too_small";
    case StatusCode::vendor_error: return "vendor_error";
    case StatusCode::ragged_dim_count: return "ragged_dim_count";
    case StatusCode::ragged_dim_out_of_range: return "ragged_dim_out_of_range";
    case StatusCode::group_sizes_rank_zero: return "group_sizes_rank_zero";
    case StatusCode::group_sizes_shape: return "group_sizes_shape";
    case StatusCode::group_sizes_not_integer: return "group_sizes_not_integer";
    case StatusCode::group_count_unknown: return "group_count_unknown";
    case StatusCode::group_dim_not_allowed: return "group_dim_not_allowed";
    case StatusCode::group_dim_count: return "group_dim_count";
    case StatusCode::group_dim_not_distinct: return "group_dim_not_distinct";
    case StatusCode::group_dim_extent: return "group_dim_extent";
    case StatusCode::dimension_numbers: return "dimension_numbers";
    case StatusCode::group_offset_out_of_range: return "group_offset_out_of_range";
    case StatusCode::not_device_memory: return "not_device_memory";
    case StatusCode::wrong_device: return "wrong_device";
  }
  return "unknown";
}

/// The outcome of a host call: a code and, for anything but ok, the operand or option concerned
/// (`operand`, a string literal), the value it had (`got`), the value it needed (`needed`) and a
/// sentence that says what to do (`advice`, a string literal).
class [[nodiscard]] Status {
 public:
  constexpr Status() noexcept = default;
  constexpr Status(StatusCode code,
                   const char* operand,
                   std::int64_t got,
                   std::int64_t needed,
                   const char* advice = "") noexcept
      : code_(code), operand_(operand), got_(got), needed_(needed), advice_(advice) {}

  [[nodiscard]] constexpr bool ok() const noexcept { return code_ == StatusCode::ok; }
  constexpr explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] constexpr StatusCode code() const noexcept { return code_; }
  [[nodiscard]] constexpr const char* operand() const noexcept { return operand_; }
  [[nodiscard]] constexpr std::int64_t got() const noexcept { return got_; }
  [[nodiscard]] constexpr std::int64_t needed() const noexcept { return needed_; }
  [[nodiscard]] constexpr const char* advice() const noexcept { return advice_; }

  /// "extent_mismatch: rhs.k: got 7, needed 8; <advice>". Allocates; for people, not for branches.
  [[nodiscard]] std::string message() const {
    if (ok()) return "ok";
    char text[512];
    std::snprintf(text,
                  sizeof text,
                  "%s: %s: got %lld, needed %lld%s%s",
                  name_of(code_),
                  operand_,
                  static_cast<long long>(got_),
                  static_cast<long long>(needed_),
                  *advice_ != '\0' ? "; " : "",
                  advice_);
    return text;
  }

 private:
  StatusCode code_ = StatusCode::ok;
  const char* operand_ = "";
  std::int64_t got_ = 0;
  std::int64_t needed_ = 0;
  const char* advice_ = "";
};

/// A value or the Status that says why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(const T& value) noexcept : value_(value) {}          // NOLINT(google-explicit-constructor)
  Result(const Status& status) noexcept : status_(status) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] bool ok() const noexcept { return status_.ok(); }
  explicit operator bool() const noexcept { return ok(); }
  [[nodiscard]] const Status& status() const noexcept { return status_; }
  [[nodiscard]] const T& value() const noexcept { return value_; }
  [[nodiscard]] T& value() noexcept { return value_; }

 private:
  T value_{};
  Status status_;
};

}  // namespace raggedgemm
