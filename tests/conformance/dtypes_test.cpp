// SPDX-License-Identifier: Apache-2.0
// Element types beyond bf16, f16 and f32: f64, s8 and the four fp8 formats, in the three variants;
// and what accumulation over several calls rounds.

#include <cmath>

#include "support/conformance.hpp"
#include "support/every_row.hpp"

namespace {

using namespace support;
using rg::Variant;

/// 33 of 40 rows (or batches) belong to a group; one group is empty, and g is 5.
const Sizes some_sizes{9, 0, 14, 7, 3};
constexpr offset_t some_groups = 5;
constexpr offset_t some_rows = 40;

/// Operands on the device beside their values in f64 and what the oracle makes of them.
template <class L, class R, class O>
struct Operands {
  template <class Value>
  Operands(const Shape& s, const Sizes& sizes, const Value& value)
      : shape(s),
        a(elems_of(lhs_extent(s))),
        b(elems_of(rhs_extent(s))),
        lhs(a.size()),
        rhs(b.size()),
        out(elems_of(out_extent(s))),
        groups(sizes) {
    for (L& x : a) x = value(L{});
    for (R& x : b) x = value(R{});
    lhs.set(a);
    rhs.set(b);
    const std::vector<Range> ranges = ranges_of(sizes, GroupKind::sizes, ragged_extent(s));
    expected = reference(s, widened(a), widened(b), ranges, covered(ranges));
  }

  /// The call, handed to `f`.
  template <class F>
  void with_call(const rg::Options& options, const F& f) {
    const L* l = lhs.data();
    const R* r = rhs.data();
    O* o = out.data();
    const rg::GroupSizes g(groups.data(), static_cast<offset_t>(groups.elems()));
    const Shape& s = shape;
    if (s.variant == Variant::non_contracting)
      f(rg::describe(rg::view(l, s.m, s.k),
                     rg::view(r, s.slabs, s.k, s.n),
                     g,
                     rg::view(o, s.m, s.n),
                     options));
    else if (s.variant == Variant::contracting)
      f(rg::describe_contracting(rg::view(l, s.m, s.k),
                                 rg::view(r, s.m, s.n),
                                 g,
                                 rg::view(o, s.slabs, s.k, s.n),
                                 options));
    else
      f(rg::describe_batch(rg::view(l, s.slabs, s.m, s.k),
                           rg::view(r, s.slabs, s.k, s.n),
                           g,
                           rg::view(o, s.slabs, s.m, s.n),
                           options));
  }

  /// Runs every row; `right(value, i)` judges element i.
  template <class Right>
  void check(const rg::Options& options, const std::vector<O>& before, const Right& right) {
    with_call(options, [&](const auto& call) {
      with_every_row(
          call, options, out, before, [&](const std::vector<O>& got, const std::string&) {
            std::size_t wrong = 0;
            for (std::size_t i = 0; i < got.size(); ++i) {
              if (right(got[i], i)) continue;
              if (wrong++ == 0)
                UNSCOPED_INFO("element " << i << " is " << double(rg::Element<O>::widen(got[i]))
                                         << ", the product is " << expected.product[i]);
            }
            INFO(name_of(shape.variant)
                 << ", k " << shape.k << ", alpha " << options.alpha << ", beta " << options.beta);
            CHECK(wrong == 0);
          });
    });
  }

  Shape shape;
  std::vector<L> a;
  std::vector<R> b;
  DeviceArray<L> lhs;
  DeviceArray<R> rhs;
  DeviceArray<O> out;
  DeviceArray<std::int64_t> groups;
  Reference expected;
};

/// The three variants with ragged extent 40 (8 batches), depth k and n columns.
std::vector<Shape> shapes(offset_t k, offset_t n) {
  return {{Variant::non_contracting, some_groups, some_rows, k, n},
          {Variant::contracting, some_groups, some_rows, k, n},
          {Variant::batch, 8, 21, k, n}};
}
Sizes sizes_for(const Shape& s) {
  return s.variant == Variant::batch ? Sizes{2, 0, 4} : some_sizes;
}

double depth_of(const Shape& s) {
  return static_cast<double>(s.variant == Variant::contracting ? s.m : s.k);
}

TEST_CASE("f64 products accumulate in f64", "[conformance][f64][device]") {
  for (const offset_t k : {1, 67, 300})
    for (const Shape& s : shapes(k, 35)) {
      Random random(64);
      Operands<double, double, double> o(s, sizes_for(s), [&](double) { return random.real(); });
      const double alpha = 0.1;  // not an f32
      const double beta = 1.0 / 3.0;
      for (const bool scaled : {false, true}) {
        const std::vector<double> before(o.out.elems(), scaled ? 0.7 : poison<double>());
        rg::Options options;
        if (scaled) {
          options.alpha = alpha;
          options.beta = beta;
        }
        // Both sums, the oracle's and ours, have rounded in f64.
        const double nu = 2 * (depth_of(s) + 4) * 0x1p-53;
        o.check(options, before, [&](double got, std::size_t i) {
          const double add = scaled ? beta * 0.7 : 0;
          const double needed = options.alpha * o.expected.product[i] + add;
          const double size = std::fabs(options.alpha) * o.expected.absdot[i] + add;
          return std::fabs(got - needed) <= nu / (1 - nu) * size;
        });
      }
    }
}

TEST_CASE("alpha and beta act on f64 products as doubles, with one rounding each",
          "[conformance][f64][device]") {
  for (const Shape& s : shapes(20, 9)) {
    Random random(65);
    // Whole numbers: the product is exact, so alpha times it is one rounding, and that is the
    // result.
    Operands<double, double, double> o(
        s, sizes_for(s), [&](double) { return static_cast<double>(random.between(-99, 99)); });
    const double alpha = 1.0 + 0x1p-40;  // 1 in f32
    o.check({.alpha = alpha}, poisoned<double>(o.out.elems()), [&](double got, std::size_t i) {
      return got == alpha * o.expected.product[i];
    });
  }
}

TEST_CASE("s8 products are exact in s32 over the full range", "[conformance][s8][device]") {
  for (const offset_t k : {1, 67, scaled(1000, 200)})
    for (const Shape& s : shapes(k, 35)) {
      Random random(8);
      Operands<std::int8_t, std::int8_t, std::int32_t> o(s, sizes_for(s), [&](std::int8_t) {
        return static_cast<std::int8_t>(random.one_in(8) ? -128 : random.between(-128, 127));
      });
      const std::vector<std::int32_t> before(o.out.elems(), -77);
      o.check({}, before, [&](std::int32_t got, std::size_t i) {
        return got == static_cast<std::int32_t>(o.expected.product[i]);
      });
      o.check({.alpha = -3, .beta = 2}, before, [&](std::int32_t got, std::size_t i) {
        return got == -3 * static_cast<std::int32_t>(o.expected.product[i]) - 154;
      });
    }
}

TEST_CASE("s8 products are exact up to the largest depth that s32 holds",
          "[conformance][s8][device]") {
  // 131,071 products of (−128)² are 2^31 − 2^14; those of −128 · 127 the other end.
  // (An emulated device would take minutes for each row: it gets 2^11 − 1.)
  const offset_t k = scaled(131071, 2047);
  const Shape s{Variant::non_contracting, 1, 2, k, 2};
  std::vector<std::int8_t> a(static_cast<std::size_t>(2 * k), -128);
  std::vector<std::int8_t> b(static_cast<std::size_t>(2 * k));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = i % 2 == 0 ? -128 : 127;
  Operands<std::int8_t, std::int8_t, std::int32_t> o(
      s, {2}, [](std::int8_t) { return std::int8_t{}; });
  o.lhs.set(a);
  o.rhs.set(b);
  o.check({}, std::vector<std::int32_t>(4, -1), [&](std::int32_t got, std::size_t i) {
    return got == (i % 2 == 0 ? 16384 : -16256) * k;
  });
}

TEST_CASE("s8 results wrap modulo 256", "[conformance][s8][device]") {
  for (const offset_t k : {1, 67, scaled(1000, 200)})
    for (const Shape& s : shapes(k, 35)) {
      Random random(9);
      Operands<std::int8_t, std::int8_t, std::int8_t> o(s, sizes_for(s), [&](std::int8_t) {
        return static_cast<std::int8_t>(random.between(-128, 127));
      });
      const std::vector<std::int8_t> before(o.out.elems(), 101);
      for (const double beta : {0.0, 1.0, -7.0})
        o.check({.alpha = 5, .beta = beta}, before, [&](std::int8_t got, std::size_t i) {
          const std::int64_t wide = 5 * static_cast<std::int64_t>(o.expected.product[i]) +
                                    static_cast<std::int64_t>(beta) * 101;
          return (wide - got) % 256 == 0;
        });
    }
}

TEST_CASE("s32 results wrap modulo 2^32, in the factors as in the depth",
          "[conformance][s8][device]") {
  const Shape s{Variant::non_contracting, some_groups, some_rows, 67, 35};
  Random random(10);
  Operands<std::int8_t, std::int8_t, std::int32_t> o(s, some_sizes, [&](std::int8_t) {
    return static_cast<std::int8_t>(random.between(-128, 127));
  });
  const std::vector<std::int32_t> before(o.out.elems(), 2000000011);
  for (const double alpha : {2147483647.0, -2147483648.0, 65537.0})
    for (const double beta : {0.0, 2147483647.0, -3.0})
      o.check({.alpha = alpha, .beta = beta}, before, [&](std::int32_t got, std::size_t i) {
        const auto bits = [](double value) {
          return static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
        };
        return static_cast<std::uint32_t>(got) ==
               bits(alpha) * bits(o.expected.product[i]) + bits(beta) * bits(2000000011);
      });
  // 131,072 products of (−128)² are 2^31.
  const offset_t k = scaled(131072, 2048);
  Operands<std::int8_t, std::int8_t, std::int32_t> deep(
      {Variant::non_contracting, 1, 2, k, 2}, {2}, [](std::int8_t) { return std::int8_t{-128}; });
  deep.check({}, std::vector<std::int32_t>(4, -1), [&](std::int32_t got, std::size_t) {
    return got == static_cast<std::int32_t>(static_cast<std::uint32_t>(k) << 14U);
  });
}

TEST_CASE("Group factors of integer products are cut towards zero and at the ends of s32",
          "[conformance][s8][device]") {
  constexpr offset_t m = 7;
  const std::vector<float> factors{2.75F, -2.75F, 3e9F, -INFINITY, std::nanf(""), 0.5F, -1.0F};
  const std::int32_t cut[] = {2,
                              -2,
                              std::numeric_limits<std::int32_t>::max(),
                              std::numeric_limits<std::int32_t>::min(),
                              0,
                              0,
                              -1};
  const DeviceArray<float> group_alpha(factors);
  Operands<std::int8_t, std::int8_t, std::int32_t> o({Variant::non_contracting, m, m, 1, 1},
                                                     Sizes(m, 1),
                                                     [](std::int8_t) { return std::int8_t{1}; });
  o.check({.group_alpha = group_alpha.data()},
          std::vector<std::int32_t>(m, -1),
          [&](std::int32_t got, std::size_t i) { return got == cut[i]; });
}

TEST_CASE("Integer products refuse factors that are not whole s32 numbers",
          "[conformance][s8][device]") {
  const Shape s{Variant::non_contracting, some_groups, some_rows, 8, 8};
  Operands<std::int8_t, std::int8_t, std::int32_t> o(
      s, some_sizes, [](std::int8_t) { return std::int8_t{1}; });
  const std::vector<std::int32_t> before(o.out.elems(), -77);
  const double nan = std::nan("");
  for (const rg::Options& options : {rg::Options{.alpha = 0.5},
                                     rg::Options{.beta = 0.5},
                                     rg::Options{.alpha = 1e10},
                                     rg::Options{.alpha = nan},
                                     rg::Options{.beta = nan},
                                     rg::Options{.alpha = INFINITY}}) {
    o.out.set(before);
    o.with_call(options, [&](const auto& call) {
      const rg::Status status = rg::run(call, options);
      CHECK(status.code() == rg::StatusCode::unsupported_option);
      CHECK(std::string(status.operand()) == "options.alpha, options.beta");
    });
    CHECK(first_difference(o.out.get(), before) == -1);
  }
}

TEST_CASE("Integer tails are zero, or not touched", "[conformance][s8][device]") {
  for (const Shape& s : shapes(12, 19)) {
    if (s.variant == Variant::contracting) continue;
    Operands<std::int8_t, std::int8_t, std::int8_t> o(
        s, sizes_for(s), [](std::int8_t) { return std::int8_t{3}; });
    const std::vector<std::int8_t> before(o.out.elems(), -77);
    for (const Tail tail : {Tail::zero, Tail::keep})
      o.check({.tail = tail}, before, [&](std::int8_t got, std::size_t i) {
        if (o.expected.live[i] != 0) return got == 9 * 12;
        return got == (tail == Tail::keep ? -77 : 0);
      });
  }
}

/// A case of the shared harness: sizes and all, whatever is dead is NaN.
Case fp8_case(const char* name, const Shape& shape, const Sizes& sizes) {
  Case c;
  c.name = name;
  c.shape = shape;
  c.entries = sizes;
  c.rows_by_turns = emulated();
  return c;
}

template <class F8>
void check_fp8() {
  for (const offset_t k : {3, 64, 150})
    for (const Shape& s : shapes(k, 33)) {
      Case c = fp8_case("dense", s, sizes_for(s));
      check_case<F8, F8, float>(c);
      check_case<F8, F8, bf16>(c);
      c.name = "reals, alpha and beta, odd pitches";
      c.data = Data::reals;
      c.alpha = 0.7F;
      c.beta = -1.3F;
      c.lhs = {.pitch_pad = 1, .shift_elems = 1};
      c.rhs = {.transposed = true, .pitch_pad = 3};
      c.out = {.pitch_pad = 5};
      check_case<F8, F8, float>(c);
      check_case<F8, F8, bf16>(c);
    }
}

/// Layouts and pitches that matrix instructions of 8-bit types take: rhs contiguous along the
/// depth.
template <class In, class... Outs>
void check_matrix_rows() {
  // An emulated device gets one result type a case, by turns.
  int turn = 0;
  const auto takes_part = [&turn] { return turn++ % 2 == 0 || !emulated(); };
  const auto check = [&](const Case& c) {
    ((takes_part() ? check_case<In, In, Outs>(c) : void()), ...);
    ++turn;
  };
  for (const offset_t k : {16, 150, scaled(400, 272)})
    for (const offset_t n : {40, 260}) {
      if (emulated() && (k == 150) != (n == 260)) continue;
      for (const Shape& s : {Shape{Variant::non_contracting, some_groups, some_rows, k, n},
                             Shape{Variant::non_contracting, 3, 300, k, n},
                             Shape{Variant::batch, 4, 150, k, n}}) {
        Case c = fp8_case("nt", s, s.slabs == 3 ? Sizes{140, 0, 129} : sizes_for(s));
        c.rhs = {.transposed = true};
        c = with_aligned_pitches(c);
        check(c);
        if (std::is_integral_v<In>) continue;
        c.name += ", reals, alpha and beta";
        c.data = Data::reals;
        c.alpha = 0.7F;
        c.beta = -1.3F;
        c.tail = Tail::keep;
        check(c);
      }
    }
}

TEST_CASE("Aligned 8-bit operands that are contiguous along the depth",
          "[conformance][fp8][s8][device]") {
  SECTION("e4m3fn") { check_matrix_rows<rg::fp8_e4m3fn, float, bf16>(); }
  SECTION("e5m2") { check_matrix_rows<rg::fp8_e5m2, float, bf16>(); }
  SECTION("e4m3fnuz") { check_matrix_rows<rg::fp8_e4m3fnuz, float, bf16>(); }
  SECTION("e5m2fnuz") { check_matrix_rows<rg::fp8_e5m2fnuz, float, bf16>(); }
  SECTION("s8") { check_matrix_rows<std::int8_t, std::int32_t, std::int8_t>(); }
}

TEST_CASE("fp8 operands of each format multiply into f32 and bf16", "[conformance][fp8][device]") {
  SECTION("e4m3fn") { check_fp8<rg::fp8_e4m3fn>(); }
  SECTION("e5m2") { check_fp8<rg::fp8_e5m2>(); }
  SECTION("e4m3fnuz") { check_fp8<rg::fp8_e4m3fnuz>(); }
  SECTION("e5m2fnuz") { check_fp8<rg::fp8_e5m2fnuz>(); }
}

/// Whether `got` is the value of an fp8 code, NaN for NaN.
template <class F8, class O>
bool is_value_of(O got, std::size_t code) {
  F8 operand;
  operand.bits = static_cast<std::uint8_t>(code);
  const float needed = rg::to_float(operand);
  const float value = rg::Element<O>::widen(got);
  return std::isnan(needed) ? std::isnan(value) : value == needed;
}

template <class F8, class O>
void check_all_codes() {
  constexpr offset_t k = 24;
  constexpr offset_t n = 20;
  const F8 one = rg::Element<F8>::round(1.0F);
  const auto code = [](std::size_t bits) {
    F8 value;
    value.bits = static_cast<std::uint8_t>(bits);
    return value;
  };
  // Row (or column) i holds code i at one place and zeros elsewhere: it alone may become NaN or
  // Inf.
  {
    Operands<F8, F8, O> o(
        {Variant::non_contracting, 3, 256, k, n}, {100, 0, 156}, [](F8) { return F8{}; });
    for (std::size_t i = 0; i < 256; ++i) o.a[i * k + i % k] = code(i);
    o.lhs.set(o.a);
    o.rhs.set(std::vector<F8>(3 * k * n, one));
    o.check({}, poisoned<O>(o.out.elems()), [](O got, std::size_t i) {
      return is_value_of<F8>(got, i / n);
    });
  }
  {
    Operands<F8, F8, O> o(
        {Variant::non_contracting, 3, 30, k, 256}, {10, 0, 20}, [](F8) { return F8{}; });
    for (std::size_t group = 0; group < 3; ++group)
      for (std::size_t i = 0; i < 256; ++i) o.b[(group * k + i % k) * 256 + i] = code(i);
    o.lhs.set(std::vector<F8>(30 * k, one));
    o.rhs.set(o.b);
    o.check({}, poisoned<O>(o.out.elems()), [](O got, std::size_t i) {
      return is_value_of<F8>(got, i % 256);
    });
  }
  {
    Operands<F8, F8, O> o(
        {Variant::contracting, 2, k, 256, n}, {9, k - 9}, [](F8) { return F8{}; });
    for (std::size_t i = 0; i < 256; ++i)
      for (const std::size_t row : {i % 9, 9 + i % (k - 9)}) o.a[row * 256 + i] = code(i);
    o.lhs.set(o.a);
    o.rhs.set(std::vector<F8>(k * n, one));
    o.check({}, poisoned<O>(o.out.elems()), [](O got, std::size_t i) {
      return is_value_of<F8>(got, i / n % 256);
    });
  }
}

TEST_CASE("All 256 codes of each fp8 format multiply as their value, and NaN stays in its row",
          "[conformance][fp8][device]") {
  SECTION("e4m3fn") {
    check_all_codes<rg::fp8_e4m3fn, float>();
    check_all_codes<rg::fp8_e4m3fn, bf16>();
  }
  SECTION("e5m2") {
    check_all_codes<rg::fp8_e5m2, float>();
    check_all_codes<rg::fp8_e5m2, bf16>();
  }
  SECTION("e4m3fnuz") {
    check_all_codes<rg::fp8_e4m3fnuz, float>();
    check_all_codes<rg::fp8_e4m3fnuz, bf16>();
  }
  SECTION("e5m2fnuz") {
    check_all_codes<rg::fp8_e5m2fnuz, float>();
    check_all_codes<rg::fp8_e5m2fnuz, bf16>();
  }
}

TEST_CASE("Accumulation in f32 over several calls rounds once a call",
          "[conformance][bf16][device]") {
  for (const Shape& s : shapes(40, 33)) {
    Random random(12);
    Operands<bf16, bf16, float> o(s, sizes_for(s), [&](bf16) {
      return rg::to_bf16(static_cast<float>(random.between(-3, 3)));
    });
    // The products are exact; 2^24 + 1 and what lies above it round at each addition.
    std::vector<float> sum(o.out.elems(), 16777217.0F);
    for (std::size_t i = 0; i < sum.size(); i += 3) sum[i] = 0.1F;
    for (int call = 0; call < 4; ++call) {
      const std::vector<float> before = sum;
      for (std::size_t i = 0; i < sum.size(); ++i)
        sum[i] = static_cast<float>(double{before[i]} + o.expected.product[i]);
      o.check(
          {.beta = 1}, before, [&](float got, std::size_t i) { return same_bits(got, sum[i]); });
    }
  }
}

TEST_CASE("Accumulation into bf16 rounds the sum, not the product", "[conformance][bf16][device]") {
  // 257 is between two bf16: rounded first it would be 256, and 256 + 1 would stay 256.
  const Shape s{Variant::non_contracting, 1, 5, 257, 6};
  Operands<bf16, bf16, bf16> o(s, {5}, [](bf16) { return rg::to_bf16(1); });
  const std::vector<bf16> before(30, rg::to_bf16(1));
  o.check({.beta = 1}, before, [](bf16 got, std::size_t) { return rg::to_float(got) == 258.0F; });
}

}  // namespace
