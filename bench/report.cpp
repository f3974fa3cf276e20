// SPDX-License-Identifier: Apache-2.0
// The tables that end a run.
// TFLOP/s and speed-ups are by the mean, as published; GB/s and the floor by the median.
#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "machine.hpp"
#include "text.hpp"

namespace raggedgemm::bench {

namespace {

constexpr BackendId baselines[] = {BackendId::loop, BackendId::padded_max, BackendId::padded_m};

/// At most 5 characters for what a CPU or a GPU reaches.
std::string figure(double value) {
  return format(value >= 1000  ? "%.0f"
                : value >= 100 ? "%.1f"
                : value >= 10  ? "%.2f"
                               : "%.3f",
                value);
}

std::string times_text(double value) { return value > 0 ? format("%.2fx", value) : "-"; }

/// What a table is made for: one element type and one distribution of sizes.
struct Section {
  DType dtype;
  std::string sizes_name;
};

std::vector<Section> sections_of(const std::vector<CaseResult>& results) {
  std::vector<Section> sections;
  for (const CaseResult& r : results) {
    const bool known = std::any_of(sections.begin(), sections.end(), [&](const Section& s) {
      return s.dtype == r.dtype && s.sizes_name == r.sizes_name;
    });
    if (!known) sections.push_back({r.dtype, r.sizes_name});
  }
  return sections;
}

class TablePrinter {
 public:
  TablePrinter(const std::vector<CaseResult>& results, const Section& section)
      : results_(results), section_(section) {
    for (const CaseResult& r : results) {
      if (!in_section(r)) continue;
      if (std::none_of(shapes_.begin(), shapes_.end(), [&](const Shape& s) {
            return s.same_extents(r.shape);
          }))
        shapes_.push_back(r.shape);
    }
    for (const OpClass op : all_classes)
      if (std::any_of(results.begin(), results.end(), [&](const CaseResult& r) {
            return in_section(r) && r.op == op;
          }))
        classes_.push_back(op);
  }

  void print(const std::vector<PublishedResult>& published) const {
    std::printf(
        "\nUseful TFLOP/s by mean time, %s, sizes %s; native over a baseline by mean time\n",
        raggedgemm::name_of(section_.dtype),
        section_.sizes_name.c_str());
    std::printf("%6s %6s %6s %7s  %-26s", "M", "K", "N", "experts", "backend");
    for (const OpClass op : classes_) std::printf(" %9s", name_of(op));
    std::printf("\n");
    for (const Shape& shape : shapes_) print_shape(shape, published);
    print_means();
  }

 private:
  [[nodiscard]] bool in_section(const CaseResult& r) const {
    return r.dtype == section_.dtype && r.sizes_name == section_.sizes_name;
  }

  [[nodiscard]] const CaseResult* find(const Shape& shape, OpClass op, BackendId backend) const {
    for (const CaseResult& r : results_)
      if (in_section(r) && r.backend == backend && r.op == op && r.shape.same_extents(shape))
        return &r;
    return nullptr;
  }

  void print_line(const std::string& head,
                  const std::string& label,
                  const std::function<std::string(OpClass)>& cell) const {
    std::printf("%s  %-26s", head.c_str(), label.c_str());
    for (const OpClass op : classes_) std::printf(" %9s", cell(op).c_str());
    std::printf("\n");
  }

  void print_shape(const Shape& shape, const std::vector<PublishedResult>& published) const {
    std::string head = format("%6lld %6lld %6lld %7lld",
                              static_cast<long long>(shape.m),
                              static_cast<long long>(shape.k),
                              static_cast<long long>(shape.n),
                              static_cast<long long>(shape.g));
    const std::string blank(head.size(), ' ');
    for (const BackendId backend : all_backends) {
      const auto has = [&](OpClass op) { return find(shape, op, backend) != nullptr; };
      if (std::none_of(classes_.begin(), classes_.end(), has)) continue;
      print_line(head, name_of(backend), [&](OpClass op) -> std::string {
        const CaseResult* const r = find(shape, op, backend);
        if (r == nullptr) return "-";
        return r->ok() ? figure(r->tflops()) : name_of(r->outcome);
      });
      head = blank;
    }
    for (const BackendId baseline : baselines) {
      const auto ratio = [&](OpClass op) {
        const CaseResult* const native = find(shape, op, BackendId::native);
        return native != nullptr ? speedup(results_, *native, baseline) : 0;
      };
      if (std::none_of(classes_.begin(), classes_.end(), [&](OpClass op) { return ratio(op) > 0; }))
        continue;
      print_line(blank, std::string("native over ") + name_of(baseline), [&](OpClass op) {
        return times_text(ratio(op));
      });
    }
    if (!on_gpu) return;
    for (const char* backend : {"default", "triton", "hipblas"}) {
      const auto at = [&](OpClass op) {
        return std::find_if(published.begin(), published.end(), [&](const PublishedResult& p) {
          return p.op == op && p.backend == backend && p.shape.same_extents(shape);
        });
      };
      if (at(classes_.front()) == published.end()) continue;
      print_line(blank, format("(published, MI300: %s)", backend), [&](OpClass op) -> std::string {
        const auto found = at(op);
        if (found == published.end()) return "-";
        return found->status == "ok" ? figure(found->tflops) : found->status;
      });
    }
  }

  /// Geometric means over the shapes, of the cells that both backends have.
  void print_means() const {
    const auto mean_of = [&](OpClass op, const std::function<double(const CaseResult&)>& value) {
      double logs = 0;
      int count = 0;
      for (const CaseResult& r : results_) {
        if (!in_section(r) || r.op != op || r.backend != BackendId::native || !r.ok()) continue;
        const double v = value(r);
        if (v <= 0) continue;
        logs += std::log(v);
        ++count;
      }
      return count > 0 ? std::exp(logs / count) : 0;
    };
    const std::string head(29, ' ');
    const auto print_means_of = [&](const std::string& label,
                                    const char* pattern,
                                    const std::function<double(const CaseResult&)>& value) {
      std::string line;
      bool any = false;
      for (const OpClass op : classes_) {
        const double mean = mean_of(op, value);
        any = any || mean > 0;
        line += format(" %9s", mean > 0 ? format(pattern, mean).c_str() : "-");
      }
      if (any) std::printf("%s  %-26s%s\n", head.c_str(), label.c_str(), line.c_str());
    };
    std::printf("geometric means over the shapes\n");
    for (const BackendId baseline : baselines)
      print_means_of(std::string("native over ") + name_of(baseline),
                     "%.2fx",
                     [&](const CaseResult& r) { return speedup(results_, r, baseline); });
    print_means_of("native, fraction of floor", "%.2f", [](const CaseResult& r) {
      return r.fraction_of_floor();
    });
  }

  const std::vector<CaseResult>& results_;
  Section section_;
  std::vector<Shape> shapes_;
  std::vector<OpClass> classes_;
};

}  // namespace

void print_table(const std::vector<CaseResult>& results,
                 const std::vector<PublishedResult>& published) {
  for (const Section& section : sections_of(results))
    TablePrinter(results, section).print(published);
  if (on_gpu && !published.empty())
    std::printf(
        "Lines in brackets are published figures of an MI300, for context: not measured here.\n");
}

void print_details(const std::vector<CaseResult>& results) {
  std::printf(
      "\nEvery case. us: mean, median, standard deviation. GB/s (operands and output once) and "
      "floor "
      "by the median.\n");
  std::printf("%-9s %-24s %-11s %-10s %10s %10s %9s %4s %8s %9s %5s %10s  %s\n",
              "class",
              "MxKxNxE",
              "sizes",
              "backend",
              "mean",
              "median",
              "stddev",
              "runs",
              "GB/s",
              "floor us",
              "floor",
              "extra mem",
              "config row or library");
  for (const CaseResult& r : results) {
    std::printf("%-9s %-24s %-11s %-10s ",
                name_of(r.op),
                r.shape.name().c_str(),
                r.sizes_name.c_str(),
                name_of(r.backend));
    if (!r.ok()) {
      std::printf("%s: %s\n", name_of(r.outcome), r.prepared.note.c_str());
      continue;
    }
    const std::string what = r.prepared.row >= 0 ? format("row %d %s (%s)",
                                                          r.prepared.row,
                                                          r.prepared.note.c_str(),
                                                          r.prepared.engine.c_str())
                                                 : r.prepared.note;
    std::printf("%10.1f %10.1f %9.1f %4d %8.2f %9.1f %5.2f %10s  %s\n",
                r.timing.mean_us,
                r.timing.median_us,
                r.timing.stddev_us,
                r.timing.runs,
                r.gbytes_per_s(),
                r.floor_us,
                r.fraction_of_floor(),
                bytes_text(r.prepared.extra_bytes).c_str(),
                what.c_str());
  }
}

}  // namespace raggedgemm::bench
