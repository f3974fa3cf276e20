// SPDX-License-Identifier: Apache-2.0
// The command line: one table of flags, then the defaults of what was not given.
// Nothing here touches a device, so that --help and --list work anywhere.
#include "options.hpp"

#include <functional>

#include "dtypes.hpp"
#include "text.hpp"

namespace raggedgemm::bench {

namespace {

constexpr double cpu_case_seconds = 0.12;
constexpr double cpu_most_flops = 2.5e8;
constexpr double quick_case_seconds = 0.04;
constexpr double quick_most_flops = 6e7;

/// What the flags say before defaults fill the gaps.
struct Given {
  std::vector<Shape> shapes;
  bool full = false;
  bool dtype = false;
  bool warmups = false;
  bool runs = false;
  bool case_seconds = false;
};

bool parse_dtype(const std::string& text, DType& dtype, std::string& error) {
  for (const DType candidate : bench_dtypes) {
    if (text != raggedgemm::name_of(candidate)) continue;
    dtype = candidate;
    return true;
  }
  error = "dtypes are bf16, f16 and f32; got '" + text + "'";
  return false;
}

bool parse_count(const std::string& flag,
                 const std::string& text,
                 long long least,
                 int& value,
                 std::string& error) {
  long long number = 0;
  if (!parse_integer(text, number) || number < least || number > 1000000) {
    error = format("%s takes a whole number from %lld to 1000000; got '%s'",
                   flag.c_str(),
                   least,
                   text.c_str());
    return false;
  }
  value = static_cast<int>(number);
  return true;
}

/// A comma-separated list, each part read by `parse`.
template <class T>
bool parse_list(const std::string& text,
                std::vector<T>& list,
                const std::function<bool(const std::string&, T&)>& parse) {
  list.clear();
  for (const std::string& part : split(text, ',')) {
    T value{};
    if (!parse(part, value)) return false;
    list.push_back(value);
  }
  return true;
}

bool parse_value(const std::string& flag,
                 const std::string& text,
                 Settings& s,
                 Given& given,
                 std::string& error) {
  if (flag == "--classes")
    return parse_list<OpClass>(text, s.classes, [&](const std::string& part, OpClass& op) {
      error =
          "classes are fwd_wi, fwd_wo, dgrad_wi, dgrad_wo, wgrad_wi, wgrad_wo; got '" + part + "'";
      return parse_class(part, op);
    });
  if (flag == "--backends")
    return parse_list<BackendId>(text, s.backends, [&](const std::string& part, BackendId& id) {
      error = "backends are native, loop, padded:max, padded:M; got '" + part + "'";
      return parse_backend(part, id);
    });
  if (flag == "--sizes")
    return parse_list<SizeSpec>(text, s.sizes, [&](const std::string& part, SizeSpec& spec) {
      return parse_sizes(part, spec, error);
    });
  if (flag == "--shape") {
    Shape shape;
    if (!parse_shape(text, shape, error)) return false;
    given.shapes.push_back(shape);
    return true;
  }
  if (flag == "--model") {
    std::vector<std::string> names;
    return read_model(text, given.shapes, names, error);
  }
  if (flag == "--dtype") {
    given.dtype = true;
    return parse_dtype(text, s.dtype, error);
  }
  if (flag == "--seed") {
    long long seed = 0;
    error = "--seed takes a whole number from 0 on; got '" + text + "'";
    if (!parse_integer(text, seed) || seed < 0) return false;
    s.seed = static_cast<std::uint64_t>(seed);
    return true;
  }
  if (flag == "--warmup") {
    given.warmups = true;
    return parse_count(flag, text, 0, s.warmups, error);
  }
  if (flag == "--runs") {
    given.runs = true;
    return parse_count(flag, text, 1, s.runs, error);
  }
  if (flag == "--case-seconds") {
    given.case_seconds = true;
    error = "--case-seconds takes seconds, or 0 for no limit; got '" + text + "'";
    return parse_real(text, s.case_seconds) && s.case_seconds >= 0;
  }
  if (flag == "--config-row") return parse_count(flag, text, 0, s.config_row, error);
  if (flag == "--json" || flag == "--csv") {
    error = flag + " takes a file name";
    (flag == "--json" ? s.json_path : s.csv_path) = text;
    return !text.empty();
  }
  error = "unknown flag " + flag + "; see --help";
  return false;
}

/// The published shapes, scaled on a CPU; a few of them for --quick.
bool default_shapes(bool gpu, bool full, Settings& s, std::string& error) {
  std::vector<PublishedResult> results;
  std::vector<Shape> shapes;
  if (!read_published(results, shapes, error)) return false;
  const bool scale = !gpu && !full;
  for (const Shape& shape : shapes) {
    // Few rows a group and many groups, small weights, and the first of the table.
    const bool in_quick = shape.g == 160 || shape.g == 256 || shape.same_extents(shapes.front());
    if (s.quick && !in_quick) continue;
    s.shapes.push_back(scale ? scale_for_cpu(shape, s.quick ? quick_most_flops : cpu_most_flops)
                             : shape);
  }
  if (scale)
    s.scaling = format(
        "the published shapes, scaled for a CPU: at most 8 groups of the published mean size, then "
        "K "
        "and N halved together until a product takes at most %.3g GFLOP (--full runs them "
        "unscaled)",
        1e-9 * (s.quick ? quick_most_flops : cpu_most_flops));
  return true;
}

bool fill_defaults(bool gpu, Given& given, Settings& s, std::string& error) {
  if (s.classes.empty()) s.classes.assign(all_classes.begin(), all_classes.end());
  if (s.backends.empty()) s.backends.assign(all_backends.begin(), all_backends.end());
  if (s.sizes.empty()) {
    s.sizes.push_back({SizePattern::balanced, ""});
    if (s.quick) s.sizes.push_back({SizePattern::zipf, ""});
  }
  if (!given.dtype) s.dtype = gpu ? DType::bf16 : DType::f32;
  if (!given.warmups && s.quick) s.warmups = 2;
  if (!given.runs && s.quick) s.runs = 5;
  if (!given.case_seconds)
    s.case_seconds = s.quick ? quick_case_seconds : gpu ? 0.0 : cpu_case_seconds;
  if (given.shapes.empty()) return default_shapes(gpu, given.full, s, error);
  s.shapes = std::move(given.shapes);
  return true;
}

}  // namespace

bool parse_settings(const std::vector<std::string>& arguments,
                    bool gpu,
                    Settings& s,
                    std::string& error) {
  Given given;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.rfind("--benchmark_", 0) == 0) {
      s.gbench.push_back(argument);
      continue;
    }
    if (argument == "--help" || argument == "-h") {
      s.help = true;
      return true;
    }
    if (argument == "--list") {
      s.list = true;
      continue;
    }
    if (argument == "--quick") {
      s.quick = true;
      continue;
    }
    if (argument == "--full") {
      given.full = true;
      continue;
    }
    if (argument.rfind("--", 0) != 0) {
      error = "'" + argument + "' is not a flag; see --help";
      return false;
    }
    const std::size_t equals = argument.find('=');
    std::string value;
    if (equals != std::string::npos) {
      value = argument.substr(equals + 1);
    } else if (i + 1 < arguments.size()) {
      value = arguments[++i];
    } else {
      error = "flag " + argument + " needs a value (or is unknown); see --help";
      return false;
    }
    if (!parse_value(argument.substr(0, equals), value, s, given, error)) return false;
  }
  error.clear();
  return fill_defaults(gpu, given, s, error);
}

std::string help_text(bool gpu) {
  std::string text =
      "raggedgemm_bench: measures ragged matrix products against library baselines and the floor.\n"
      "\n"
      "What to measure (lists are separated by commas):\n"
      "  --classes LIST      fwd_wi,fwd_wo,dgrad_wi,dgrad_wo,wgrad_wi,wgrad_wo (default: all)\n"
      "  --backends LIST     native      this library\n"
      "                      loop        one library product a group (OpenBLAS, cuBLAS, hipBLAS)\n"
      "                      padded:max  groups expanded to the largest one, one batched product\n"
      "                      padded:M    groups expanded to M rows (the publication's default)\n"
      "  --shape M,K,N,E     rows, widths and groups; may be given again\n"
      "  --model NAME        shapes of a model of bench/data/models_*.csv; may be given again\n"
      "  --full              on a CPU: the published shapes unscaled\n"
      "  --dtype T           bf16, f16 or f32\n"
      "  --sizes LIST        balanced (remainder on the first groups, as published), last (on the\n"
      "                      last group), multinomial, zipf (skewed, 1/8 of the groups empty),\n"
      "                      file:PATH (one size a group; the sum may be less than M)\n"
      "  --seed N            of operands and random sizes (default 20240)\n"
      "  --config-row N      force this row of the config table in native\n"
      "  --quick             a few small cases for CI: about 15 seconds on two cores\n"
      "\n"
      "How to measure:\n"
      "  --warmup N          warm-ups a case (default 10)\n"
      "  --runs N            timed runs a case (default 50)\n"
      "  --case-seconds S    cut both to about this time a case (at least 3 runs; 1 of a call\n"
      "                      of 4 times that); 0: never\n"
      "  --benchmark_*       Google Benchmark's own flags, such as --benchmark_filter=REGEX\n"
      "\n"
      "What comes out:\n"
      "  --csv FILE          one line a case; bench/plot.py reads it\n"
      "  --json FILE         the same with the machine and its ceilings\n"
      "  --list              the names of the cases and the config table; measures nothing\n"
      "  --help              this text\n"
      "\n"
      "Exit code: 0; 1 if a result was wrong (FAIL) or there is no device; 2 for a bad flag.\n"
      "\n";
  text += gpu ? "Defaults here (GPU): all published shapes, bf16, no time limit a case.\n"
              : format(
                    "Defaults here (CPU): the published shapes scaled down, f32, --case-seconds "
                    "%g: about a minute.\n",
                    cpu_case_seconds);
  return text;
}

}  // namespace raggedgemm::bench
