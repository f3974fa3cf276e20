// SPDX-License-Identifier: Apache-2.0
// The result files: CSV, one line a case, and JSON with the machine and its ceilings.
// Cells of a case that did not run are empty in CSV and null in JSON.
#include <cstdio>
#include <memory>

#include "machine.hpp"
#include "report.hpp"
#include "text.hpp"

namespace raggedgemm::bench {

namespace {

/// A column or key with its value; text is quoted in JSON only.
struct Field {
  const char* name;
  std::string value;  ///< "" is no value
  bool is_text = false;
};

std::vector<Field> fields_of(const std::vector<CaseResult>& results, const CaseResult& r) {
  const auto number = [&](double value, const char* pattern = "%.6g") {
    char text[64];
    std::snprintf(text, sizeof text, pattern, value);
    return r.ok() ? std::string(text) : std::string();
  };
  const auto whole = [](offset_t value) { return std::to_string(value); };
  const auto ratio = [&](BackendId other) {
    const double value = r.backend == BackendId::native ? speedup(results, r, other) : 0;
    return value > 0 ? number(value) : std::string();
  };
  return {{"class", name_of(r.op), true},
          {"dtype", raggedgemm::name_of(r.dtype), true},
          {"m", whole(r.shape.m)},
          {"k", whole(r.shape.k)},
          {"n", whole(r.shape.n)},
          {"experts", whole(r.shape.g)},
          {"origin", r.shape.origin, true},
          {"sizes", r.sizes_name, true},
          {"rows_in_groups", whole(r.sum)},
          {"largest_group", whole(r.largest)},
          {"groups_with_rows", whole(r.non_empty)},
          {"backend", name_of(r.backend), true},
          {"status", name_of(r.outcome), true},
          {"note", r.prepared.note, true},
          {"config_row", r.prepared.row >= 0 ? std::to_string(r.prepared.row) : ""},
          {"engine", r.prepared.engine, true},
          {"warmups", r.ok() ? std::to_string(r.timing.warmups) : ""},
          {"runs", r.ok() ? std::to_string(r.timing.runs) : ""},
          {"mean_us", number(r.timing.mean_us)},
          {"median_us", number(r.timing.median_us)},
          {"min_us", number(r.timing.min_us)},
          {"stddev_us", number(r.timing.stddev_us)},
          {"tflops_mean", number(r.tflops())},
          {"tflops_median", number(r.tflops_median())},
          {"gbytes_per_s", number(r.gbytes_per_s())},
          {"floor_us", number(r.floor_us)},
          {"fraction_of_floor", number(r.fraction_of_floor())},
          {"extra_bytes", number(r.prepared.extra_bytes, "%.0f")},
          {"native_over_loop", ratio(BackendId::loop)},
          {"native_over_padded_max", ratio(BackendId::padded_max)},
          {"native_over_padded_M", ratio(BackendId::padded_m)}};
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      out += format("\\u%04x", c);
    else
      out += c;
  }
  return out + "\"";
}

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

}  // namespace

bool write_csv(const std::string& path, const std::vector<CaseResult>& results) {
  const File file(std::fopen(path.c_str(), "w"));
  if (!file) return false;
  bool header = true;
  for (const CaseResult& r : results) {
    const std::vector<Field> fields = fields_of(results, r);
    if (header)
      for (const Field& f : fields)
        std::fprintf(file.get(), "%s%s", &f == fields.data() ? "" : ",", f.name);
    if (header) std::fprintf(file.get(), "\n");
    header = false;
    for (const Field& f : fields) {
      std::string value = f.value;
      for (char& c : value)
        if (c == ',' || c == '\n') c = ';';
      std::fprintf(file.get(), "%s%s", &f == fields.data() ? "" : ",", value.c_str());
    }
    std::fprintf(file.get(), "\n");
  }
  return std::fflush(file.get()) == 0 && std::ferror(file.get()) == 0;
}

bool write_json(const std::string& path,
                const std::vector<CaseResult>& results,
                const Settings& settings,
                const Ceilings& ceilings,
                const RunFacts& facts) {
  const File file(std::fopen(path.c_str(), "w"));
  if (!file) return false;
  std::fprintf(file.get(),
               "{\n"
               "  \"machine\": %s,\n  \"platform\": %s,\n  \"compiler\": %s,\n  \"blas\": %s,\n"
               "  \"raggedgemm\": %s,\n  \"seed\": %llu,\n  \"cold\": %s,\n  \"scaling\": %s,\n",
               quoted(facts.machine).c_str(),
               quoted(raggedgemm::name_of(device::platform)).c_str(),
               quoted(facts.compiler).c_str(),
               quoted(facts.blas).c_str(),
               quoted(version_string).c_str(),
               static_cast<unsigned long long>(settings.seed),
               quoted(facts.cold).c_str(),
               quoted(settings.scaling).c_str());
  std::fprintf(file.get(),
               "  \"ceilings\": {\"matmul_flops_per_s\": %.6g, \"matmul\": %s, "
               "\"copy_bytes_per_s\": %.6g, \"write_bytes_per_s\": %.6g},\n  \"cases\": [",
               ceilings.matmul_flops,
               quoted(ceilings.matmul_name).c_str(),
               ceilings.copy_bytes,
               ceilings.write_bytes);
  for (const CaseResult& r : results) {
    std::fprintf(file.get(), "%s\n    {", &r == results.data() ? "" : ",");
    const std::vector<Field> fields = fields_of(results, r);
    for (const Field& f : fields)
      std::fprintf(file.get(),
                   "%s\"%s\": %s",
                   &f == fields.data() ? "" : ", ",
                   f.name,
                   f.is_text         ? quoted(f.value).c_str()
                   : f.value.empty() ? "null"
                                     : f.value.c_str());
    std::fprintf(file.get(), "}");
  }
  std::fprintf(file.get(), "\n  ]\n}\n");
  return std::fflush(file.get()) == 0 && std::ferror(file.get()) == 0;
}

}  // namespace raggedgemm::bench
