// SPDX-License-Identifier: Apache-2.0
// The golden cases: inputs and f64 results made by another program (numpy, checked against the
// published evaluator fixtures). Every case that the calls can express is run as selection would and
// with every kernel of this program; the others are listed with the reason.
//
// The folder is RAGGEDGEMM_GOLDEN_DIR, or the copy in tests/data/golden.

#include "support/golden.hpp"

#include <cstdlib>

#include "support/conformance.hpp"

#if !defined(SUPPORT_GOLDEN_DIR)
#define SUPPORT_GOLDEN_DIR "tests/data/golden"
#endif

namespace {

using namespace support;

/// How many of the golden cases must run: a change that loses one fails the test.
constexpr int cases_expected = 56;

/// One dimension, or several that lie in memory as one.
struct Axis {
  offset_t extent = 1;
  offset_t stride = 0;
};

/// A tensor with the names of its dimensions taken away one by one.
struct Tensor {
  std::vector<offset_t> extent;
  std::vector<offset_t> stride;
  std::vector<bool> used;

  /// Row-major, or in a minor-to-major order.
  explicit Tensor(const std::vector<std::int64_t>& extents, const std::string& minor_to_major = "")
      : extent(extents.begin(), extents.end()),
        stride(extents.size(), 0),
        used(extents.size(), false) {
    std::vector<std::size_t> order;
    std::istringstream words(minor_to_major);
    for (std::string word; std::getline(words, word, ',');) order.push_back(std::stoul(word));
    for (std::size_t d = extent.size(); order.size() < extent.size();) order.push_back(--d);
    offset_t step = 1;
    for (const std::size_t d : order) {
      stride[d] = step;
      step *= extent[d];
    }
  }

  /// Takes dimensions (outermost first) as one axis; false when they do not lie as one.
  bool take(const std::vector<std::size_t>& dims, Axis& axis) {
    axis = {};
    for (std::size_t i = dims.size(); i-- > 0;) {
      const std::size_t d = dims[i];
      used[d] = true;
      if (extent[d] == 1) continue;
      if (axis.extent != 1 && stride[d] != axis.extent * axis.stride) return false;
      if (axis.extent == 1) axis.stride = stride[d];
      axis.extent *= extent[d];
    }
    for (const std::size_t d : dims)
      if (axis.stride == 0) axis.stride = stride[d];
    return true;
  }

  [[nodiscard]] std::vector<std::size_t> unused() const {
    std::vector<std::size_t> dims;
    for (std::size_t d = 0; d < used.size(); ++d)
      if (!used[d]) dims.push_back(d);
    return dims;
  }
};

const char* const general = "comes with general dimension numbers";

/// A case as canonical calls, one for each index of the prefix.
struct Calls {
  Variant variant = Variant::non_contracting;
  Axis lhs_rows, lhs_depth, rhs_depth, rhs_cols, out_rows, out_cols;
  Axis lhs_batch, rhs_slab, out_slab;
  std::vector<offset_t> lhs_at{0}, rhs_at{0}, out_at{0}, sizes_at{0};  // one entry a call
  offset_t groups = 0;
  std::string reason;  // why the case cannot be expressed
};

Calls calls_of(const GoldenCase& c) {
  Calls calls;
  Tensor lhs(c.tensor.at("lhs").extent);
  Tensor rhs(c.tensor.at("rhs").extent);
  Tensor out(c.tensor.at("ref_f64").extent, c.text("out_order"));
  const std::vector<offset_t> sizes_extent(c.tensor.at("group_sizes").extent.begin(),
                                           c.tensor.at("group_sizes").extent.end());
  const std::vector<std::size_t> lc = c.dims("lc");
  const std::vector<std::size_t> rc = c.dims("rc");
  const std::vector<std::size_t> lb = c.dims("lb");
  const std::vector<std::size_t> rb = c.dims("rb");
  const std::size_t ragged = c.dims("ragged").at(0);
  calls.groups = sizes_extent.back();
  const auto unable = [&] {
    calls.reason = general;
    return calls;
  };
  if (!lhs.take(lc, calls.lhs_depth) || !rhs.take(rc, calls.rhs_depth)) return unable();
  if (c.mode == "noncontracting") {
    calls.variant = Variant::non_contracting;
    if (!rhs.take(c.dims("group"), calls.rhs_slab)) return unable();
    lhs.take({ragged}, calls.lhs_rows);
    // The prefix: batch dimensions, then the lhs's own ones before the ragged one.
    std::vector<std::size_t> prefix = lb;
    for (const std::size_t d : lb) lhs.used[d] = true;
    for (const std::size_t d : rb) rhs.used[d] = true;
    for (const std::size_t d : lhs.unused()) {
      if (d > ragged) return unable();
      prefix.push_back(d);
    }
    if (!rhs.take(rhs.unused(), calls.rhs_cols)) return unable();
    for (std::size_t p = 0; p < prefix.size(); ++p) {
      Calls next = calls;
      next.lhs_at.clear();
      next.rhs_at.clear();
      next.out_at.clear();
      next.sizes_at.clear();
      const bool own_sizes = sizes_extent.size() > 1;
      for (std::size_t i = 0; i < calls.lhs_at.size(); ++i)
        for (offset_t x = 0; x < lhs.extent[prefix[p]]; ++x) {
          next.lhs_at.push_back(calls.lhs_at[i] + x * lhs.stride[prefix[p]]);
          next.rhs_at.push_back(calls.rhs_at[i] + (p < rb.size() ? x * rhs.stride[rb[p]] : 0));
          next.out_at.push_back(calls.out_at[i] + x * out.stride[p]);
          next.sizes_at.push_back(own_sizes ? static_cast<offset_t>(next.sizes_at.size()) *
                                                  calls.groups
                                            : 0);
        }
      calls = next;
    }
    out.take({prefix.size()}, calls.out_rows);
    std::vector<std::size_t> cols;
    for (std::size_t d = prefix.size() + 1; d < out.extent.size(); ++d) cols.push_back(d);
    if (!out.take(cols, calls.out_cols)) return unable();
    return calls;
  }
  if (sizes_extent.size() != 1) return unable();
  if (c.mode == "contracting") {
    calls.variant = Variant::contracting;
    if (lc.size() != 1 || !lb.empty()) return unable();
    const std::vector<std::size_t> rows = lhs.unused();
    if (!lhs.take(rows, calls.lhs_rows) || !rhs.take(rhs.unused(), calls.rhs_cols))
      return unable();
    std::vector<std::size_t> out_rows;
    std::vector<std::size_t> out_cols;
    for (std::size_t d = 1; d < out.extent.size(); ++d)
      (d <= rows.size() ? out_rows : out_cols).push_back(d);
    out.take({0}, calls.out_slab);
    if (!out.take(out_rows, calls.out_rows) || !out.take(out_cols, calls.out_cols)) return unable();
    return calls;
  }
  calls.variant = Variant::batch;
  if (lb.size() != 1 || lhs.extent.size() != 3 || rhs.extent.size() != 3) return unable();
  lhs.take(lb, calls.lhs_batch);
  rhs.take(rb, calls.rhs_slab);
  lhs.take(lhs.unused(), calls.lhs_rows);
  rhs.take(rhs.unused(), calls.rhs_cols);
  out.take({0}, calls.out_slab);
  out.take({1}, calls.out_rows);
  out.take({2}, calls.out_cols);
  return calls;
}

/// Runs all calls of a case with one row; an empty text, or what went wrong.
template <class T, class O>
rg::Status run_calls(const Calls& calls,
                     const DeviceArray<T>& lhs,
                     const DeviceArray<T>& rhs,
                     DeviceArray<O>& out,
                     const DeviceArray<unsigned char>& sizes,
                     IndexType type,
                     const rg::Options& options) {
  for (std::size_t i = 0; i < calls.lhs_at.size(); ++i) {
    const offset_t size_bytes = type == IndexType::s64 ? 8 : 4;
    const rg::Groups groups{sizes.data() + calls.sizes_at[i] * size_bytes, calls.groups,
                            GroupKind::sizes, type};
    const T* a = lhs.data() + calls.lhs_at[i];
    const T* b = rhs.data() + calls.rhs_at[i];
    O* d = out.data() + calls.out_at[i];
    const Calls& c = calls;
    rg::Status status;
    switch (c.variant) {
      case Variant::non_contracting:
        status = rg::ragged_dot(
            rg::View<const T, 2>(a, {c.lhs_rows.extent, c.lhs_depth.extent},
                                 {c.lhs_rows.stride, c.lhs_depth.stride}),
            rg::View<const T, 3>(b, {c.rhs_slab.extent, c.rhs_depth.extent, c.rhs_cols.extent},
                                 {c.rhs_slab.stride, c.rhs_depth.stride, c.rhs_cols.stride}),
            groups,
            rg::View<O, 2>(d, {c.out_rows.extent, c.out_cols.extent},
                           {c.out_rows.stride, c.out_cols.stride}),
            options);
        break;
      case Variant::contracting:
        status = rg::ragged_dot_contracting(
            rg::View<const T, 2>(a, {c.lhs_depth.extent, c.lhs_rows.extent},
                                 {c.lhs_depth.stride, c.lhs_rows.stride}),
            rg::View<const T, 2>(b, {c.rhs_depth.extent, c.rhs_cols.extent},
                                 {c.rhs_depth.stride, c.rhs_cols.stride}),
            groups,
            rg::View<O, 3>(d, {c.out_slab.extent, c.out_rows.extent, c.out_cols.extent},
                           {c.out_slab.stride, c.out_rows.stride, c.out_cols.stride}),
            options);
        break;
      case Variant::batch:
        status = rg::ragged_dot_batch(
            rg::View<const T, 3>(a, {c.lhs_batch.extent, c.lhs_rows.extent, c.lhs_depth.extent},
                                 {c.lhs_batch.stride, c.lhs_rows.stride, c.lhs_depth.stride}),
            rg::View<const T, 3>(b, {c.rhs_slab.extent, c.rhs_depth.extent, c.rhs_cols.extent},
                                 {c.rhs_slab.stride, c.rhs_depth.stride, c.rhs_cols.stride}),
            groups,
            rg::View<O, 3>(d, {c.out_slab.extent, c.out_rows.extent, c.out_cols.extent},
                           {c.out_slab.stride, c.out_rows.stride, c.out_cols.stride}),
            options);
        break;
    }
    if (!status.ok()) return status;
  }
  return runtime::synchronize();
}

template <class T, class O>
std::string run_golden(const GoldenCase& c, const Calls& calls, const char* reference, Tail tail) {
  const DeviceArray<T> lhs(c.tensor.at("lhs").as<T>());
  const DeviceArray<T> rhs(c.tensor.at("rhs").as<T>());
  const DeviceArray<unsigned char> sizes(c.tensor.at("group_sizes").as<unsigned char>());
  const IndexType type =
      c.tensor.at("group_sizes").dtype == "s64" ? IndexType::s64 : IndexType::s32;
  const std::vector<double> expected = c.tensor.at(reference).as<double>();
  const std::vector<float> absdot = c.tensor.at("absdot_f32").as<float>();
  const double terms = std::stod(c.text("n_terms"));
  const Tensor at(c.tensor.at(reference).extent, c.text("out_order"));
  DeviceArray<O> out(expected.size());
  int rows_run = 0;
  for (index_t row = -1; row < rg::config_rows; ++row) {
    out.set(std::vector<O>(expected.size(), poison<O>()));
    const rg::Status status =
        run_calls(calls, lhs, rhs, out, sizes, type, {.tail = tail, .config_row = row});
    if (row >= 0 && (status.code() == rg::StatusCode::config_not_applicable ||
                     status.code() == rg::StatusCode::no_kernel))
      continue;
    const std::string where = row < 0 ? "selected row" : rg::config_row(row).name;
    if (!status.ok()) return where + ": " + status.message();
    if (row >= 0) ++rows_run;
    if (!out.guards_intact()) return where + ": wrote outside out";
    const std::vector<O> got = out.get();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      offset_t position = 0;
      offset_t rest = static_cast<offset_t>(i);
      for (std::size_t d = at.extent.size(); d-- > 0; rest /= at.extent[d])
        position += rest % at.extent[d] * at.stride[d];
      const O value = got[static_cast<std::size_t>(position)];
      const double wide = double{rg::Element<O>::widen(value)};
      const double bound = error_bound<O>(terms + 1, double{absdot[i]} * (1 + 0x1p-23), expected[i]);
      const O rounded = rg::Element<O>::round(static_cast<float>(expected[i]));
      const bool right =
          c.exact ? same_bits(value, rounded) : std::fabs(wide - expected[i]) <= bound;
      if (!right)
        return where + ": element " + std::to_string(i) + " is " + std::to_string(wide) +
               ", needed " + std::to_string(expected[i]) + (c.exact ? " exactly" : " within ") +
               (c.exact ? "" : std::to_string(bound));
    }
  }
  return rows_run == 0 && !expected.empty() ? "no row of the table could be forced" : "";
}

std::string run_dtypes(const GoldenCase& c, const Calls& calls, const char* reference, Tail tail) {
  const std::string in = c.tensor.at("lhs").dtype;
  const std::string out = c.text("out_dtype");
  if (in == "bf16" && out == "bf16") return run_golden<bf16, bf16>(c, calls, reference, tail);
  if (in == "bf16" && out == "f32") return run_golden<bf16, float>(c, calls, reference, tail);
  if (in == "f16" && out == "f16") return run_golden<fp16, fp16>(c, calls, reference, tail);
  if (in == "f16" && out == "f32") return run_golden<fp16, float>(c, calls, reference, tail);
  if (in == "f32" && out == "f32") return run_golden<float, float>(c, calls, reference, tail);
  return "no test of " + in + "→" + out;
}

/// Why a case is not run, or nothing.
std::string reason_to_skip(const GoldenCase& c) {
  if (c.mode == "moe") return "routing comes with the next issue";
  if (c.text("kind") == "group_offset") return "group_offset comes with the next issue";
  for (const std::string& dtype : {c.tensor.at("lhs").dtype, c.tensor.at("rhs").dtype,
                                   c.text("out_dtype")})
    if (dtype != "bf16" && dtype != "f16" && dtype != "f32")
      return "element type " + dtype + " comes with the next issue";
  return {};
}

TEST_CASE("Every golden case that the calls express has the golden result",
          "[golden][device]") {
  const char* const folder = std::getenv("RAGGEDGEMM_GOLDEN_DIR");
  const Golden golden(folder != nullptr && *folder != '\0' ? folder : SUPPORT_GOLDEN_DIR);
  REQUIRE(golden.error() == "");
  int ran = 0;
  int exact = 0;
  std::string skipped;
  int skips = 0;
  for (const GoldenCase& c : golden.cases()) {
    std::string reason = reason_to_skip(c);
    Calls calls;
    if (reason.empty()) {
      calls = calls_of(c);
      reason = calls.reason;
    }
    if (!reason.empty()) {
      skipped += "  skipped " + c.name + ": " + reason + "\n";
      ++skips;
      continue;
    }
    INFO(c.name);
    CHECK(run_dtypes(c, calls, "ref_f64", Tail::zero) == "");
    if (c.tensor.count("ref_tail_compute_f64") != 0)
      CHECK(run_dtypes(c, calls, "ref_tail_compute_f64", Tail::compute) == "");
    ++ran;
    exact += c.exact ? 1 : 0;
  }
  std::printf("%sgolden: %d cases ran (%d of them exact), %d skipped, %d in all\n",
              skipped.c_str(), ran, exact, skips, static_cast<int>(golden.cases().size()));
  CHECK(ran >= cases_expected);
}

}  // namespace
