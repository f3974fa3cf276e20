// SPDX-License-Identifier: Apache-2.0
// View: row-major by default, any strides, transposition without a copy.

#include "raggedgemm/problem/view.hpp"

#include "support/catch.hpp"

namespace {

using namespace raggedgemm;

TEST_CASE("view() is row-major and keeps constness", "[problem][host]") {
  float memory[24] = {};
  const auto v = view(memory, 2, 3, 4);
  static_assert(decltype(v)::rank == 3);
  CHECK(v.data == memory);
  CHECK(v.extent == std::array<offset_t, 3>{2, 3, 4});
  CHECK(v.stride == std::array<offset_t, 3>{12, 4, 1});
  const float* const read_only = memory;
  static_assert(std::is_same_v<decltype(view(read_only, 2)), View<const float, 1>>);
}

TEST_CASE("view() strides are 64 bits wide", "[problem][host]") {
  const auto v = view(static_cast<float*>(nullptr), 4, 1 << 20, 1 << 20);
  CHECK(v.stride[0] == offset_t{1} << 40);
}

TEST_CASE("transposed() exchanges the last two dimensions", "[problem][host]") {
  float memory[24] = {};
  const auto t = view(memory, 2, 3, 4).transposed();
  CHECK(t.data == memory);
  CHECK(t.extent == std::array<offset_t, 3>{2, 4, 3});
  CHECK(t.stride == std::array<offset_t, 3>{12, 1, 4});
  static_assert(View<float, 2>(nullptr, {3, 4}).transposed().stride[0] == 1);
}

TEST_CASE("View takes any strides", "[problem][host]") {
  const View<float, 2> v(nullptr, {3, 4}, {-7, 0});
  CHECK(v.stride == std::array<offset_t, 2>{-7, 0});
}

}  // namespace
