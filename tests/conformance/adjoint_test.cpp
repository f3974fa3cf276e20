// SPDX-License-Identifier: Apache-2.0
// Gradients: <ct, f(dx, y)> = <dx, vjp_x(ct)> and the same for y, for the three variants. Each of
// the six VJPs is one call, by strides alone; once through the plain calls, once as a general
// ragged dot with a batch dimension and groups of its own for every batch. Rows past the sum and
// the operands of empty groups are NaN where no call may read them.

#include <raggedgemm/ragged_dot_general.hpp>
#include <raggedgemm/raggedgemm.hpp>

#include <cmath>

#include "support/device_array.hpp"
#include "support/sizes.hpp"

namespace {

using namespace support;
namespace rg = raggedgemm;
using rg::view;

constexpr offset_t g = 5;
constexpr offset_t ragged = 40;  // 33 of them belong to a group
const Sizes some_sizes{9, 0, 14, 7, 3};
constexpr offset_t inner = 24;
constexpr offset_t outer = 36;

/// Small whole numbers: every f32 and f64 sum is exact, and the identities hold exactly.
struct Whole {
  static constexpr bool exact = true;
  static double next(Random& random) { return static_cast<double>(random.between(-4, 4)); }
};
struct Real {
  static constexpr bool exact = false;
  static double next(Random& random) { return random.real(); }
};

template <class T, class Values>
std::vector<T> values(std::size_t count, std::uint64_t seed) {
  Random random(seed);
  std::vector<T> list(count);
  for (T& value : list) value = static_cast<T>(Values::next(random));
  return list;
}

/// The inner product, in f64.
template <class T>
double dot(const std::vector<T>& a, const std::vector<T>& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

/// Numbers [begin, end) of `list` become NaN in `poisoned`, what the device gets, and 0 in `list`,
/// what the inner products see.
template <class T>
void bury(std::vector<T>& list, std::vector<T>& poisoned, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i) {
    list[i] = T{0};
    poisoned[i] = static_cast<T>(NAN);
  }
}

/// `scale` bounds Σ|ct·x·y|, which both inner products add up.
template <class T, class Values>
void check_pair(const char* what, double forward, double adjoint, double scale) {
  INFO(what << ": " << forward << " and " << adjoint);
  if (Values::exact) {
    CHECK(forward == adjoint);
    CHECK(forward != 0);
  } else {
    // Sums of at most `ragged` products in T, then an inner product of at most 5040 terms in f64.
    const double unit = std::is_same_v<T, double> ? 0x1p-53 : 0x1p-24;
    CHECK(std::fabs(forward - adjoint) <= 2 * ((ragged + 8) * unit + 5040 * 0x1p-53) * scale);
  }
}

/// A bound of Σ|ct·x·y|: no value is above 1, and no dimension is longer than `ragged`.
template <class T>
double scale_of(const std::vector<T>& a, const std::vector<T>& b, const std::vector<T>& c) {
  const auto size = [](const std::vector<T>& list) {
    double sum = 0;
    for (const T value : list)
      if (value == value) sum += std::fabs(static_cast<double>(value));
    return sum;
  };
  return std::max({size(a), size(b), size(c)}) * static_cast<double>(ragged);
}

/// `f(x, y, out)`, `vjp_x(ct, y, out)` and `vjp_y(x, ct, out)` are one call each. `dead_x` … are
/// the buried copies of the operands.
template <class T, class Values, class F, class VjpX, class VjpY>
void check_adjoint(const std::vector<T>& x,
                   const std::vector<T>& dead_x,
                   const std::vector<T>& y,
                   const std::vector<T>& dead_y,
                   const std::vector<T>& ct,
                   const std::vector<T>& dead_ct,
                   const F& f,
                   const VjpX& vjp_x,
                   const VjpY& vjp_y) {
  const DeviceArray<T> x_at(dead_x);
  const DeviceArray<T> y_at(dead_y);
  const DeviceArray<T> ct_at(dead_ct);
  DeviceArray<T> result(ct.size());
  DeviceArray<T> x_gradient(x.size());
  DeviceArray<T> y_gradient(y.size());
  const auto done = [](const rg::Status& status) {
    INFO(status.message());
    REQUIRE(status.ok());
    REQUIRE(runtime::synchronize().ok());
  };
  done(f(x_at.data(), y_at.data(), result.data()));
  done(vjp_x(ct_at.data(), y_at.data(), x_gradient.data()));
  done(vjp_y(x_at.data(), ct_at.data(), y_gradient.data()));
  CHECK(result.guards_intact());
  CHECK(x_gradient.guards_intact());
  CHECK(y_gradient.guards_intact());
  // f is linear in x and in y: <ct, f(x, y)> is both inner products.
  const double forward = dot(ct, result.get());
  const double scale = scale_of(x, y, ct);
  check_pair<T, Values>(
      "<ct, f(x, y)> and <x, vjp_x(ct)>", forward, dot(x, x_gradient.get()), scale);
  check_pair<T, Values>(
      "<ct, f(x, y)> and <y, vjp_y(ct)>", forward, dot(y, y_gradient.get()), scale);
  // With other directions than the points themselves: dx and dy, whole and live everywhere.
  const std::vector<T> dx = values<T, Values>(x.size(), 91);
  const std::vector<T> dy = values<T, Values>(y.size(), 92);
  const DeviceArray<T> dx_at(dx);
  const DeviceArray<T> dy_at(dy);
  done(f(dx_at.data(), y_at.data(), result.data()));
  check_pair<T, Values>("<ct, f(dx, y)> and <dx, vjp_x(ct)>",
                        dot(ct, result.get()),
                        dot(dx, x_gradient.get()),
                        scale);
  done(f(x_at.data(), dy_at.data(), result.data()));
  check_pair<T, Values>("<ct, f(x, dy)> and <dy, vjp_y(ct)>",
                        dot(ct, result.get()),
                        dot(dy, y_gradient.get()),
                        scale);
}

template <class T, class Values>
void check_non_contracting() {
  std::vector<T> x = values<T, Values>(ragged * inner, 1);
  std::vector<T> y = values<T, Values>(g * inner * outer, 2);
  std::vector<T> ct = values<T, Values>(ragged * outer, 3);
  std::vector<T> dead_x = x;
  std::vector<T> dead_y = y;
  std::vector<T> dead_ct = ct;
  bury(x, dead_x, 33 * inner, ragged * inner);
  bury(y, dead_y, inner * outer, 2 * inner * outer);
  bury(ct, dead_ct, 33 * outer, ragged * outer);
  const DeviceArray<std::int64_t> sizes(some_sizes);
  const rg::GroupSizes groups(sizes.data(), g);
  check_adjoint<T, Values>(
      x,
      dead_x,
      y,
      dead_y,
      ct,
      dead_ct,
      [&](const T* a, const T* b, T* out) {
        return rg::ragged_dot(
            view(a, ragged, inner), view(b, g, inner, outer), groups, view(out, ragged, outer));
      },
      [&](const T* c, const T* b, T* out) {
        return rg::ragged_dot(view(c, ragged, outer),
                              view(b, g, inner, outer).transposed(),
                              groups,
                              view(out, ragged, inner));
      },
      [&](const T* a, const T* c, T* out) {
        return rg::ragged_dot_contracting(
            view(a, ragged, inner), view(c, ragged, outer), groups, view(out, g, inner, outer));
      });
}

template <class T, class Values>
void check_contracting() {
  std::vector<T> x = values<T, Values>(ragged * inner, 4);
  std::vector<T> y = values<T, Values>(ragged * outer, 5);
  std::vector<T> ct = values<T, Values>(g * inner * outer, 6);
  std::vector<T> dead_x = x;
  std::vector<T> dead_y = y;
  std::vector<T> dead_ct = ct;
  bury(x, dead_x, 33 * inner, ragged * inner);
  bury(y, dead_y, 33 * outer, ragged * outer);
  bury(ct, dead_ct, inner * outer, 2 * inner * outer);
  const DeviceArray<std::int64_t> sizes(some_sizes);
  const rg::GroupSizes groups(sizes.data(), g);
  check_adjoint<T, Values>(
      x,
      dead_x,
      y,
      dead_y,
      ct,
      dead_ct,
      [&](const T* a, const T* b, T* out) {
        return rg::ragged_dot_contracting(
            view(a, ragged, inner), view(b, ragged, outer), groups, view(out, g, inner, outer));
      },
      [&](const T* c, const T* b, T* out) {
        return rg::ragged_dot(view(b, ragged, outer),
                              view(c, g, inner, outer).transposed(),
                              groups,
                              view(out, ragged, inner));
      },
      [&](const T* a, const T* c, T* out) {
        return rg::ragged_dot(
            view(a, ragged, inner), view(c, g, inner, outer), groups, view(out, ragged, outer));
      });
}

template <class T, class Values>
void check_batch() {
  constexpr offset_t b_extent = 7;  // 4 of them live
  constexpr offset_t m = 18;
  std::vector<T> x = values<T, Values>(b_extent * m * inner, 7);
  std::vector<T> y = values<T, Values>(b_extent * inner * outer, 8);
  std::vector<T> ct = values<T, Values>(b_extent * m * outer, 9);
  std::vector<T> dead_x = x;
  std::vector<T> dead_y = y;
  std::vector<T> dead_ct = ct;
  bury(x, dead_x, 4 * m * inner, x.size());
  bury(y, dead_y, 4 * inner * outer, y.size());
  bury(ct, dead_ct, 4 * m * outer, ct.size());
  const DeviceArray<std::int64_t> sizes(Sizes{3, 0, 1});
  const rg::GroupSizes groups(sizes.data(), 3);
  check_adjoint<T, Values>(
      x,
      dead_x,
      y,
      dead_y,
      ct,
      dead_ct,
      [&](const T* a, const T* b, T* out) {
        return rg::ragged_dot_batch(view(a, b_extent, m, inner),
                                    view(b, b_extent, inner, outer),
                                    groups,
                                    view(out, b_extent, m, outer));
      },
      [&](const T* c, const T* b, T* out) {
        return rg::ragged_dot_batch(view(c, b_extent, m, outer),
                                    view(b, b_extent, inner, outer).transposed(),
                                    groups,
                                    view(out, b_extent, m, inner));
      },
      [&](const T* a, const T* c, T* out) {
        return rg::ragged_dot_batch(view(a, b_extent, m, inner).transposed(),
                                    view(c, b_extent, m, outer),
                                    groups,
                                    view(out, b_extent, inner, outer));
      });
}

TEST_CASE("Both gradients of ragged_dot are one call each", "[conformance][adjoint][device]") {
  check_non_contracting<float, Whole>();
  check_non_contracting<float, Real>();
  check_non_contracting<double, Real>();
}

TEST_CASE("Both gradients of ragged_dot_contracting are one call each",
          "[conformance][adjoint][device]") {
  check_contracting<float, Whole>();
  check_contracting<float, Real>();
  check_contracting<double, Real>();
}

TEST_CASE("Both gradients of ragged_dot_batch are one call each",
          "[conformance][adjoint][device]") {
  check_batch<float, Whole>();
  check_batch<float, Real>();
  check_batch<double, Real>();
}

// General ragged dots: a batch dimension of 3, each with groups of its own.
constexpr offset_t batches = 3;
const Sizes batch_sizes{9, 0, 14, 7, 3, 0, 0, 40, 0, 0, 1, 2, 0, 0, 4};  // [3, 5]; sums 33, 40, 7
constexpr offset_t batch_sums[] = {33, 40, 7};

TEST_CASE("Both gradients of a general non-contracting ragged dot are one general call each",
          "[conformance][adjoint][general][device]") {
  using T = float;
  // x [b, m, k], y [g, b, k, n], ct [b, m, n]
  std::vector<T> x = values<T, Whole>(batches * ragged * inner, 11);
  std::vector<T> y = values<T, Whole>(g * batches * inner * outer, 12);
  std::vector<T> ct = values<T, Whole>(batches * ragged * outer, 13);
  std::vector<T> dead_x = x;
  std::vector<T> dead_y = y;
  std::vector<T> dead_ct = ct;
  for (std::size_t b = 0; b < batches; ++b) {
    const auto sum = static_cast<std::size_t>(batch_sums[b]);
    bury(x, dead_x, (b * ragged + sum) * inner, (b + 1) * ragged * inner);
    bury(ct, dead_ct, (b * ragged + sum) * outer, (b + 1) * ragged * outer);
    for (std::size_t group = 0; group < g; ++group)
      if (batch_sizes[b * g + group] == 0)
        bury(y,
             dead_y,
             (group * batches + b) * inner * outer,
             (group * batches + b + 1) * inner * outer);
  }
  const DeviceArray<std::int64_t> sizes(batch_sizes);
  const rg::GroupTensor groups(sizes.data(), GroupKind::sizes, {batches, g});
  check_adjoint<T, Whole>(
      x,
      dead_x,
      y,
      dead_y,
      ct,
      dead_ct,
      [&](const T* a, const T* b, T* out) {
        return rg::ragged_dot_general(view(a, batches, ragged, inner),
                                      view(b, g, batches, inner, outer),
                                      groups,
                                      view(out, batches, ragged, outer),
                                      {.lhs_contracting = {2},
                                       .rhs_contracting = {2},
                                       .lhs_batch = {0},
                                       .rhs_batch = {1},
                                       .lhs_ragged = {1},
                                       .rhs_group = {0}});
      },
      [&](const T* c, const T* b, T* out) {  // contracts n
        return rg::ragged_dot_general(view(c, batches, ragged, outer),
                                      view(b, g, batches, inner, outer),
                                      groups,
                                      view(out, batches, ragged, inner),
                                      {.lhs_contracting = {2},
                                       .rhs_contracting = {3},
                                       .lhs_batch = {0},
                                       .rhs_batch = {1},
                                       .lhs_ragged = {1},
                                       .rhs_group = {0}});
      },
      [&](const T* a, const T* c, T* out) {  // contracts the ragged m: [g, b, k, n]
        return rg::ragged_dot_general(view(a, batches, ragged, inner),
                                      view(c, batches, ragged, outer),
                                      groups,
                                      view(out, g, batches, inner, outer),
                                      {.lhs_contracting = {1},
                                       .rhs_contracting = {1},
                                       .lhs_batch = {0},
                                       .rhs_batch = {0},
                                       .lhs_ragged = {1},
                                       .rhs_group = {}});
      });
}

TEST_CASE("Both gradients of a general contracting ragged dot are one general call each",
          "[conformance][adjoint][general][device]") {
  using T = float;
  // x [b, k, m], y [b, k, n], ct [g, b, m, n], ragged k
  std::vector<T> x = values<T, Whole>(batches * ragged * inner, 14);
  std::vector<T> y = values<T, Whole>(batches * ragged * outer, 15);
  std::vector<T> ct = values<T, Whole>(g * batches * inner * outer, 16);
  std::vector<T> dead_x = x;
  std::vector<T> dead_y = y;
  std::vector<T> dead_ct = ct;
  for (std::size_t b = 0; b < batches; ++b) {
    const auto sum = static_cast<std::size_t>(batch_sums[b]);
    bury(x, dead_x, (b * ragged + sum) * inner, (b + 1) * ragged * inner);
    bury(y, dead_y, (b * ragged + sum) * outer, (b + 1) * ragged * outer);
    for (std::size_t group = 0; group < g; ++group)
      if (batch_sizes[b * g + group] == 0)
        bury(ct,
             dead_ct,
             (group * batches + b) * inner * outer,
             (group * batches + b + 1) * inner * outer);
  }
  const DeviceArray<std::int64_t> sizes(batch_sizes);
  const rg::GroupTensor groups(sizes.data(), GroupKind::sizes, {batches, g});
  check_adjoint<T, Whole>(
      x,
      dead_x,
      y,
      dead_y,
      ct,
      dead_ct,
      [&](const T* a, const T* b, T* out) {
        return rg::ragged_dot_general(view(a, batches, ragged, inner),
                                      view(b, batches, ragged, outer),
                                      groups,
                                      view(out, g, batches, inner, outer),
                                      {.lhs_contracting = {1},
                                       .rhs_contracting = {1},
                                       .lhs_batch = {0},
                                       .rhs_batch = {0},
                                       .lhs_ragged = {1},
                                       .rhs_group = {}});
      },
      [&](const T* c, const T* b, T* out) {  // y's rows times ct over n: [b, k, m]
        return rg::ragged_dot_general(view(b, batches, ragged, outer),
                                      view(c, g, batches, inner, outer),
                                      groups,
                                      view(out, batches, ragged, inner),
                                      {.lhs_contracting = {2},
                                       .rhs_contracting = {3},
                                       .lhs_batch = {0},
                                       .rhs_batch = {1},
                                       .lhs_ragged = {1},
                                       .rhs_group = {0}});
      },
      [&](const T* a, const T* c, T* out) {  // x's rows times ct over m: [b, k, n]
        return rg::ragged_dot_general(view(a, batches, ragged, inner),
                                      view(c, g, batches, inner, outer),
                                      groups,
                                      view(out, batches, ragged, outer),
                                      {.lhs_contracting = {2},
                                       .rhs_contracting = {2},
                                       .lhs_batch = {0},
                                       .rhs_batch = {1},
                                       .lhs_ragged = {1},
                                       .rhs_group = {0}});
      });
}

TEST_CASE(
    "Both gradients of a general batch ragged dot are one general call each, written transposed",
    "[conformance][adjoint][general][device]") {
  using T = float;
  constexpr offset_t b_extent = 7;  // 4 of them live
  constexpr offset_t m = 18;
  // x [b, m, k], y [b, k, n] → ct [b, m, n]; everything lies in memory with b innermost.
  const auto placed = [](auto* data, offset_t rows, offset_t cols) {
    return rg::View<std::remove_pointer_t<decltype(data)>, 3>(
        data, {b_extent, rows, cols}, {1, cols * b_extent, b_extent});
  };
  std::vector<T> x = values<T, Whole>(b_extent * m * inner, 17);
  std::vector<T> y = values<T, Whole>(b_extent * inner * outer, 18);
  std::vector<T> ct = values<T, Whole>(b_extent * m * outer, 19);
  std::vector<T> dead_x = x;
  std::vector<T> dead_y = y;
  std::vector<T> dead_ct = ct;
  for (std::vector<T>* list : {&x, &y, &ct}) {
    std::vector<T>& dead = list == &x ? dead_x : list == &y ? dead_y : dead_ct;
    for (std::size_t i = 0; i < list->size(); ++i)
      if (i % b_extent >= 4) bury(*list, dead, i, i + 1);
  }
  const DeviceArray<std::int64_t> sizes(Sizes{3, 0, 1});
  const rg::GroupTensor groups(sizes.data(), GroupKind::sizes, {3});
  const auto dims = [](index_t lhs, index_t rhs) {
    return rg::DimensionNumbers{.lhs_contracting = {lhs},
                                .rhs_contracting = {rhs},
                                .lhs_batch = {0},
                                .rhs_batch = {0},
                                .lhs_ragged = {0},
                                .rhs_group = {}};
  };
  check_adjoint<T, Whole>(
      x,
      dead_x,
      y,
      dead_y,
      ct,
      dead_ct,
      [&](const T* a, const T* b, T* out) {
        return rg::ragged_dot_general(placed(a, m, inner),
                                      placed(b, inner, outer),
                                      groups,
                                      placed(out, m, outer),
                                      dims(2, 1));
      },
      [&](const T* c, const T* b, T* out) {
        return rg::ragged_dot_general(placed(c, m, outer),
                                      placed(b, inner, outer),
                                      groups,
                                      placed(out, m, inner),
                                      dims(2, 2));
      },
      [&](const T* a, const T* c, T* out) {
        return rg::ragged_dot_general(placed(a, m, inner),
                                      placed(c, m, outer),
                                      groups,
                                      placed(out, inner, outer),
                                      dims(1, 1));
      });
}

TEST_CASE("Gradients of rows past the sum are zero", "[conformance][adjoint][device]") {
  const std::vector<float> ct(ragged * outer, 1.0F);
  const std::vector<float> y(g * inner * outer, 1.0F);
  const DeviceArray<float> ct_at(ct);
  const DeviceArray<float> y_at(y);
  const DeviceArray<std::int64_t> sizes(some_sizes);
  DeviceArray<float> gradient(ragged * inner);
  REQUIRE(rg::ragged_dot(view(std::as_const(ct_at).data(), ragged, outer),
                         view(std::as_const(y_at).data(), g, inner, outer).transposed(),
                         rg::GroupSizes(sizes.data(), g),
                         view(gradient.data(), ragged, inner))
              .ok());
  REQUIRE(runtime::synchronize().ok());
  const std::vector<float> got = gradient.get();
  for (std::size_t i = 0; i < got.size(); ++i)
    REQUIRE(same_bits(got[i], i < 33 * inner ? static_cast<float>(outer) : 0.0F));
}

}  // namespace
