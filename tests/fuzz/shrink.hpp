// SPDX-License-Identifier: Apache-2.0
// shrink: makes a failing Spec smaller while it still fails, each try in a process of its own, so
// that crashes and sanitizer reports shrink like wrong results. print_call: the C++ that shows it.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "fuzz/run_call.hpp"

namespace fuzz {

/// How a spec ends, as a wait status: 0 when all is right.
inline int outcome(const Spec& spec, bool quiet) {
  std::fflush(nullptr);
  const pid_t child = fork();
  require(child >= 0, "fork failed");
  if (child == 0) {
    if (quiet && (std::freopen("/dev/null", "w", stdout) == nullptr ||
                  std::freopen("/dev/null", "w", stderr) == nullptr))
      _exit(3);
    alarm(20);
    run_call(spec);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

/// Every spec that is one step simpler.
inline std::vector<Spec> simpler(const Spec& s) {
  std::vector<Spec> all;
  const auto propose = [&](const std::function<void(Spec&)>& edit) {
    Spec t = s;
    edit(t);
    normalise(t);
    all.push_back(t);
  };
  // Options first: what is left of them says what the failure is about.
  if (s.defect != Defect::none) propose([](Spec& t) { t.defect = Defect::none; });
  if (s.defect_value != 0) propose([](Spec& t) { t.defect_value = 0; });
  if (s.defect_value / 2 != 0) propose([](Spec& t) { t.defect_value /= 2; });
  if (s.route != Route::call) propose([](Spec& t) { t.route = Route::call; });
  if (s.types != Types::f32) propose([](Spec& t) { t.types = Types::f32; });
  if (s.epilogue) propose([](Spec& t) { t.epilogue = false; });
  if (s.fault) propose([](Spec& t) { t.fault = false; });
  if (s.host_row) propose([](Spec& t) { t.host_row = false; });
  if (s.gathers) propose([](Spec& t) { t.gathers = false; });
  if (s.scatters) propose([](Spec& t) { t.scatters = false; });
  if (s.tells_extent) propose([](Spec& t) { t.tells_extent = false; });
  if (s.group_alpha) propose([](Spec& t) { t.group_alpha = false; });
  if (s.has_c) propose([](Spec& t) { t.has_c = false; });
  if (s.alpha != 1) propose([](Spec& t) { t.alpha = 1; });
  if (s.beta != 0) propose([](Spec& t) { t.beta = 0; });
  if (s.tail != Tail::zero) propose([](Spec& t) { t.tail = Tail::zero; });
  if (s.group_offset >= 0) propose([](Spec& t) { t.group_offset = -1; });
  if (s.group_offset > 0) propose([](Spec& t) { --t.group_offset; });
  if (s.more_groups > 0) propose([](Spec& t) { --t.more_groups; });
  if (s.prefix_groups) propose([](Spec& t) { t.prefix_groups = false; });
  if (s.kind != GroupKind::sizes) propose([](Spec& t) { t.kind = GroupKind::sizes; });
  if (s.type != IndexType::s64) propose([](Spec& t) { t.type = IndexType::s64; });
  if (s.salt != 0) propose([](Spec& t) { t.salt = 0; });
  for (Layout Spec::*layout : {&Spec::lhs, &Spec::rhs, &Spec::out, &Spec::c}) {
    const Layout& l = s.*layout;
    if (l.order != 0) propose([&](Spec& t) { (t.*layout).order = 0; });
    if (l.reversed != 0) propose([&](Spec& t) { (t.*layout).reversed = 0; });
    if (l.shared != 0) propose([&](Spec& t) { (t.*layout).shared = 0; });
    if (l.padded != 0 || l.pad != 0)
      propose([&](Spec& t) { (t.*layout).padded = 0, (t.*layout).pad = 0; });
    if (l.unit != 1) propose([&](Spec& t) { (t.*layout).unit = 1; });
    if (l.shift != 0) propose([&](Spec& t) { (t.*layout).shift = 0; });
  }
  // Fewer and smaller dimensions and groups.
  for (Extents Spec::*kind : {&Spec::batch, &Spec::contract, &Spec::lhs_free, &Spec::rhs_free})
    for (std::size_t i = 0; i < (s.*kind).size(); ++i) {
      if (s.general)
        propose(
            [&](Spec& t) { (t.*kind).erase((t.*kind).begin() + static_cast<std::ptrdiff_t>(i)); });
      const offset_t e = (s.*kind)[i];
      for (const offset_t smaller : {offset_t{0}, offset_t{1}, e / 2, e - 1})
        if (smaller >= 0 && smaller < e) propose([&](Spec& t) { (t.*kind)[i] = smaller; });
    }
  if (s.ragged_at > 0) propose([](Spec& t) { t.ragged_at = 0; });
  if (s.slabs > 0) {
    propose([](Spec& t) { --t.slabs; });
    propose([](Spec& t) {
      --t.slabs;
      if (!t.entries.empty()) t.entries.erase(t.entries.begin());
    });
  }
  if (s.lhs_extent > 0 && s.gathers) propose([](Spec& t) { --t.lhs_extent; });
  if (s.out_extent > 0 && s.scatters) propose([](Spec& t) { --t.out_extent; });
  for (std::size_t i = 0; i < s.entries.size(); ++i) {
    const std::int64_t entry = s.entries[i];
    for (const std::int64_t smaller : {std::int64_t{0}, std::int64_t{1}, entry / 2})
      if (std::abs(smaller / 2) < std::abs(entry / 2) || (smaller == 0 && entry != 0))
        propose([&](Spec& t) { t.entries[i] = smaller; });
  }
  for (std::size_t i = 0; i < s.lhs_index.size(); ++i)
    if (s.lhs_index[i] != 0) propose([&](Spec& t) { t.lhs_index[i] = 0; });
  for (std::size_t i = 0; i < s.out_index.size(); ++i)
    if (s.out_index[i] != static_cast<std::int32_t>(i))
      propose([&](Spec& t) { t.out_index[i] = static_cast<std::int32_t>(i); });
  for (std::vector<Place> Spec::*places : {&Spec::lhs_places, &Spec::rhs_places})
    if (s.general && !(s.*places).empty()) propose([&](Spec& t) { (t.*places).clear(); });
  return all;
}

/// A number that every accepted simplification makes smaller, so that shrinking ends.
inline double weight(const Spec& s) {
  double sum = 0;
  for (const Extents* extents : {&s.batch, &s.contract, &s.lhs_free, &s.rhs_free})
    for (const offset_t e : *extents) sum += 10 + 4 * static_cast<double>(e);
  for (const std::int64_t e : s.entries)
    sum += 2 + std::log2(1 + std::fabs(static_cast<double>(e)));
  for (std::size_t i = 0; i < s.lhs_index.size(); ++i) sum += s.lhs_index[i] != 0;
  for (std::size_t i = 0; i < s.out_index.size(); ++i)
    sum += s.out_index[i] != static_cast<std::int32_t>(i);
  for (const Layout* l : {&s.lhs, &s.rhs, &s.out, &s.c})
    sum += (l->order != 0) + (l->reversed != 0) + (l->shared != 0) +
           (l->padded != 0 || l->pad != 0) + (l->unit != 1) + (l->shift != 0);
  sum += (s.defect != Defect::none) + std::log2(1 + std::fabs(static_cast<double>(s.defect_value)));
  sum += (s.route != Route::call) + (s.types != Types::f32) + s.epilogue + s.fault + s.host_row +
         5 * s.gathers + 5 * s.scatters + s.tells_extent + s.group_alpha + s.has_c +
         (s.alpha != 1) + (s.beta != 0) + (s.tail != Tail::zero) + s.prefix_groups +
         (s.kind != GroupKind::sizes) + (s.type != IndexType::s64) + (s.salt != 0);
  sum +=
      static_cast<double>(s.group_offset + s.more_groups + s.slabs + s.lhs_extent + s.out_extent) +
      static_cast<double>(s.ragged_at);
  for (std::size_t i = 0; i + 1 < s.lhs_places.size(); ++i)
    sum += s.lhs_places[i].kind > s.lhs_places[i + 1].kind;
  for (std::size_t i = 0; i + 1 < s.rhs_places.size(); ++i)
    sum += 0.5 * (s.rhs_places[i].kind > s.rhs_places[i + 1].kind);
  return sum;
}

inline Spec shrink(Spec spec) {
  const int failure = outcome(spec, true);
  if (failure == 0) {
    std::printf("the call does not fail; nothing to shrink\n");
    return spec;
  }
  int tries = 0;
  for (bool progress = true; progress;) {
    progress = false;
    for (const Spec& candidate : simpler(spec)) {
      if (!(weight(candidate) < weight(spec))) continue;
      ++tries;
      if (outcome(candidate, true) != failure) continue;
      spec = candidate;
      progress = true;
      break;
    }
  }
  std::printf("shrunk in %d tries\n", tries);
  return spec;
}

inline std::string text_of(const std::vector<std::int64_t>& values) {
  std::string text;
  for (const std::int64_t value : values)
    text += (text.empty() ? "" : ", ") + (value == std::numeric_limits<std::int64_t>::min()
                                              ? std::string("INT64_MIN")
                                              : std::to_string(value));
  return "{" + text + "}";
}

/// Prints the call as C++, with operands as the fuzzer fills them.
inline void print_call(const Spec& given) {
  Built b;
  build(given, b);
  const Spec& s = b.spec;
  if (b.expect == Expect::run) (void)Oracle(b).expected();
  static constexpr const char* types[] = {"float", "rg::bf16", "rg::bf16"};
  static constexpr const char* dtypes[] = {"rg::DType::f32", "rg::DType::bf16"};
  static constexpr const char* index_types[] = {"std::int8_t",
                                                "std::int16_t",
                                                "std::int32_t",
                                                "std::int64_t",
                                                "std::uint8_t",
                                                "std::uint16_t",
                                                "std::uint32_t",
                                                "std::uint64_t"};
  static constexpr const char* kinds[] = {"", "GroupSizes", "GroupEndOffsets", "GroupOffsets"};
  static constexpr const char* kind_values[] = {"none", "sizes", "end_offsets", "offsets"};
  const char* const in = types[static_cast<int>(s.types)];
  const char* const out = s.types == Types::bf16 ? "rg::bf16" : "float";
  std::printf(
      "// defect: %s (%lld); route: %d; NAN: not read by the definition, or not yet written\n",
      defect_names[static_cast<int>(s.defect)],
      static_cast<long long>(s.defect_value),
      static_cast<int>(s.route));
  const auto dims = [](const offset_t* values, index_t rank) {
    return text_of(std::vector<std::int64_t>(values, values + rank));
  };
  const auto array = [](const char* name, const char* type, const Operand& operand, int shift) {
    std::printf("std::vector<%s> %s = ", type, name);
    if (operand.elems > 256 || operand.memory.bytes() == 0) {
      std::printf("/* %lld elements */;", static_cast<long long>(operand.elems));
    } else {
      for (offset_t i = 0; i < operand.elems; ++i)
        std::printf("%s%g",
                    i == 0 ? "{" : ", ",
                    value_at(operand.memory.data() + i * rg::bytes_of(operand.tensor.dtype),
                             operand.tensor.dtype));
      std::printf("};");
    }
    if (shift != 0) std::printf("  // %d elements past an aligned address", shift);
    std::printf("\n");
  };
  const auto pointer = [](const char* name, const Operand& operand) {
    if (operand.tensor.data == nullptr) return std::string("nullptr");
    std::string text = std::string(name) + ".data()";
    if (operand.first != 0) text += " + " + std::to_string(operand.first);
    return text;
  };
  array("lhs", in, b.lhs, s.lhs.shift);
  array("rhs", in, b.rhs, s.rhs.shift);
  array("out", out, b.out, s.out.shift);
  if (s.has_c) array("c", out, b.c, s.c.shift);
  if (s.kind != GroupKind::none)
    std::printf("std::vector<%s> sizes = %s;\n",
                index_types[static_cast<int>(s.type)],
                text_of(s.entries).c_str());
  if (s.gathers)
    std::printf("std::vector<std::int32_t> lhs_index = %s;\n",
                text_of({s.lhs_index.begin(), s.lhs_index.end()}).c_str());
  if (s.scatters)
    std::printf("std::vector<std::int32_t> out_index = %s;\n",
                text_of({s.out_index.begin(), s.out_index.end()}).c_str());
  if (s.group_alpha) {
    std::printf("std::vector<float> group_alpha = ");
    for (std::size_t i = 0; i < b.group_factors.size(); ++i)
      std::printf("%s%g", i == 0 ? "{" : ", ", static_cast<double>(b.group_factors[i]));
    std::printf("};\n");
  }
  const rg::Options& o = b.options;
  std::printf("rg::Options options;\n");
  if (o.alpha != 1) std::printf("options.alpha = %g;\n", o.alpha);
  if (o.beta != 0) std::printf("options.beta = %g;\n", o.beta);
  static constexpr const char* tails[] = {"zero", "keep", "compute"};
  if (o.tail != Tail::zero)
    std::printf("options.tail = rg::Tail::%s;\n", tails[static_cast<int>(o.tail)]);
  if (o.group_offset != -1)
    std::printf("options.group_offset = %lld;\n", static_cast<long long>(o.group_offset));
  if (o.config_row != -1) std::printf("options.config_row = %d;\n", o.config_row);
  if (o.platform != rg::Platform::automatic)
    std::printf("options.platform = rg::Platform::%s;\n", rg::name_of(o.platform));
  if (s.gathers) std::printf("options.lhs_index = lhs_index.data();\n");
  if (s.scatters || s.defect == Defect::scatter)
    std::printf("options.out_index = out_index.data();\n");
  if (o.ragged_extent != -1)
    std::printf("options.ragged_extent = %lld;\n", static_cast<long long>(o.ragged_extent));
  if (s.group_alpha) std::printf("options.group_alpha = group_alpha.data();\n");
  if (s.fault) std::printf("rg::Fault fault;\noptions.fault = &fault;\n");
  const auto tensor = [&](const char* name, const rg::Tensor& t, const std::string& data) {
    std::printf("{%s, %s, %d, %s, %s}%s",
                data.c_str(),
                dtypes[t.dtype == rg::DType::bf16],
                t.rank,
                dims(t.extent, t.rank).c_str(),
                dims(t.stride, t.rank).c_str(),
                name);
  };
  if (s.has_c) {
    std::printf("options.c = ");
    tensor(";\n", o.c, pointer("c", b.c));
  }
  if (!s.general) {
    static constexpr const char* calls[] = {
        "ragged_dot", "ragged_dot_contracting", "ragged_dot_batch"};
    std::printf("rg::Status status = rg::%s(\n", calls[static_cast<int>(s.variant)]);
    const auto view = [&](const char* type, const char* name, const Operand& operand) {
      const rg::Tensor& t = operand.tensor;
      std::printf("    rg::View<%s, %d>(%s, %s, %s),\n",
                  type,
                  t.rank,
                  pointer(name, operand).c_str(),
                  dims(t.extent, t.rank).c_str(),
                  dims(t.stride, t.rank).c_str());
    };
    const std::string const_in = std::string("const ") + in;
    view(const_in.c_str(), "lhs", b.lhs);
    view(const_in.c_str(), "rhs", b.rhs);
    if (s.kind == GroupKind::none)
      std::printf("    rg::Groups{},\n");
    else
      std::printf("    rg::%s(%s, %lld),\n",
                  kinds[static_cast<int>(s.kind)],
                  b.groups.groups.data == nullptr ? "nullptr" : "sizes.data()",
                  static_cast<long long>(b.groups.groups.count));
    view(out, "out", b.out);
    std::printf("    %soptions);\n", s.epilogue ? "AddSlab{}, " : "");
    return;
  }
  const auto list = [](const rg::DimList& l) {
    std::string text;
    for (index_t i = 0; i < l.count && i < rg::max_rank; ++i)
      text += (i == 0 ? "" : ", ") + std::to_string(l.dim[i]);
    return "{" + text + "}" +
           (l.count < 0 || l.count > rg::max_rank ? "/* count " + std::to_string(l.count) + " */"
                                                  : "");
  };
  std::printf(
      "rg::DimensionNumbers dims{.lhs_contracting = %s, .rhs_contracting = %s, .lhs_batch = %s, "
      ".rhs_batch = %s, .lhs_ragged = %s, .rhs_group = %s};\n",
      list(b.dims.lhs_contracting).c_str(),
      list(b.dims.rhs_contracting).c_str(),
      list(b.dims.lhs_batch).c_str(),
      list(b.dims.rhs_batch).c_str(),
      list(b.dims.lhs_ragged).c_str(),
      list(b.dims.rhs_group).c_str());
  std::printf("rg::Status status = rg::erased::ragged_dot_general(\n    ");
  tensor(",\n    ", b.lhs.tensor, pointer("lhs", b.lhs));
  tensor(",\n    ", b.rhs.tensor, pointer("rhs", b.rhs));
  if (s.kind == GroupKind::none)
    std::printf("rg::Groups{},\n    ");
  else
    std::printf("rg::GroupTensor(%s, rg::GroupKind::%s, %s),\n    ",
                b.groups.groups.data == nullptr ? "nullptr" : "sizes.data()",
                kind_values[static_cast<int>(s.kind)],
                dims(b.groups.extent, b.groups.rank).c_str());
  tensor(",\n    dims, options);\n", b.out.tensor, pointer("out", b.out));
}

}  // namespace fuzz
