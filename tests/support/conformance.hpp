// SPDX-License-Identifier: Apache-2.0
// Runs one ragged dot with every kernel of this program that can run it, each forced in turn, and
// compares every byte of the output buffer with the oracle: values, tails, pads and guards.
#pragma once

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "raggedgemm/ragged_dot.hpp"
#include "support/bound.hpp"
#include "support/placement.hpp"
#include "support/scale.hpp"
#include "support/workspace.hpp"

namespace support {

namespace rg = raggedgemm;
using rg::bf16;
using rg::fp16;
using rg::Tail;

enum class Data {
  integers,  ///< small integers: every sum is exact in f32, results must match bit for bit
  reals,     ///< uniform in [-1, 1): results must meet the bound
};

/// One call. What is not live in the inputs (rows past the sum, operands of empty groups, dead
/// batches) is NaN and Inf, and so is all memory around and between the operands' elements.
struct Case {
  std::string name;
  Shape shape;
  Sizes entries;
  GroupKind kind = GroupKind::sizes;
  IndexType type = IndexType::s32;
  Placement lhs;
  Placement rhs;
  Placement out;
  Tail tail = Tail::zero;
  float alpha = 1.0F;
  float beta = 0.0F;
  offset_t preset = 7;  ///< output before the call where beta is not 0; otherwise it is poison
  Data data = Data::integers;
  int repeats = 1;  ///< runs of each kernel, all with equal bits
  /// Of the rows that ran often, forces a third; the next case the next third.
  bool rows_by_turns = false;
};

template <class Out>
struct Outcome {
  std::string failure;                             ///< empty when all is right
  std::map<index_t, std::vector<Out>> out_of_row;  ///< row-major result of each forced row
};

/// Times that each config row ran, over the whole program.
inline std::map<index_t, int>& row_runs() {
  static std::map<index_t, int> runs;
  return runs;
}
/// Times that a row of this device answered config_not_applicable.
inline std::map<index_t, int>& row_refusals() {
  static std::map<index_t, int> refusals;
  return refusals;
}

template <class Int>
void append_entry(std::vector<unsigned char>& bytes, std::int64_t& entry) {
  const Int narrow = static_cast<Int>(entry);
  const auto* from = reinterpret_cast<const unsigned char*>(&narrow);
  bytes.insert(bytes.end(), from, from + sizeof narrow);
  const bool saturates = sizeof(Int) == 8 && !std::is_signed_v<Int> && entry < 0;
  entry = saturates ? int64_max : static_cast<std::int64_t>(narrow);
}

/// The entries as bytes of their index type; `entries` become the values that were stored.
inline std::vector<unsigned char> bytes_of(Sizes& entries, IndexType type) {
  std::vector<unsigned char> bytes;
  for (std::int64_t& entry : entries) {
    switch (type) {
      case IndexType::s8: append_entry<std::int8_t>(bytes, entry); break;
      case IndexType::s16: append_entry<std::int16_t>(bytes, entry); break;
      case IndexType::s32: append_entry<std::int32_t>(bytes, entry); break;
      case IndexType::s64: append_entry<std::int64_t>(bytes, entry); break;
      case IndexType::u8: append_entry<std::uint8_t>(bytes, entry); break;
      case IndexType::u16: append_entry<std::uint16_t>(bytes, entry); break;
      case IndexType::u32: append_entry<std::uint32_t>(bytes, entry); break;
      case IndexType::u64: append_entry<std::uint64_t>(bytes, entry); break;
    }
  }
  return bytes;
}

/// A float of the tests as an element. Integers are whole there; they know no NaN and infinity.
template <class T>
T rounded(float value) {
  if constexpr (std::is_integral_v<T>)
    return raggedgemm::Element<T>::round(std::isfinite(value) ? static_cast<std::int32_t>(value)
                                                              : 99);
  else
    return raggedgemm::Element<T>::round(value);
}

/// Values of an operand; rows (or slabs) that are not live hold NaN, +Inf and −Inf in turn.
template <class T, class IsLive>
[[gnu::noinline]] std::vector<T> operand_values(Random& random,
                                                const Extent3& e,
                                                Data data,
                                                const IsLive& is_live) {
  std::vector<T> values;
  values.reserve(elems_of(e));
  for (offset_t s = 0; s < e[0]; ++s)
    for (offset_t r = 0; r < e[1]; ++r)
      for (offset_t c = 0; c < e[2]; ++c) {
        const float dead[] = {__builtin_nanf(""), __builtin_inff(), -__builtin_inff()};
        const float value = !is_live(s, r)           ? dead[(s + r + c) % 3]
                            : data == Data::integers ? static_cast<float>(random.between(-3, 3))
                                                     : static_cast<float>(random.real());
        values.push_back(rounded<T>(value));
      }
  return values;
}

template <class T>
std::vector<double> widened(const std::vector<T>& values) {
  std::vector<double> wide;
  wide.reserve(values.size());
  for (const T& value : values) wide.push_back(static_cast<double>(rg::Element<T>::widen(value)));
  return wide;
}

// Texts, and loops over bytes, are functions of no element type: one copy serves all.

[[gnu::noinline]] inline std::string text_of_case(const Case& c,
                                                  const Sizes& stored,
                                                  const std::array<rg::DType, 3>& dtypes,
                                                  std::uint64_t seed) {
  const Shape& s = c.shape;
  return std::string(name_of(s.variant)) + " " + name_of(dtypes[0]) + "·" + name_of(dtypes[1]) +
         "→" + name_of(dtypes[2]) + ", slabs " + std::to_string(s.slabs) + ", m " +
         std::to_string(s.m) + ", k " + std::to_string(s.k) + ", n " + std::to_string(s.n) +
         ", groups " + text_of(stored) + " (" + c.name + ", seed " + std::to_string(seed) + ")";
}

[[gnu::noinline]] inline std::string text_of_bound(double expected, double bound) {
  return std::to_string(expected) + (bound == 0 ? " exactly" : " within " + std::to_string(bound));
}

[[gnu::noinline]] inline std::string text_of_element(const Extent3& at,
                                                     double value,
                                                     const std::string& needed) {
  return "out[" + std::to_string(at[0]) + "][" + std::to_string(at[1]) + "][" +
         std::to_string(at[2]) + "] is " + std::to_string(value) + ", needed " + needed;
}

/// A row of the config table, or "selected row".
[[gnu::noinline]] inline std::string text_of_row(index_t row) {
  if (row < 0) return "selected row";
  return "row " + std::to_string(row) + " " + rg::config_row(row).name;
}

/// A case with its operands in device memory and the expected output. `Only` names the case's
/// variant where kernels of the other two are not worth compiling.
template <class L, class R, class O, Variant... Only>
class Prepared {
  template <Variant V>
  static constexpr bool compiles = sizeof...(Only) == 0 || ((Only == V) || ...);

 public:
  explicit Prepared(const Case& c)
      : case_(c),
        lhs_at_(lhs_extent(c.shape), c.lhs),
        rhs_at_(rhs_extent(c.shape), c.rhs),
        out_at_(out_extent(c.shape), c.out),
        lhs_(static_cast<std::size_t>(lhs_at_.elems), c.lhs.shift_elems),
        rhs_(static_cast<std::size_t>(rhs_at_.elems), c.rhs.shift_elems),
        out_(static_cast<std::size_t>(out_at_.elems), c.out.shift_elems),
        groups_(entries_(c)) {
    const Shape& shape = c.shape;
    const offset_t extent = ragged_extent(shape);
    const std::vector<Range> ranges = ranges_of(stored_, c.kind, extent);
    const bool all_live = c.kind == GroupKind::none || c.tail == Tail::compute;
    live_extent_ = all_live ? extent : covered(ranges);
    Random random(seed);
    const auto ragged_row_live = [&](offset_t slab, offset_t row) {
      return (shape.variant == Variant::batch ? slab : row) < live_extent_;
    };
    const std::vector<L> lhs = operand_values<L>(random, lhs_at_.extent, c.data, ragged_row_live);
    const std::vector<R> rhs =
        operand_values<R>(random, rhs_at_.extent, c.data, [&](offset_t slab, offset_t row) {
          if (shape.variant != Variant::non_contracting) return ragged_row_live(slab, row);
          const Range& range = ranges[static_cast<std::size_t>(slab)];
          return range.begin < range.end;
        });
    lhs_.set(lhs_at_.scatter(lhs));
    rhs_.set(rhs_at_.scatter(rhs));
    reference_ = reference(shape, widened(lhs), widened(rhs), ranges, live_extent_);
    preset_.assign(elems_of(out_at_.extent), poison<O>());
    if (c.beta != 0)
      for (std::size_t i = 0; i < preset_.size(); ++i)
        preset_[i] = rounded<O>(static_cast<float>(c.preset + offset_t(i % 3)));
  }

  [[nodiscard]] rg::Groups groups() const {
    const offset_t count = static_cast<offset_t>(stored_.size());
    return {groups_.data(),
            case_.kind == GroupKind::offsets ? count - 1 : count,
            case_.kind,
            case_.type};
  }

  /// describe() of the case's variant, handed to `f`.
  template <class F>
  auto with_call(const rg::Options& options, const F& f) {
    const L* lhs = lhs_.data();
    const R* rhs = rhs_.data();
    const Variant variant = case_.shape.variant;
    if constexpr (compiles<Variant::non_contracting>) {
      if (variant == Variant::non_contracting)
        return f(rg::describe(
            lhs_at_.view2(lhs), rhs_at_.view3(rhs), groups(), out_at_.view2(out_.data()), options));
    }
    if constexpr (compiles<Variant::contracting>) {
      if (variant == Variant::contracting)
        return f(rg::describe_contracting(
            lhs_at_.view2(lhs), rhs_at_.view2(rhs), groups(), out_at_.view3(out_.data()), options));
    }
    if constexpr (compiles<Variant::batch>) {
      if (variant == Variant::batch)
        return f(rg::describe_batch(
            lhs_at_.view3(lhs), rhs_at_.view3(rhs), groups(), out_at_.view3(out_.data()), options));
    }
    std::abort();  // a case of a variant that `Only` leaves out
  }

  [[nodiscard]] rg::Options options() const {
    rg::Options options;
    options.tail = case_.tail;
    options.alpha = case_.alpha;
    options.beta = case_.beta;
    return options;
  }

  /// Resets the output and runs; `result` gets the output in row-major order.
  template <class... E>
  std::string run(const rg::Options& options, std::vector<O>& result, const E&... epilogue) {
    return run_by(options, result, [&](const auto& call) {
      return run_with_workspace(call, options, epilogue...);
    });
  }

  /// The same, run by `launch(call)`.
  template <class F>
  std::string run_by(const rg::Options& options, std::vector<O>& result, const F& launch) {
    out_.set(out_at_.scatter(preset_));
    const rg::Status status = with_call(options, launch);
    if (!status.ok()) return status.message();
    if (const rg::Status done = runtime::synchronize(); !done.ok()) return done.message();
    const std::vector<O> memory = out_.get();
    if (!out_.guards_intact()) return "wrote outside out";
    result.clear();
    std::vector<char> is_element(memory.size(), 0);
    for (std::size_t i = 0; i < preset_.size(); ++i) {
      result.push_back(memory[out_at_.position(i)]);
      is_element[out_at_.position(i)] = 1;
    }
    for (std::size_t i = 0; i < memory.size(); ++i)
      if (is_element[i] == 0 && !same_bits(memory[i], poison<O>()))
        return "wrote to a pad of out at position " + std::to_string(i);
    return {};
  }

  /// What is wrong with a row-major result, or nothing. `epilogue(value, slab, row, col)` is what
  /// the f64 reference applies to live elements; `extra_terms` counts its f32 operations.
  template <class F>
  std::string check(const std::vector<O>& result, const F& epilogue, double extra_terms) const {
    const Extent3 e = out_at_.extent;
    const double depth = static_cast<double>(
        case_.shape.variant == Variant::contracting ? case_.shape.m : case_.shape.k);
    const double sum_error = sum_roundoff<L>(runtime::device().value().arch);
    for (std::size_t i = 0; i < result.size(); ++i) {
      const offset_t dense = static_cast<offset_t>(i);
      const offset_t slab = dense / (e[1] * e[2]);
      const offset_t row = dense / e[2] % e[1];
      const offset_t col = dense % e[2];
      const bool live = reference_.live[i] != 0;
      const double before =
          case_.beta != 0 ? double{case_.beta} * rg::Element<O>::widen(preset_[i]) : 0.0;
      double expected = double{case_.alpha} * reference_.product[i] + before;
      const double absdot =
          std::fabs(double{case_.alpha}) * reference_.absdot[i] + std::fabs(before);
      if (live) expected = epilogue(expected, slab, row, col);
      std::string needed;
      if (!live && case_.tail == Tail::keep) {
        if (!same_bits(result[i], preset_[i])) needed = "untouched";
      } else if (case_.data == Data::integers && extra_terms == 0) {
        const O nearest = rounded<O>(static_cast<float>(expected));
        // −0 = alpha·(−1) for alpha = 0, or alpha·0 for alpha < 0: the zeros count as equal there.
        const bool both_zero = expected == 0 && rg::Element<O>::widen(result[i]) == 0;
        if (!same_bits(result[i], nearest) && !(case_.alpha <= 0 && both_zero))
          needed = text_of_bound(expected, 0);
      } else {
        const double bound =
            error_bound<O>(depth + 4 + extra_terms, absdot, expected) + sum_error * absdot;
        const double error =
            std::fabs(static_cast<double>(rg::Element<O>::widen(result[i])) - expected);
        if (!(error <= bound)) needed = text_of_bound(expected, bound);
      }
      if (!needed.empty())
        return text_of_element(
            {slab, row, col}, static_cast<double>(rg::Element<O>::widen(result[i])), needed);
    }
    return {};
  }
  std::string check(const std::vector<O>& result) const {
    return check(
        result, [](double value, offset_t, offset_t, offset_t) { return value; }, 0);
  }

  [[nodiscard]] bool inputs_intact() {
    return lhs_.guards_intact() && rhs_.guards_intact() && groups_.guards_intact();
  }
  [[nodiscard]] std::string text() const {
    return text_of_case(case_, stored_, {rg::dtype_of<L>, rg::dtype_of<R>, rg::dtype_of<O>}, seed);
  }
  [[nodiscard]] offset_t live_extent() const { return live_extent_; }

 private:
  static constexpr std::uint64_t seed = 20260801;

  std::vector<unsigned char> entries_(const Case& c) {
    stored_ = c.entries;
    return bytes_of(stored_, c.type);
  }

  Case case_;
  Sizes stored_;
  Arrangement lhs_at_;
  Arrangement rhs_at_;
  Arrangement out_at_;
  DeviceArray<L> lhs_;
  DeviceArray<R> rhs_;
  DeviceArray<O> out_;
  DeviceArray<unsigned char> groups_;
  Reference reference_;
  std::vector<O> preset_;
  offset_t live_extent_ = 0;
};

/// Runs a case as selection would, then with every kernel of the program forced in turn.
template <class L, class R, class O>
Outcome<O> run_case(const Case& c) {
  Outcome<O> outcome;
  Prepared<L, R, O> prepared(c);
  rg::Options options = prepared.options();
  const auto fail = [&](const std::string& what) {
    outcome.failure = prepared.text() + ": " + text_of_row(options.config_row) + ": " + what;
    return outcome;
  };
  std::vector<O> result;
  if (const std::string error = prepared.run(options, result); !error.empty()) return fail(error);
  if (const std::string error = prepared.check(result); !error.empty()) return fail(error);

  const rg::Arch arch = runtime::device().value().arch;
  static index_t turn = 0;
  ++turn;
  for (index_t row = 0; row < rg::config_rows; ++row) {
    if (!rg::runs_on(rg::config_row(row).arch, arch)) continue;
    if (c.rows_by_turns && row_runs()[row] >= 12 && (row + turn) % 3 != 0) continue;
    options.config_row = row;
    const rg::Status applicable = prepared.with_call(
        options, [&](const auto& call) { return rg::make_plan(call, options).status(); });
    if (applicable.code() == rg::StatusCode::config_not_applicable) {
      ++row_refusals()[row];
      continue;
    }
    // no_kernel: this binary holds no code of the row for the device (an sm_90 build, say).
    if (applicable.code() == rg::StatusCode::no_kernel) continue;
    std::vector<O>& first = outcome.out_of_row[row];
    for (int repeat = 0; repeat < c.repeats; ++repeat) {
      if (const std::string error = prepared.run(options, result); !error.empty())
        return fail(error);
      if (repeat == 0) {
        first = result;
        if (const std::string error = prepared.check(result); !error.empty()) return fail(error);
      } else if (first_difference(first, result) >= 0) {
        return fail("repeat " + std::to_string(repeat) + " differs in bits");
      }
    }
    ++row_runs()[row];
  }
  if (outcome.out_of_row.empty() && !c.rows_by_turns)
    return fail("no row of the table could be forced");
  if (!prepared.inputs_intact()) return fail("wrote outside an input");
  return outcome;
}

/// Whether the dtypes of check_all_dtypes reach the row.
inline bool row_is_tested(const rg::ConfigRow& row) {
  constexpr std::uint32_t tested =
      rg::bit_of(rg::DType::bf16) | rg::bit_of(rg::DType::f16) | rg::bit_of(rg::DType::f32);
  if (row.tf32) return false;  // for calls that allow it: options_test
  return row.any_dtypes || (row.input_dtypes & tested) != 0;
}

/// Fails the running test with the first thing that is wrong.
template <class L, class R, class O>
void check_case(const Case& c) {
  const Outcome<O> outcome = run_case<L, R, O>(c);
  if (!outcome.failure.empty())
    FAIL_CHECK(outcome.failure);
  else
    CHECK(outcome.failure.empty());
}

/// The same case with input pitches of whole 16 bytes whatever the type, which matrix engines ask
/// for: extents may still be anything.
inline Case with_aligned_pitches(Case c) {
  const auto align = [](const Extent3& extent, Placement& p) {
    const offset_t inner = extent[p.transposed ? 1 : 2];
    p.pitch_pad = rg::round_up(rg::max_of(inner, offset_t{1}), offset_t{16}) - inner;
    p.slab_pad = 0;
    p.shift_elems = 0;
  };
  align(lhs_extent(c.shape), c.lhs);
  align(rhs_extent(c.shape), c.rhs);
  c.name += ", aligned pitches";
  return c;
}

/// Prints how often each config row ran; returns the number of rows of this device that should have
/// run a case of the variant, and never did.
inline int report_rows(Variant variant) {
#if defined(RAGGEDGEMM_COMPILED)
  constexpr bool all_rows = true;
#else
  constexpr bool all_rows = false;  // header-only programs hold the core rows
#endif
  int idle = 0;
  const rg::Arch arch = runtime::device().value().arch;
  for (index_t row = 0; row < rg::config_rows; ++row) {
    const rg::ConfigRow& config = rg::config_row(row);
    if (!rg::runs_on(config.arch, arch) || (config.variants & rg::bit_of(variant)) == 0) continue;
    if (!config.core && !all_rows) continue;
    std::printf("  row %d %s: %d cases, %d times not applicable\n",
                row,
                config.name,
                row_runs()[row],
                row_refusals()[row]);
    if (row_runs()[row] == 0 && row_is_tested(config)) ++idle;
  }
  return idle;
}

}  // namespace support
