// SPDX-License-Identifier: Apache-2.0
// Tests of what the bench does before and after it measures: flags, shapes, group sizes, figures.
// A plain program: prints what is wrong and returns 1.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>

#include "check.hpp"
#include "options.hpp"
#include "result.hpp"
#include "text.hpp"

namespace raggedgemm::bench {
namespace {

int failures = 0;

void expect(bool condition, const char* sentence) {
  if (condition) return;
  std::printf("FAILED: %s\n", sentence);
  ++failures;
}

bool parses(const std::vector<std::string>& arguments,
            Settings& s,
            std::string& error,
            bool gpu = false) {
  s = Settings{};
  return parse_settings(arguments, gpu, s, error);
}

void test_shapes() {
  std::vector<PublishedResult> results;
  std::vector<Shape> shapes;
  std::string error;
  expect(read_published(results, shapes, error), "the published table is found and read");
  expect(shapes.size() == 11 && results.size() == 198, "it has 11 shapes and 198 results");
  for (const PublishedResult& r : results)
    expect((r.status == "ok") == (r.tflops > 0), "a published result has a figure unless OOM");

  Shape shape;
  expect(parse_shape("8,16,32,4", shape, error) && shape.g == 4, "a shape is four numbers");
  for (const char* wrong :
       {"", "8,16,32", "8,16,32,4,1", "8,16,x,4", "8,0,32,4", "-8,16,32,4", "8, 1,2,3"})
    expect(!parse_shape(wrong, shape, error) && !error.empty(), "anything else is refused");

  std::vector<Shape> model;
  std::vector<std::string> names;
  expect(read_model("deepseek2-16b", model, names, error) && model.size() == 1 &&
             model[0].same_extents({3840, 2048, 1408, 64, ""}),
         "a model's shape is the published one");
  model.clear();
  expect(read_model("deepseek3-test", model, names, error) && model.size() == 2,
         "a model that the two files describe differently gives both shapes");
  expect(!read_model("nothing", model, names, error), "an unknown model is refused");

  for (const Shape& published : shapes) {
    const Shape scaled = scale_for_cpu(published, 2.5e8);
    expect(scaled.g == 8 && scaled.m / scaled.g == published.m / published.g,
           "scaling keeps the mean group size");
    expect(scaled.k * published.n == scaled.n * published.k, "scaling keeps K : N");
  }
  const Multiply fwd = multiply_of(OpClass::fwd_wo, {10, 2, 3, 5, ""});
  expect(fwd.c == 3 && fwd.o == 2 && fwd.out_rows() == 10, "fwd_wo sums over N");
  const Multiply grad = multiply_of(OpClass::wgrad_wi, {10, 2, 3, 5, ""});
  expect(grad.out_elems() == 30 && grad.rhs_elems() == 30, "wgrad_wi makes G slabs of K x N");
}

std::vector<std::int32_t> sizes_of(const std::string& text, offset_t rows, offset_t groups) {
  SizeSpec spec;
  std::vector<std::int32_t> sizes;
  std::string error;
  expect(parse_sizes(text, spec, error), "the pattern is known");
  expect(make_group_sizes(spec, rows, groups, 1, sizes, error), "the sizes can be made");
  return sizes;
}

void test_group_sizes() {
  expect(sizes_of("balanced", 11, 4) == std::vector<std::int32_t>{3, 3, 3, 2},
         "balanced puts the remainder on the first groups");
  expect(sizes_of("last", 11, 4) == std::vector<std::int32_t>{2, 2, 2, 5},
         "last puts it on the last group");
  for (const char* pattern : {"balanced", "last", "multinomial", "zipf"}) {
    const std::vector<std::int32_t> sizes = sizes_of(pattern, 5000, 64);
    expect(std::accumulate(sizes.begin(), sizes.end(), 0) == 5000, "every row is in a group");
    expect(sizes == sizes_of(pattern, 5000, 64), "the same seed gives the same sizes");
  }
  const std::vector<std::int32_t> zipf = sizes_of("zipf", 5000, 64);
  expect(std::count(zipf.begin(), zipf.end(), 0) >= 8, "zipf leaves an eighth of the groups empty");
  expect(*std::max_element(zipf.begin(), zipf.end()) > 5000 / 8, "zipf has a large group");
  expect(sizes_of("zipf", 7, 1) == std::vector<std::int32_t>{7}, "one group takes all");

  const std::string path = "bench_test_sizes.txt";
  std::ofstream(path) << "3, 0\n 4\n1\n";
  expect(sizes_of("file:" + path, 10, 4) == std::vector<std::int32_t>{3, 0, 4, 1},
         "a file may be separated by commas, blanks and lines");
  SizeSpec spec{SizePattern::file, path};
  std::vector<std::int32_t> sizes;
  std::string error;
  expect(!make_group_sizes(spec, 10, 3, 1, sizes, error), "a file of another length is refused");
  expect(!make_group_sizes(spec, 7, 4, 1, sizes, error), "more rows than M are refused");
  std::ofstream(path) << "3 -1 4 1";
  expect(!make_group_sizes(spec, 10, 4, 1, sizes, error), "a negative size is refused");
  std::remove(path.c_str());
}

void test_settings() {
  Settings s;
  std::string error;
  expect(parses({}, s, error), "no flag is needed");
  expect(s.shapes.size() == 11 && s.classes.size() == 6 && s.backends.size() == 4,
         "the default is everything published");
  expect(!s.scaling.empty() && s.dtype == DType::f32, "on a CPU it is scaled, and says so");
  expect(parses({}, s, error, true) && s.scaling.empty() && s.dtype == DType::bf16 &&
             s.runs == 50 && s.warmups == 10 && s.case_seconds == 0,
         "on a GPU it is as published");
  expect(parses({"--shape",
                 "8,8,8,2",
                 "--shape=4,4,4,1",
                 "--classes",
                 "wgrad_wo,fwd_wi",
                 "--dtype=f16",
                 "--sizes",
                 "zipf,last",
                 "--backends=loop,padded:M",
                 "--benchmark_filter=x"},
                s,
                error),
         "flags take their value after a blank or '='");
  expect(s.shapes.size() == 2 && s.classes.size() == 2 && s.dtype == DType::f16 &&
             s.sizes.size() == 2 && s.backends[1] == BackendId::padded_m && s.gbench.size() == 1,
         "lists and repeated flags are kept");
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--nonsense", "1"},
                                             {"--shape"},
                                             {"--shape", "1,2"},
                                             {"--runs", "0"},
                                             {"--dtype", "int"},
                                             {"--sizes", "even"},
                                             {"--classes", "fwd"},
                                             {"--backends", "magic"},
                                             {"word"},
                                             {"--model", "x"},
                                             {"--runs", "1.5"},
                                             {"--seed", "-1"},
                                             {"--csv", ""}})
    expect(!parses(wrong, s, error) && !error.empty() && error.find('\n') == std::string::npos,
           "a wrong flag gives one line");
}

void test_figures() {
  const Timing t = summarize({4, 1, 2, 9}, 3);
  expect(t.runs == 4 && t.warmups == 3 && t.mean_us == 4 && t.median_us == 3 && t.min_us == 1,
         "mean, median and least of the runs");
  expect(std::fabs(t.stddev_us * t.stddev_us - 38.0 / 3.0) < 1e-9, "standard deviation");

  Workload w;
  w.op = OpClass::fwd_wi;
  w.shape = {10, 4, 6, 3, ""};
  w.sizes = {5, 0, 3};
  w.complete();
  expect(w.useful_flops() == 2.0 * 8 * 4 * 6, "only rows in groups are useful work");
  expect(w.useful_bytes() == 4.0 * (8 * 4 + 2 * 4 * 6 + 10 * 6),
         "bytes count weights of non-empty groups once");
  w.op = OpClass::wgrad_wi;
  w.complete();
  expect(w.out_bytes() == 4.0 * 3 * 4 * 6, "a weight gradient is written whole");

  CaseResult native;
  native.timing.mean_us = 2;
  CaseResult loop = native;
  loop.backend = BackendId::loop;
  loop.timing.mean_us = 6;
  std::vector<CaseResult> results{native, loop};
  expect(speedup(results, native, BackendId::loop) == 3, "speed-up is the ratio of means");
  expect(speedup(results, native, BackendId::padded_m) == 0, "or nothing if the other did not run");
  results[1].outcome = Outcome::out_of_memory;
  expect(speedup(results, native, BackendId::loop) == 0, "or ran out of memory");
}

/// Every backend on a ragged workload with an empty group and rows in no group; then the same
/// results spoilt in each way that the check must see. Uses the host as the device.
void test_check(OpClass op) {
  Workload w;
  w.op = op;
  w.shape = {40, 24, 17, 4, ""};
  w.sizes = {9, 0, 20, 3};
  w.seed = 5;
  w.complete();
  Operands operands;
  expect(Operands::make(w, operands), "small operands fit");
  const Reference reference = Reference::make(w);
  for (const BackendId id : all_backends) {
    const std::unique_ptr<Backend> backend = make_backend(id, -1);
    const Prepared prepared = backend->prepare(w, operands);
    if (prepared.state == Prepared::State::not_available) continue;
    expect(Reference::poison(operands).ok() && !reference.compare(operands.out.data()).empty(),
           "unwritten output fails the check");
    expect(backend->run(w, operands).ok(), "the backend runs");
    const std::string wrong = reference.compare(operands.out.data());
    if (!wrong.empty()) std::printf("%s %s: %s\n", name_of(op), name_of(id), wrong.c_str());
    expect(wrong.empty(), "a right result passes the check");
  }
  float* const out = static_cast<float*>(operands.out.data());
  const auto spoilt = [&](offset_t at, float by) {
    const float kept = out[at];
    out[at] += by;
    const bool seen = !reference.compare(out).empty();
    out[at] = kept;
    return seen;
  };
  const offset_t last = w.multiply.out_elems() - 1;  // of the last slab, or in the tail
  expect(spoilt(0, 1e-3F) && spoilt(last, 1e-3F), "a small error at an end of the output is seen");
  expect(!spoilt(0, 1e-8F), "a rounding error is not");
  const offset_t empty =
      op == OpClass::wgrad_wi ? w.multiply.c * w.multiply.o : w.sum * w.multiply.o;
  expect(spoilt(empty, 1e-30F), "a slab or row without terms must be zero exactly");
}

}  // namespace
}  // namespace raggedgemm::bench

int main() {
  using namespace raggedgemm::bench;
  test_shapes();
  test_group_sizes();
  test_settings();
  test_figures();
  if (!on_gpu)
    for (const OpClass op : {OpClass::fwd_wi, OpClass::dgrad_wi, OpClass::wgrad_wi}) test_check(op);
  std::printf("%s\n", failures == 0 ? "bench_test: all passed" : "bench_test: FAILED");
  return failures == 0 ? 0 : 1;
}
