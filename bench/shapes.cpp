// SPDX-License-Identifier: Apache-2.0
// Shapes from the command line, from the published table and from the model list.
// Nothing here touches a device.
#include "shapes.hpp"

#include <algorithm>

#include "csv.hpp"
#include "text.hpp"

namespace raggedgemm::bench {

std::string Shape::name() const {
  return format("%lldx%lldx%lldx%lld",
                static_cast<long long>(m),
                static_cast<long long>(k),
                static_cast<long long>(n),
                static_cast<long long>(g));
}

const char* name_of(OpClass op) {
  switch (op) {
    case OpClass::fwd_wi: return "fwd_wi";
    case OpClass::fwd_wo: return "fwd_wo";
    case OpClass::dgrad_wi: return "dgrad_wi";
    case OpClass::dgrad_wo: return "dgrad_wo";
    case OpClass::wgrad_wi: return "wgrad_wi";
    case OpClass::wgrad_wo: return "wgrad_wo";
  }
  return "unknown";
}

bool parse_class(const std::string& name, OpClass& op) {
  for (const OpClass candidate : all_classes) {
    if (name != name_of(candidate)) continue;
    op = candidate;
    return true;
  }
  return false;
}

Multiply multiply_of(OpClass op, const Shape& s) {
  switch (op) {
    case OpClass::fwd_wi: return {Form::nn, s.m, s.k, s.n, s.g};
    case OpClass::fwd_wo: return {Form::nn, s.m, s.n, s.k, s.g};
    case OpClass::dgrad_wi: return {Form::nt, s.m, s.n, s.k, s.g};
    case OpClass::dgrad_wo: return {Form::nt, s.m, s.k, s.n, s.g};
    case OpClass::wgrad_wi: return {Form::tn, s.m, s.k, s.n, s.g};
    case OpClass::wgrad_wo: return {Form::tn, s.m, s.n, s.k, s.g};
  }
  return {};
}

bool parse_shape(const std::string& text, Shape& shape, std::string& error) {
  const std::vector<std::string> parts = split(text, ',');
  long long value[4] = {};
  bool good = parts.size() == 4;
  for (std::size_t i = 0; good && i < 4; ++i)
    good = parse_integer(parts[i], value[i]) && value[i] > 0 && value[i] <= (1LL << 31);
  if (!good) {
    error = "a shape is M,K,N,E, four whole numbers from 1 to 2^31; got '" + text + "'";
    return false;
  }
  shape = {value[0], value[1], value[2], value[3], ""};
  return true;
}

namespace {

/// Cells of a row as a shape.
bool shape_of_cells(const std::vector<std::string>& row, const int (&columns)[4], Shape& shape) {
  std::string text;
  for (const int column : columns)
    text += (text.empty() ? "" : ",") + row[static_cast<std::size_t>(column)];
  std::string ignored;
  return parse_shape(text, shape, ignored);
}

void add_if_new(std::vector<Shape>& shapes, const Shape& shape) {
  for (const Shape& known : shapes)
    if (known.same_extents(shape)) return;
  shapes.push_back(shape);
}

}  // namespace

bool read_published(std::vector<PublishedResult>& results,
                    std::vector<Shape>& shapes,
                    std::string& error) {
  Table table;
  const std::string path = data_folder() + "/microbenchmark_mi300.csv";
  if (!read_csv(path, table, error)) return false;
  const int op = table.column("class");
  const int backend = table.column("backend");
  const int tflops = table.column("tflops");
  const int status = table.column("status");
  const int columns[4] = {
      table.column("m"), table.column("k"), table.column("n"), table.column("experts")};
  if (std::min({op, backend, tflops, status, columns[0], columns[1], columns[2], columns[3]}) < 0) {
    error = path + ": needs the columns class,m,k,n,experts,backend,tflops,status";
    return false;
  }
  for (const std::vector<std::string>& row : table.rows) {
    const auto cell = [&](int column) { return row[static_cast<std::size_t>(column)]; };
    PublishedResult result;
    if (!parse_class(cell(op), result.op) || !shape_of_cells(row, columns, result.shape)) {
      error = path + ": a row has no class or shape: " + row[0];
      return false;
    }
    result.shape.origin = "published";
    result.backend = cell(backend);
    result.status = cell(status);
    if (!parse_real(cell(tflops), result.tflops)) result.tflops = 0;
    add_if_new(shapes, result.shape);
    results.push_back(result);
  }
  return true;
}

bool read_model(const std::string& name,
                std::vector<Shape>& shapes,
                std::vector<std::string>& names,
                std::string& error) {
  bool found = false;
  for (const char* file : {"models_mi300.csv", "models_mi350.csv"}) {
    Table table;
    const std::string path = data_folder() + "/" + file;
    if (!read_csv(path, table, error)) return false;
    const int columns[6] = {table.column("model"),
                            table.column("emb_dim_k"),
                            table.column("moe_mlp_dim_n"),
                            table.column("experts"),
                            table.column("top_k"),
                            table.column("seq_len")};
    if (*std::min_element(columns, columns + 6) < 0) {
      error = path + ": needs the columns model,emb_dim_k,moe_mlp_dim_n,experts,top_k,seq_len";
      return false;
    }
    for (const std::vector<std::string>& row : table.rows) {
      const std::string& model = row[static_cast<std::size_t>(columns[0])];
      if (std::find(names.begin(), names.end(), model) == names.end()) names.push_back(model);
      if (model != name) continue;
      long long value[5] = {};
      for (int i = 0; i < 5; ++i) {
        if (parse_integer(row[static_cast<std::size_t>(columns[i + 1])], value[i])) continue;
        error = path + ": a number of model " + model + " cannot be read";
        return false;
      }
      const long long rows = value[4] * value[3] * 5 / 4;
      add_if_new(shapes, {rows, value[0], value[1], value[2], model});
      found = true;
    }
  }
  if (found) return true;
  error = "no model '" + name + "'; there are:";
  for (const std::string& known : names) error += " " + known;
  return false;
}

Shape scale_for_cpu(const Shape& shape, double most_flops) {
  constexpr offset_t most_groups = 8;
  constexpr offset_t least_width = 32;
  Shape scaled = shape;
  scaled.g = std::min(shape.g, most_groups);
  scaled.m = std::max(shape.m * scaled.g / shape.g, offset_t{1});
  const auto flops = [](const Shape& s) {
    return 2.0 * static_cast<double>(s.m) * static_cast<double>(s.k) * static_cast<double>(s.n);
  };
  while (flops(scaled) > most_flops && std::min(scaled.k, scaled.n) >= 2 * least_width) {
    scaled.k /= 2;
    scaled.n /= 2;
  }
  scaled.origin = shape.name() + " scaled";
  return scaled;
}

}  // namespace raggedgemm::bench
