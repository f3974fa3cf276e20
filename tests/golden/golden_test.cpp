// SPDX-License-Identifier: Apache-2.0
// The golden cases: inputs and f64 results made by another program (numpy, checked against the
// published evaluator fixtures). Every ragged dot among them is run through the type-erased call,
// as selection would and with every kernel of this program; the others are listed with the reason.
//
// The folder is RAGGEDGEMM_GOLDEN_DIR, or the copy in tests/data/golden.

#include "support/golden.hpp"

#include <raggedgemm/erased.hpp>

#include <cstdlib>
#include <memory>

#include "support/conformance.hpp"
#include "support/workspace.hpp"

#if !defined(SUPPORT_GOLDEN_DIR)
#define SUPPORT_GOLDEN_DIR "tests/data/golden"
#endif

namespace {

using namespace support;
using rg::DType;
using rg::index_t;
using rg::offset_t;

/// How many of the golden cases must run: a change that loses one fails the test.
constexpr int cases_expected = 68;

DType dtype_named(const std::string& name) {
  if (name == "f8e4m3fn" || name == "e4m3fn") return DType::e4m3fn;
  if (name == "f8e5m2" || name == "e5m2") return DType::e5m2;
  for (index_t i = 0; i < rg::dtype_count; ++i)
    if (name == rg::name_of(static_cast<DType>(i))) return static_cast<DType>(i);
  FAIL("no element type " << name);
  return DType::f32;
}

/// What the checks need of an output type: one element as double, a double as one element, and the
/// relative and absolute rounding error.
struct OutputType {
  double (*widen)(const unsigned char*);
  void (*round)(double, unsigned char*);
  double accumulator_roundoff;
  double roundoff;
  double smallest;
};

template <class T>
OutputType output_type() {
  OutputType type{};
  type.widen = [](const unsigned char* bytes) {
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<double>(rg::Element<T>::widen(value));
  };
  type.round = [](double wide, unsigned char* bytes) {
    T value{};
    if constexpr (std::is_integral_v<T>)
      value = rg::Element<T>::round(static_cast<std::int32_t>(wide));
    else
      value = rg::Element<T>::round(wide);
    std::memcpy(bytes, &value, sizeof value);
  };
  type.accumulator_roundoff = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;
  if constexpr (!std::is_integral_v<T> && !std::is_same_v<T, double>) {
    type.roundoff = unit_roundoff<T>;
    type.smallest = half_smallest<T>;
  }
  return type;
}

OutputType output_type_of(DType dtype) {
  switch (dtype) {
    case DType::bf16: return output_type<rg::bf16>();
    case DType::f16: return output_type<rg::fp16>();
    case DType::f32: return output_type<float>();
    case DType::f64: return output_type<double>();
    case DType::s8: return output_type<std::int8_t>();
    case DType::s32: return output_type<std::int32_t>();
    default: FAIL("no golden result of this type"); return {};
  }
}

/// Row-major, or in a minor-to-major order like "0,1".
template <class Pointer>
rg::BasicTensor<Pointer> tensor_of(Pointer data,
                                   DType dtype,
                                   const std::vector<std::int64_t>& extents,
                                   const std::string& minor_to_major = "") {
  rg::BasicTensor<Pointer> tensor;
  tensor.data = data;
  tensor.dtype = dtype;
  tensor.rank = static_cast<index_t>(extents.size());
  std::vector<std::size_t> order;
  std::istringstream words(minor_to_major);
  for (std::string word; std::getline(words, word, ',');) order.push_back(std::stoul(word));
  for (std::size_t d = extents.size(); order.size() < extents.size();) order.push_back(--d);
  offset_t step = 1;
  for (const std::size_t d : order) {
    tensor.extent[d] = extents[d];
    tensor.stride[d] = step;
    step *= extents[d];
  }
  return tensor;
}

rg::DimList dim_list(const std::vector<std::size_t>& dims) {
  rg::DimList list;
  for (const std::size_t d : dims) list.dim[list.count++] = static_cast<index_t>(d);
  return list;
}

rg::DimensionNumbers dimension_numbers(const GoldenCase& c) {
  if (c.text("kind") == "group_offset")
    return c.mode == "contracting" ? rg::DimensionNumbers{.lhs_contracting = {0},
                                                          .rhs_contracting = {0},
                                                          .lhs_ragged = {0}}
                                   : rg::DimensionNumbers{.lhs_contracting = {1},
                                                          .rhs_contracting = {1},
                                                          .lhs_ragged = {0},
                                                          .rhs_group = {0}};
  rg::DimensionNumbers dims;
  dims.lhs_contracting = dim_list(c.dims("lc"));
  dims.rhs_contracting = dim_list(c.dims("rc"));
  dims.lhs_batch = dim_list(c.dims("lb"));
  dims.rhs_batch = dim_list(c.dims("rb"));
  dims.lhs_ragged = dim_list(c.dims("ragged"));
  dims.rhs_group = dim_list(c.dims("group"));
  return dims;
}

/// Runs a case with every row of the table; an empty text, or what went wrong.
std::string run_golden(const GoldenCase& c, const char* reference, Tail tail) {
  const GoldenTensor& lhs_golden = c.tensor.at("lhs");
  const GoldenTensor& rhs_golden = c.tensor.at("rhs");
  const GoldenTensor& sizes_golden = c.tensor.at("group_sizes");
  const GoldenTensor& expected_golden = c.tensor.at(reference);
  const DeviceArray<unsigned char> lhs(lhs_golden.as<unsigned char>());
  const DeviceArray<unsigned char> rhs(rhs_golden.as<unsigned char>());
  const DeviceArray<unsigned char> sizes(sizes_golden.as<unsigned char>());
  const DType out_dtype = dtype_named(c.text("out_dtype"));
  const std::size_t out_bytes = static_cast<std::size_t>(rg::bytes_of(out_dtype));
  const OutputType type = output_type_of(out_dtype);
  const std::vector<double> expected = expected_golden.as<double>();
  const std::vector<float> absdot = c.tensor.at("absdot_f32").as<float>();
  const double terms = std::stod(c.text("n_terms"));

  rg::GroupTensor groups;
  groups.groups.data = sizes.data();
  groups.groups.kind = GroupKind::sizes;
  groups.groups.type = sizes_golden.dtype == "s64" ? IndexType::s64 : IndexType::s32;
  groups.rank = static_cast<index_t>(sizes_golden.extent.size());
  std::copy(sizes_golden.extent.begin(), sizes_golden.extent.end(), groups.extent);

  std::vector<unsigned char> before(expected.size() * out_bytes, 0xFF);  // NaN, or -1
  rg::Options options{.tail = tail};
  if (c.text("kind") == "group_offset") options.group_offset = std::stoll(c.text("group_offset"));
  if (c.text("existing_out") == "1") {
    before = c.tensor.at("existing_out").as<unsigned char>();
    options.tail = Tail::keep;
  }
  DeviceArray<unsigned char> out(before.size());
  const auto at =
      tensor_of<void*>(out.data(), out_dtype, expected_golden.extent, c.text("out_order"));
  const auto lhs_tensor =
      tensor_of<const void*>(lhs.data(), dtype_named(lhs_golden.dtype), lhs_golden.extent);
  const auto rhs_tensor =
      tensor_of<const void*>(rhs.data(), dtype_named(rhs_golden.dtype), rhs_golden.extent);
  const rg::DimensionNumbers dims = dimension_numbers(c);

  int rows_run = 0;
  for (index_t row = -1; row < rg::config_rows; ++row) {
    out.set(before);
    options.config_row = row;
    rg::Options lent = options;
    std::unique_ptr<Workspace> workspace;
    if (const auto call = rg::erased::describe(lhs_tensor, rhs_tensor, groups, at, dims, options);
        call.ok()) {
      if (const auto plan = rg::erased::make_plan(call.value(), options); plan.ok()) {
        workspace = std::make_unique<Workspace>(plan.value());
        lent.workspace = workspace->data();
        lent.workspace_bytes = workspace->bytes();
      }
    }
    rg::Status status =
        rg::erased::ragged_dot_general(lhs_tensor, rhs_tensor, groups, at, dims, lent);
    if (row >= 0 && (status.code() == rg::StatusCode::config_not_applicable ||
                     status.code() == rg::StatusCode::no_kernel))
      continue;
    const std::string where = row < 0 ? "selected row" : rg::config_row(row).name;
    if (status.ok()) status = runtime::synchronize();
    if (!status.ok()) return where + ": " + status.message();
    if (row >= 0) ++rows_run;
    if (!out.guards_intact()) return where + ": wrote outside out";
    const std::vector<unsigned char> got = out.get();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      offset_t position = 0;
      offset_t rest = static_cast<offset_t>(i);
      for (index_t d = at.rank - 1; d >= 0; rest /= at.extent[d], --d)
        position += rest % at.extent[d] * at.stride[d];
      const unsigned char* value = got.data() + static_cast<std::size_t>(position) * out_bytes;
      unsigned char rounded[8];
      type.round(expected[i], rounded);
      const double accumulated = (terms + 1) * type.accumulator_roundoff /
                                 (1 - (terms + 1) * type.accumulator_roundoff) * double{absdot[i]} *
                                 (1 + 0x1p-23);
      const double bound =
          accumulated + type.roundoff * (std::fabs(expected[i]) + accumulated) + type.smallest;
      const bool exact = c.exact || is_integer(out_dtype);
      const bool right = exact ? std::memcmp(value, rounded, out_bytes) == 0
                               : std::fabs(type.widen(value) - expected[i]) <= bound;
      if (!right)
        return where + ": element " + std::to_string(i) + " is " +
               std::to_string(type.widen(value)) + ", needed " + std::to_string(expected[i]) +
               (exact ? " exactly" : " within " + std::to_string(bound));
    }
  }
  return rows_run == 0 && !expected.empty() ? "no row of the table could be forced" : "";
}

TEST_CASE("Every golden ragged dot has the golden result, with every kernel", "[golden][device]") {
  const char* const folder = std::getenv("RAGGEDGEMM_GOLDEN_DIR");
  const Golden golden(folder != nullptr && *folder != '\0' ? folder : SUPPORT_GOLDEN_DIR);
  REQUIRE(golden.error() == "");
  int ran = 0;
  int exact = 0;
  std::string skipped;
  int skips = 0;
  for (const GoldenCase& c : golden.cases()) {
    if (c.mode == "moe") {
      skipped += "  skipped " + c.name + ": routing is not a ragged dot\n";
      ++skips;
      continue;
    }
    INFO(c.name);
    CHECK(run_golden(c, "ref_f64", Tail::zero) == "");
    if (c.tensor.count("ref_tail_compute_f64") != 0)
      CHECK(run_golden(c, "ref_tail_compute_f64", Tail::compute) == "");
    ++ran;
    exact += c.exact ? 1 : 0;
  }
  std::printf("%sgolden: %d cases ran (%d of them exact), %d skipped, %d in all\n",
              skipped.c_str(),
              ran,
              exact,
              skips,
              static_cast<int>(golden.cases().size()));
  CHECK(ran >= cases_expected);
}

}  // namespace
