// SPDX-License-Identifier: Apache-2.0
// Shapes and op classes: what the published benchmark multiplies, the shapes of its table and of
// its models, and the scaling that lets a CPU run them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "raggedgemm/base/index.hpp"

namespace raggedgemm::bench {

/// M rows in all, K and N the two widths, G groups (experts).
struct Shape {
  offset_t m = 0;
  offset_t k = 0;
  offset_t n = 0;
  offset_t g = 0;
  std::string
      origin;  ///< where it comes from, for people; "" for a shape given on the command line

  [[nodiscard]] bool same_extents(const Shape& other) const {
    return m == other.m && k == other.k && n == other.n && g == other.g;
  }
  [[nodiscard]] std::string name() const;  ///< "3840x2048x1408x64"
};

/// The six products of a MoE layer's two projections (wi: K to N, wo: N to K): x w, dy wᵀ, xᵀ dy.
enum class OpClass { fwd_wi, fwd_wo, dgrad_wi, dgrad_wo, wgrad_wi, wgrad_wo };

inline constexpr std::array all_classes{OpClass::fwd_wi,
                                        OpClass::fwd_wo,
                                        OpClass::dgrad_wi,
                                        OpClass::dgrad_wo,
                                        OpClass::wgrad_wi,
                                        OpClass::wgrad_wo};

const char* name_of(OpClass op);
bool parse_class(const std::string& name, OpClass& op);

/// How a class reads its operands. `c` is the summed width, `o` the other one.
enum class Form {
  nn,  ///< x [m, c] · w [g, c, o] → [m, o]
  nt,  ///< x [m, c] · w [g, o, c]ᵀ → [m, o]; the transposed view, no copy
  tn,  ///< x [m, c], y [m, o] → [g, c, o], summed over the rows of each group
};

/// A class with a shape.
struct Multiply {
  Form form = Form::nn;
  offset_t m = 0;
  offset_t c = 0;
  offset_t o = 0;
  offset_t g = 0;

  [[nodiscard]] offset_t lhs_elems() const { return m * c; }
  [[nodiscard]] offset_t rhs_elems() const { return form == Form::tn ? m * o : g * c * o; }
  [[nodiscard]] offset_t out_elems() const { return out_rows() * o; }
  /// Rows of the output as a matrix of width o: a tn output is its g slabs on end.
  [[nodiscard]] offset_t out_rows() const { return form == Form::tn ? g * c : m; }
};

Multiply multiply_of(OpClass op, const Shape& shape);

/// "M,K,N,G", all positive. False, with one line in `error`, otherwise.
bool parse_shape(const std::string& text, Shape& shape, std::string& error);

/// One cell of the published table.
struct PublishedResult {
  OpClass op = OpClass::fwd_wi;
  Shape shape;
  std::string backend;
  std::string status;  ///< "ok" or "OOM"
  double tflops = 0;
};

/// The published table: its rows, and its shapes in the order of first appearance.
bool read_published(std::vector<PublishedResult>& results,
                    std::vector<Shape>& shapes,
                    std::string& error);

/// Every distinct shape that models_mi300.csv and models_mi350.csv give a model of this name.
///
/// M is sequence length · top-k · 1.25, which is how the published table's M follow from its models
/// (deepseek2-16b: 512 · 6 · 1.25 = 3840). `names` gets all model names.
bool read_model(const std::string& name,
                std::vector<Shape>& shapes,
                std::vector<std::string>& names,
                std::string& error);

/// A shape that a CPU multiplies in milliseconds: at most 8 groups with their mean size kept (M
/// shrinks with G), then K and N halved together until one product is at most `most_flops`.
Shape scale_for_cpu(const Shape& shape, double most_flops);

}  // namespace raggedgemm::bench
