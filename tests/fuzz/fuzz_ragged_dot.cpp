// SPDX-License-Identifier: Apache-2.0
// Fuzzes the library on the host: bytes → a ragged dot (fixed forms and general dimension numbers)
// against an f64 oracle, and bytes → the integer code (groups, cursors, tile orders, plans as text,
// canonicalise with garbage). Header-only: it instantiates f32, bf16 and bf16→f32 for the host.
//
// With libFuzzer and sanitizers (tests/fuzz/CMakeLists.txt, option RAGGEDGEMM_FUZZ), or by hand:
//   clang++-22 -std=c++20 -O1 -g1 -Iinclude -Itests -fsanitize=fuzzer,address,undefined
//     -fno-sanitize-recover=undefined tests/fuzz/fuzz_ragged_dot.cpp -o fuzz_ragged_dot
// A million executions, most of them of the cheap integer mode:
//   RAGGEDGEMM_FUZZ_MODE=call     ./fuzz_ragged_dot -runs=300000 -max_len=256 corpus_call
//   RAGGEDGEMM_FUZZ_MODE=integers ./fuzz_ragged_dot -runs=1000000 -max_len=256 corpus_integers
// Without that variable the first byte of an input picks the mode. Counts are printed at the end.
// A finding (a file of bytes that libFuzzer leaves):
//   ./fuzz_ragged_dot --explain FILE    what the call is, as C++, and what the library says of it
//   ./fuzz_ragged_dot --shrink FILE     the smallest call that still fails, as C++
// With any compiler, as the CTest fuzz_ragged_dot does (-DRAGGEDGEMM_FUZZ_PROGRAM adds a main):
//   ./fuzz_ragged_dot --runs N --seed S [--mode call|integers]

#include "fuzz/decode.hpp"
#include "fuzz/integers.hpp"
#include "fuzz/run_call.hpp"
#include "fuzz/shrink.hpp"

// What raggedgemm::compiled would define, for the dtypes of this program: type-erased calls run
// here without that library.
namespace raggedgemm::compiled {
namespace {

template <Variant V>
KernelSet kernels_of(DType in, DType out) noexcept {
  using VariantType = dispatch::variant_type<V>;
  if (in == DType::f32 && out == DType::f32)
    return dispatch::
        kernels<Platform::host, VariantType, Types<float, float, float>, Identity, false>();
  if (in == DType::bf16 && out == DType::bf16)
    return dispatch::
        kernels<Platform::host, VariantType, Types<bf16, bf16, bf16>, Identity, false>();
  if (in == DType::bf16 && out == DType::f32)
    return dispatch::
        kernels<Platform::host, VariantType, Types<bf16, bf16, float>, Identity, false>();
  KernelSet none;
  none.device = &runtime::host::device;
  return none;
}

}  // namespace

KernelSet kernels(Platform platform, Variant variant, DType lhs, DType rhs, DType out) noexcept {
  KernelSet none;
  none.platform = platform;
  if (platform != Platform::host || lhs != rhs) return none;
  switch (variant) {
    case Variant::non_contracting: return kernels_of<Variant::non_contracting>(lhs, out);
    case Variant::contracting: return kernels_of<Variant::contracting>(lhs, out);
    case Variant::batch: return kernels_of<Variant::batch>(lhs, out);
  }
  return none;
}

Platform default_platform() noexcept { return Platform::host; }

}  // namespace raggedgemm::compiled

namespace {

enum class Mode { by_input, call, integers };
Mode forced_mode = Mode::by_input;
std::uint64_t integer_runs = 0;

/// The mode of an input; the mode byte is read in any case.
Mode mode_of(fuzz::Input& in) {
  const bool call = in.byte() % 4 == 0;
  if (forced_mode != Mode::by_input) return forced_mode;
  return call ? Mode::call : Mode::integers;
}

void run_one(const std::uint8_t* bytes, std::size_t count) {
  fuzz::Input in(bytes, count);
  if (mode_of(in) == Mode::call) {
    fuzz::run_call(fuzz::decode(in));
  } else {
    fuzz::run_integers(in);
    ++integer_runs;
  }
}

void print_counts() {
  std::fprintf(stderr,
               "fuzz_ragged_dot: %llu calls ran, %llu were refused, %llu integer checks\n",
               static_cast<unsigned long long>(fuzz::call_counts.ran),
               static_cast<unsigned long long>(fuzz::call_counts.refused),
               static_cast<unsigned long long>(integer_runs));
}

void set_mode(const std::string& mode) {
  if (mode == "call") forced_mode = Mode::call;
  if (mode == "integers") forced_mode = Mode::integers;
}

std::vector<std::uint8_t> bytes_of_file(const char* path) {
  std::vector<std::uint8_t> bytes;
  std::FILE* const file = std::fopen(path, "rb");
  fuzz::require(file != nullptr, "cannot open the input");
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file))
    bytes.push_back(static_cast<std::uint8_t>(c));
  std::fclose(file);
  return bytes;
}

/// One thread: forks must not lose one, and small calls are faster.
void prepare() {
  setenv("RAGGEDGEMM_NUM_THREADS", "1", 0);
  if (const char* mode = std::getenv("RAGGEDGEMM_FUZZ_MODE")) set_mode(mode);
}

/// --explain and --shrink; false for other arguments.
bool ran_tool(int argc, char** argv) {
  if (argc < 3) return false;
  const std::string tool = argv[1];
  if (tool != "--explain" && tool != "--shrink") return false;
  const std::vector<std::uint8_t> bytes = bytes_of_file(argv[2]);
  fuzz::Input in(bytes.data(), bytes.size());
  if (mode_of(in) != Mode::call) {
    std::printf("an input of the integer mode; libFuzzer's -minimize_crash=1 makes it shorter\n");
    fuzz::run_integers(in);
    return true;
  }
  fuzz::Spec spec = fuzz::decode(in);
  if (tool == "--shrink") spec = fuzz::shrink(spec);
  fuzz::print_call(spec);
  std::fflush(stdout);
  std::printf("%s\n", fuzz::outcome(spec, false) == 0 ? "All is right." : "It fails.");
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t count) {
  run_one(bytes, count);
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  prepare();
  if (ran_tool(*argc, *argv)) std::exit(0);
  std::atexit(print_counts);
  return 0;
}

#if defined(RAGGEDGEMM_FUZZ_PROGRAM)

#include <csignal>

#include "support/random.hpp"

namespace {

std::vector<std::uint8_t> current;
std::uint64_t current_round = 0;

/// Leaves the input in a file, as libFuzzer does.
void on_failure(int signal) {
  std::fprintf(stderr,
               "round %llu fails; its input is in fuzz_ragged_dot.failure%s\n",
               static_cast<unsigned long long>(current_round),
               forced_mode == Mode::call ? " (--shrink it with RAGGEDGEMM_FUZZ_MODE=call)" : "");
  if (std::FILE* const file = std::fopen("fuzz_ragged_dot.failure", "wb")) {
    std::fwrite(current.data(), 1, current.size(), file);
    std::fclose(file);
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

int main(int argc, char** argv) {
  prepare();
  if (ran_tool(argc, argv)) return 0;
  std::uint64_t runs = 4000;
  std::uint64_t seed = 1;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--runs") runs = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--seed") seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--mode") set_mode(argv[i + 1]);
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGILL}) std::signal(signal, on_failure);
  std::printf("seed %llu, %llu runs\n",
              static_cast<unsigned long long>(seed),
              static_cast<unsigned long long>(runs));
  for (std::uint64_t round = 0; round < runs; ++round) {
    current_round = round;
    support::Random random(seed * 0x100000001B3U + round);
    current.assign(static_cast<std::size_t>(random.between(16, 192)), 0);
    for (std::uint8_t& byte : current) byte = static_cast<std::uint8_t>(random.bits());
    run_one(current.data(), current.size());
  }
  print_counts();
  return 0;
}

#endif
