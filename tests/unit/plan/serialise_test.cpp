// SPDX-License-Identifier: Apache-2.0
// Plans as text: what is written comes back, whatever else is in the text is refused, and a plan
// that has been read back computes the same bits.

#include "raggedgemm/plan/serialise.hpp"

#include <string>
#include <vector>

#include "raggedgemm/ragged_dot_general.hpp"
#include "support/device_array.hpp"
#include "support/random.hpp"

namespace {

using namespace raggedgemm;
using support::DeviceArray;
using support::first_difference;
using support::Random;

/// The text with the value of ` key=` replaced; with an empty `value` the field is gone.
std::string with(std::string text, const std::string& key, const std::string& value) {
  const std::size_t at = text.find(" " + key + "=");
  REQUIRE(at != std::string::npos);
  const std::size_t end = std::min(text.find(' ', at + 1), text.size());
  return text.replace(at, end - at, value.empty() ? "" : " " + key + "=" + value);
}

/// A general call whose dimensions cannot be merged: batch, two row and two depth dimensions, all
/// with gaps, so that its plan has instances and segments.
struct GeneralCall {
  static constexpr offset_t b = 2, m0 = 3, m1 = 5, k0 = 2, k1 = 4, n = 6, g = 3;
  DeviceArray<float> lhs, rhs, out;
  DeviceArray<std::int64_t> sizes{std::vector<std::int64_t>{// [b, m0, g]
                                                            2,
                                                            0,
                                                            3,
                                                            1,
                                                            1,
                                                            1,
                                                            0,
                                                            0,
                                                            5,
                                                            5,
                                                            0,
                                                            0,
                                                            0,
                                                            4,
                                                            0,
                                                            1,
                                                            2,
                                                            2}};

  explicit GeneralCall(std::uint64_t seed)
      : lhs(numbers(b * m0 * m1 * k0 * 9, seed)),
        rhs(numbers(g * b * k0 * k1 * 7, seed + 1)),
        out(std::vector<float>(b * m0 * m1 * n, -1)) {}

  static std::vector<float> numbers(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<float> values(count);
    for (float& value : values) value = static_cast<float>(random.real());
    return values;
  }

  [[nodiscard]] auto describe(const Options& options) const {
    // lhs [b, m0, m1, k0, k1], rhs [g, b, k0, k1, n], out [b, m0, m1, n]; m1 is ragged.
    const View<const float, 5> x(
        lhs.data(), {b, m0, m1, k0, k1}, {m0 * m1 * k0 * 9, m1 * k0 * 9, k0 * 9, 9, 2});
    const View<const float, 5> y(
        rhs.data(), {g, b, k0, k1, n}, {b * k0 * k1 * 7, k0 * k1 * 7, k1 * 7, 7, 1});
    return describe_general<Variant::non_contracting>(
        x,
        y,
        GroupTensor(sizes.data(), GroupKind::sizes, {b, m0, g}),
        view(out.data(), b, m0, m1, n),
        {.lhs_contracting = {3, 4},
         .rhs_contracting = {2, 3},
         .lhs_batch = {0},
         .rhs_batch = {1},
         .lhs_ragged = {2},
         .rhs_group = {0}},
        options);
  }
};

template <class Call>
KernelSet set_for(const Call& call, const Options& options = {}) {
  return kernel_sets::kernels_for<Identity>(call, options);
}

/// A plan of the general call, and its text.
struct Written {
  GeneralCall operands{1};
  KernelSet set;
  Plan plan;
  std::string text;

  Written() {
    const auto call = operands.describe({});
    support::require(call.status.ok(), call.status.message().c_str());
    const Result<Plan> made = make_plan(call);
    support::require(made.ok(), made.status().message().c_str());
    plan = made.value();
    set = set_for(call);
    text = to_text(plan);
  }
  [[nodiscard]] Status read(const std::string& other) const {
    return plan_from_text(other, set).status();
  }
};

TEST_CASE("A plan with instances and segments comes back from its text", "[plan][device]") {
  const Written w;
  INFO(w.text);
  CHECK(w.plan.problem.instances.rank > 0);
  CHECK(w.plan.problem.segments.rank > 0);
  CHECK(w.text.find('\n') == std::string::npos);
  const Result<Plan> read = plan_from_text(w.text, w.set);
  INFO(read.status().message());
  REQUIRE(read.ok());
  CHECK(to_text(read.value()) == w.text);
  CHECK(read.value().kernel.row == w.plan.kernel.row);
  CHECK(read.value().kernel.launch == w.plan.kernel.launch);
}

TEST_CASE("Every option of a plan comes back from its text", "[plan][device]") {
  const DeviceArray<float> lhs(40 * 24);
  const DeviceArray<float> rhs(3 * 24 * 36);
  DeviceArray<float> out(50 * 36);
  const DeviceArray<float> c(50 * 36);
  const DeviceArray<float> group_alpha(5);
  const DeviceArray<std::int32_t> lhs_index(40);
  const DeviceArray<std::int32_t> out_index(40);
  DeviceArray<Fault> fault(1);
  const DeviceArray<std::uint16_t> sizes(5);
  const View<const float, 2> c_view(c.data(), {50, 36}, {1, 50});
  const Options options{.alpha = 0.1,
                        .beta = 1.0 / 3.0,
                        .tail = Tail::keep,
                        .allow_tf32 = true,
                        .c = tensor(c_view),
                        .group_alpha = group_alpha.data(),
                        .lhs_index = lhs_index.data(),
                        .out_index = out_index.data(),
                        .ragged_extent = 40,
                        .group_offset = 2,
                        .fault = fault.data()};
  const auto call = describe(view(std::as_const(lhs).data(), 30, 24),
                             view(std::as_const(rhs).data(), 3, 24, 36),
                             GroupSizes(sizes.data(), 5),
                             view(out.data(), 50, 36),
                             options);
  const Result<Plan> plan = make_plan(call, options);
  INFO(plan.status().message());
  REQUIRE(plan.ok());
  const std::string text = to_text(plan.value());
  INFO(text);
  const Result<Plan> read = plan_from_text(text, set_for(call, options));
  REQUIRE(read.ok());
  CHECK(to_text(read.value()) == text);
  const Problem& p = read.value().problem;
  CHECK(p.alpha == 0.1);  // every bit of it
  CHECK(p.allow_tf32);
  CHECK(p.beta == 1.0 / 3.0);
  CHECK((p.has_c && p.has_group_alpha && p.gathers && p.scatters && p.has_fault));
  CHECK(p.rows == 40);
  CHECK(p.lhs_extent == 30);
  CHECK(p.out_extent == 50);
  CHECK(p.group_offset == 2);
  CHECK(static_cast<int>(p.tail) == static_cast<int>(Tail::keep));
  CHECK(p.c.col == 50);
  CHECK(bind(read.value(), call.pointers).ok());
}

TEST_CASE("A plan that has been read back computes the same bits", "[plan][device]") {
  const Written w;
  const Result<Plan> read = plan_from_text(w.text, w.set);
  REQUIRE(read.ok());
  const Identity identity;
  for (const std::uint64_t seed : {2U, 3U}) {
    const GeneralCall first(seed);
    const GeneralCall second(seed);
    REQUIRE(run(first.describe({})).ok());
    const Result<BoundCall> bound = bind(read.value(), second.describe({}).pointers);
    INFO(bound.status().message());
    REQUIRE(bound.ok());
    REQUIRE(run(bound.value(), &identity, nullptr).ok());
    REQUIRE(support::runtime::synchronize().ok());
    const std::vector<float> result = second.out.get();
    CHECK(first_difference(first.out.get(), result) == -1);
    CHECK(result[0] != -1.0F);
  }
}

TEST_CASE("A plan of another version is refused", "[plan][host]") {
  const Written w;
  const std::string fields = w.text.substr(std::string(plan_format).size());
  for (const char* format : {"",
                             "raggedgemm-plan-0",
                             "raggedgemm-plan-1",
                             "raggedgemm-plan-20",
                             "raggedgemm-plan-2x",
                             "raggedgemm-plan-",
                             "plan",
                             " raggedgemm-plan-2"}) {
    INFO(format);
    CHECK(w.read(format + fields).code() == StatusCode::plan_mismatch);
  }
  CHECK(w.read("").code() == StatusCode::plan_mismatch);
  CHECK(w.read(plan_format).code() == StatusCode::plan_mismatch);
}

TEST_CASE("A plan text that ends early is refused wherever it ends", "[plan][host]") {
  const Written w;
  REQUIRE(w.plan.order.chiplets < 10);  // one digit: nothing shorter is whole
  for (std::size_t length = 0; length < w.text.size(); ++length) {
    const Status status = w.read(w.text.substr(0, length));
    INFO(length << " of " << w.text.size() << ": " << status.message());
    CHECK(status.code() == StatusCode::plan_mismatch);
  }
}

TEST_CASE("A plan text without one of its fields, or with a word for its value, is refused",
          "[plan][host]") {
  const Written w;
  std::vector<std::string> keys;
  for (std::size_t at = w.text.find(' '); at != std::string::npos; at = w.text.find(' ', at + 1))
    keys.push_back(w.text.substr(at + 1, w.text.find('=', at) - at - 1));
  REQUIRE(keys.size() > 50);
  for (const std::string& key : keys) {
    INFO(key);
    CHECK(w.read(with(w.text, key, "")).code() == StatusCode::plan_mismatch);
    if (key == "row") continue;
    for (const char* value : {"x", "1x", "--1", "0x", "nan?"})
      CHECK(!w.read(with(w.text, key, value)).ok());
    if (key == "alpha" || key == "beta") continue;  // doubles
    for (const char* value : {"99999999999999999999999", "-99999999999999999999999", "1.5", "0x1"})
      CHECK(!w.read(with(w.text, key, value)).ok());
  }
}

TEST_CASE("A plan text with a value out of its range is refused", "[plan][host]") {
  const Written w;
  struct Damage {
    const char* key;
    const char* value;
  };
  for (const Damage& d : {Damage{"variant", "3"},
                          Damage{"variant", "-1"},
                          Damage{"lhs", "77"},
                          Damage{"out", "-2"},
                          Damage{"group_kind", "4"},
                          Damage{"tail", "9"},
                          Damage{"rows", "-1"},
                          Damage{"cols", "-6"},
                          Damage{"depth", "2199023255552"},
                          Damage{"slabs", "-1"},
                          Damage{"slabs", "4"},
                          Damage{"instances.rank", "7"},
                          Damage{"instances.rank", "-1"},
                          Damage{"instances.rank", "2147483647"},
                          Damage{"segments.rank", "1000000"},
                          Damage{"instances.0.extent", "-2"},
                          Damage{"segments.0.extent", "-2"},
                          Damage{"instances.0.extent", "4611686018427387904"},
                          Damage{"instances.0.d", "0"},
                          Damage{"d.row", "0"},
                          Damage{"has_c", "2"},
                          Damage{"lhs_extent", "-1"},
                          Damage{"out_extent", "2199023255552"},
                          Damage{"has_fault", "7"},
                          Damage{"gathers", "-1"},
                          Damage{"blocks", "-1"},
                          Damage{"blocks", "4294967297"},
                          Damage{"blocks", "1073741824"},
                          Damage{"supergroup", "0"},
                          Damage{"chiplets", "0"},
                          Damage{"a_align", "4294967312"},
                          Damage{"group_offset", "-1"},
                          Damage{"group_offset", "1"}}) {
    const Status status = w.read(with(w.text, d.key, d.value));
    INFO(d.key << "=" << d.value << ": " << status.message());
    CHECK(!status.ok());
  }
}

TEST_CASE("Random damage to a plan text gives a Status or a whole plan", "[plan][host]") {
  const Written w;
  Random random(77);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = w.text;
    for (std::int64_t changes = random.between(1, 4); changes > 0; --changes) {
      const std::size_t at =
          static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(text.size()) - 1));
      const char* const likely = "0123456789 -=.xpa";
      switch (random.between(0, 2)) {
        case 0: text[at] = likely[random.between(0, 16)]; break;
        case 1: text.erase(at, static_cast<std::size_t>(random.between(1, 8))); break;
        default: text.insert(at, 1, static_cast<char>(random.between(1, 255))); break;
      }
      if (text.empty()) text = "x";
    }
    const Result<Plan> read = plan_from_text(text, w.set);
    if (!read.ok()) {
      ++refused;
      continue;
    }
    REQUIRE(validate(read.value().problem).ok());
    REQUIRE(read.value().kernel.launch == w.plan.kernel.launch);
    REQUIRE(plan_from_text(to_text(read.value()), w.set).ok());
  }
  CHECK(refused > 5000);
}

TEST_CASE("A plan of another platform is refused", "[plan][host]") {
  const Written w;
  for (const Platform other : {Platform::host, Platform::cuda, Platform::hip}) {
    if (other == w.plan.platform) continue;
    const Status status = w.read(with(w.text, "platform", std::to_string(static_cast<int>(other))));
    CHECK(status.code() == StatusCode::plan_mismatch);
    CHECK(std::string(status.operand()) == "plan platform");
    CHECK(status.got() == static_cast<std::int64_t>(other));
    KernelSet set = w.set;
    set.platform = other;
    CHECK(plan_from_text(w.text, set).status().code() == StatusCode::plan_mismatch);
  }
}

TEST_CASE("A set of kernels of another variant or of other dtypes is refused", "[plan][host]") {
  const Written w;
  REQUIRE(w.read(w.text).ok());
  KernelSet sets[] = {w.set, w.set, w.set, w.set};
  sets[0].variant = Variant::batch;
  sets[1].lhs_dtype = DType::bf16;
  sets[2].rhs_dtype = DType::bf16;
  sets[3].out_dtype = DType::bf16;
  for (const KernelSet& set : sets) {
    const Status status = plan_from_text(w.text, set).status();
    INFO(status.message());
    CHECK(status.code() == StatusCode::plan_mismatch);
    CHECK(std::string(status.operand()) == "plan variant, lhs, rhs, out");
  }
  // The sets of real calls say what they are for.
  const float x[1] = {};
  float out[1];
  const std::int32_t sizes[1] = {1};
  const KernelSet batch = set_for(
      describe_batch(view(x, 1, 1, 1), view(x, 1, 1, 1), GroupSizes(sizes, 1), view(out, 1, 1, 1)));
  CHECK(plan_from_text(w.text, batch).status().code() == StatusCode::plan_mismatch);
  bf16 narrow[1];
  const KernelSet rounded =
      set_for(describe(view(x, 1, 1), view(x, 1, 1, 1), GroupSizes(sizes, 1), view(narrow, 1, 1)));
  CHECK(plan_from_text(w.text, rounded).status().code() == StatusCode::plan_mismatch);
}

TEST_CASE("A plan whose row this program does not hold is refused", "[plan][host]") {
  const Written w;
  const std::string name = config_row(w.plan.kernel.row).name;
  for (const std::string& row : {std::string("none"),
                                 std::string("wgmma_nn_1x1x1"),
                                 name + "0",
                                 name.substr(0, name.size() - 1),
                                 std::string("-1")}) {
    INFO(row);
    CHECK(w.read(with(w.text, "row", row)).code() == StatusCode::no_kernel);
  }
  KernelSet none = w.set;
  none.count = 0;
  CHECK(plan_from_text(w.text, none).status().code() == StatusCode::no_kernel);
  std::vector<KernelEntry> absent(w.set.entries, w.set.entries + w.set.count);
  for (KernelEntry& entry : absent) entry.present = []() noexcept { return false; };
  none = w.set;
  none.entries = absent.data();
  CHECK(plan_from_text(w.text, none).status().code() == StatusCode::no_kernel);
}

TEST_CASE("A plan with parts or copies that its row does not know is refused", "[plan][host]") {
  const Written w;  // of the host, whose rows take every operand as it lies
  for (const char* const field : {"copies_a", "copies_b"}) {
    const Status status = w.read(with(w.text, field, "1"));
    CHECK(status.code() == StatusCode::plan_mismatch);
    CHECK(std::string(status.operand()) == "plan copies");
  }
  const Status parts = w.read(with(w.text, "parts", "3"));
  CHECK(parts.code() == StatusCode::plan_mismatch);
  CHECK(std::string(parts.operand()) == "plan parts");
  CHECK(parts.got() == 3);
  CHECK(parts.needed() == 1);
  const Status last = w.read(with(w.text, "cuts_last", "1"));
  CHECK(last.code() == StatusCode::plan_mismatch);
  CHECK(std::string(last.operand()) == "plan cuts_last");

  KernelEntry entry;
  entry.present = []() noexcept { return true; };
  while (!config_row(++entry.row).config.splits) {
  }
  KernelSet set = w.set;
  set.entries = &entry;
  set.count = 1;
  Plan plan = w.plan;
  plan.kernel.row = entry.row;
  CHECK(plan_from_text(to_text(plan), set).status().needed() == 2);
  plan.parts = most_parts;
  const Result<Plan> read = plan_from_text(to_text(plan), set);
  REQUIRE(read.ok());
  CHECK(read.value().parts == most_parts);
  plan.parts = most_parts + 1;
  CHECK(plan_from_text(to_text(plan), set).status().code() == StatusCode::plan_mismatch);
  plan.parts = 2;
  plan.copies = {true, false};
  CHECK(!plan_from_text(to_text(plan), set).ok());
  entry.copy_lines = [](const CopyLines&, void*) noexcept { return Status{}; };
  plan.problem.a.col = plan.problem.b.col = 1;
  const Result<Plan> copied = plan_from_text(to_text(plan), set);
  INFO(copied.status().message());
  REQUIRE(copied.ok());
  CHECK((copied.value().copies.a && !copied.value().copies.b));
  plan.problem.a.row = plan.problem.a.col = 2;  // no contiguous dimension, no lines to copy
  CHECK(!plan_from_text(to_text(plan), set).ok());
}

TEST_CASE("A plan that cuts the last tiles is read where the row does", "[plan][host]") {
  const Written w;
  KernelEntry entry = w.set.entries[0];
  entry.present = []() noexcept { return true; };  // the first one may be another chip's
  while (config_row(entry.row).config.splits) ++entry.row;
  entry.cut_tile_bytes = 0;
  KernelSet set = w.set;
  set.entries = &entry;
  set.count = 1;
  Plan plan = w.plan;
  plan.kernel.row = entry.row;
  plan.cuts_last = true;
  plan.parts = 2;
  CHECK(!plan_from_text(to_text(plan), set).ok());
  entry.cut_tile_bytes = 64;
  const Result<Plan> read = plan_from_text(to_text(plan), set);
  REQUIRE(read.ok());
  CHECK(read.value().cuts_last);
  CHECK(read.value().parts == 2);
  plan.parts = 1;
  CHECK(plan_from_text(to_text(plan), set).status().needed() == 2);
  plan.parts = 2;
  plan.blocks = 0;
  CHECK(!plan_from_text(to_text(plan), set).ok());
}

TEST_CASE("A row is found by its name among rows of several architectures", "[plan][host]") {
  // gfx942 and gfx950 have rows of the same names; only those of the device present are there.
  std::vector<KernelEntry> entries;
  for (index_t row = 0; row < config_rows; ++row) {
    if (platform_of(config_row(row).arch) != Platform::hip) continue;
    KernelEntry entry;
    entry.row = row;
    entry.present = config_row(row).arch == Arch::gfx950 ? +[]() noexcept { return true; }
                                                         : +[]() noexcept { return false; };
    entries.push_back(entry);
  }
  KernelSet set;
  set.entries = entries.data();
  set.count = static_cast<index_t>(entries.size());
  set.platform = Platform::hip;
  set.lhs_dtype = set.rhs_dtype = set.out_dtype = DType::f32;
  Written w;
  int found = 0;
  for (const KernelEntry& entry : entries) {
    if (config_row(entry.row).arch != Arch::gfx950) continue;
    w.plan.platform = Platform::hip;
    w.plan.kernel.row = entry.row;
    w.plan.parts = config_row(entry.row).config.splits ? 2 : 1;
    const Result<Plan> read = plan_from_text(to_text(w.plan), set);
    INFO(config_row(entry.row).name << ": " << read.status().message());
    REQUIRE(read.ok());
    CHECK(read.value().kernel.row == entry.row);
    ++found;
  }
  CHECK(found > 0);
}

}  // namespace
