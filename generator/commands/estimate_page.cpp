// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/estimate_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "generator/commands/layer_request.h"
#include "generator/emit/measured_json.h"

namespace esc {
namespace {

/// The least microseconds in which memory of this bandwidth, in GB/s, moves the matrix with B and C.
double bound(const ProductBytes& bytes, double matrix, double bandwidth) {
  return (matrix + bytes.b_and_c) / bandwidth / 1e3;
}

std::string bandwidth_text(const DeviceCeilings& ceilings) {
  return fmt::format("the {:g} GB/s that the maker of {} says of its memory", ceilings.memory_gigabytes, ceilings.name);
}

/// "1.201/0.314/0.332", or "-" where the bandwidth is not known.
std::string bounds_text(const ProductBytes& bytes, const std::optional<DeviceCeilings>& ceilings) {
  if (!ceilings) {
    return "-";
  }
  const double bandwidth = ceilings->memory_gigabytes;
  return fmt::format("{:.3f}/{:.3f}/{:.3f}", bound(bytes, bytes.dense, bandwidth), bound(bytes, bytes.csr, bandwidth),
                     bound(bytes, bytes.packed, bandwidth));
}

/// "5.4/3.1", or "-".
std::string text_of(const ExpectedTimes& times) {
  return times.layers == 0 ? "-" : fmt::format("{:.1f}/{:.1f}", times.library, times.ours);
}

/// Sums over the layers of a model that get kernels, for a number of columns.
struct Totals {
  std::int64_t bcol = 0;
  ProductBytes bytes = {};
  ExpectedTimes times = {};
  int kernels = 0;
  int faster = 0;  ///< measured to be so
  int slower = 0;
};

Totals totals_of(const std::vector<LayerEstimate>& layers, std::int64_t bcol) {
  Totals all{.bcol = bcol};
  for (const LayerEstimate& layer : layers) {
    for (const KernelEstimate& kernel : layer.kernels) {
      if (kernel.bcol != bcol || !layer.why_dense.empty()) {
        continue;
      }
      all.bytes = {all.bytes.dense + kernel.bytes.dense, all.bytes.csr + kernel.bytes.csr,
                   all.bytes.packed + kernel.bytes.packed, all.bytes.b_and_c + kernel.bytes.b_and_c};
      all.times.add(expected_times(kernel.measured));
      ++all.kernels;
      all.faster += kernel.measured && *kernel.measured->over_exact > 1 ? 1 : 0;
      all.slower += kernel.measured && *kernel.measured->over_exact <= 1 ? 1 : 0;
    }
  }
  return all;
}

std::vector<Totals> totals_of(const ModelEstimate& estimate) {
  std::vector<Totals> totals;
  std::ranges::transform(estimate.bcols, std::back_inserter(totals),
                         [&](std::int64_t bcol) { return totals_of(estimate.layers, bcol); });
  return totals;
}

/// What the kernel can win, and whether that was measured or is so by its bytes alone.
std::string verdict(const KernelEstimate& kernel) {
  if (kernel.measured) {
    const double ratio = *kernel.measured->over_exact;
    return fmt::format("{}: {:.2f} x, measured", ratio > 1 ? "yes" : "no", ratio);
  }
  if (kernel.over_dense) {
    return fmt::format("{}: {:.2f} x dense on layers like it", *kernel.over_dense > 1 ? "yes" : "no",
                       *kernel.over_dense);
  }
  const double ratio = kernel.bytes.packed / kernel.bytes.dense;
  return fmt::format("{}: {:.2f} of dense bytes, not measured", ratio < 1 ? "may be" : "unlikely", ratio);
}

class Table {
 public:
  explicit Table(const ModelEstimate& estimate) : estimate_(estimate) {
    for (const LayerEstimate& layer : estimate.layers) {
      name_width_ = std::max(name_width_, layer.name.size());
      shape_width_ = std::max(shape_width_, layer.shape.size());
    }
  }

  std::string text() && {
    text_ = fmt::format("{:<{}}  {:<{}}  {:>7}  {:>12}  {:>12}  {:>4}  {:>12}  {:>25}  {:>21}  {}\n", "tensor",
                        name_width_, "shape", shape_width_, "% zeros", "dense bytes", "CSR bytes", "bCol",
                        "packed about", "bound us dense/CSR/packed", "about us library/ours", "faster than a library");
    for (const LayerEstimate& layer : estimate_.layers) {
      add(layer);
    }
    const auto made = std::ranges::count_if(estimate_.layers, is_made);
    for (const Totals& all : totals_of(estimate_)) {
      add({"total", fmt::format("{} of {}", made, estimate_.layers.size()), ""}, all.bcol, all.bytes, all.times,
          fmt::format("{} yes, {} no, {} not measured", all.faster, all.slower, all.kernels - all.faster - all.slower));
    }
    return std::move(text_);
  }

 private:
  /// What stands in front of a row.
  struct Front {
    std::string name;
    std::string shape;
    std::string zeros;
  };

  static bool is_made(const LayerEstimate& layer) { return layer.why_not.empty() && layer.why_dense.empty(); }

  void add(const LayerEstimate& layer) {
    if (!layer.why_not.empty()) {
      add_words(layer.name, layer.shape, layer.why_not);
      return;
    }
    for (const KernelEstimate& kernel : layer.kernels) {
      const bool is_first = &kernel == &layer.kernels.front();
      const Front front =
          is_first ? Front{layer.name, layer.shape, fmt::format("{:.2f}", 100 * layer.sparsity)} : Front{};
      add(front, kernel.bcol, kernel.bytes, expected_times(kernel.measured), verdict(kernel));
    }
    if (!layer.why_dense.empty()) {
      add_words("", "", layer.why_dense);
    }
  }

  void add_words(const std::string& name, const std::string& shape, const std::string& words) {
    text_ += fmt::format("{:<{}}  {:<{}}  {}\n", name, name_width_, shape, shape_width_, words);
  }

  void add(const Front& front, std::int64_t bcol, const ProductBytes& bytes, const ExpectedTimes& times,
           const std::string& wins) {
    const bool is_first = !front.name.empty();
    text_ += fmt::format("{:<{}}  {:<{}}  {:>7}  {:>12}  {:>12}  {:>4}  {:>12.0f}  {:>25}  {:>21}  {}\n", front.name,
                         name_width_, front.shape, shape_width_, front.zeros,
                         is_first ? fmt::format("{:.0f}", bytes.dense) : "",
                         is_first ? fmt::format("{:.0f}", bytes.csr) : "", bcol, bytes.packed,
                         bounds_text(bytes, estimate_.ceilings), text_of(times), wins);
  }

  const ModelEstimate& estimate_;
  std::size_t name_width_ = 6;
  std::size_t shape_width_ = 5;
  std::string text_;
};

/// What is said of kernels, each sentence once.
std::vector<std::string> notes_of(const ModelEstimate& estimate) {
  std::vector<std::string> notes;
  for (const LayerEstimate& layer : estimate.layers) {
    for (const KernelEstimate& kernel : layer.kernels) {
      for (const std::string& note : kernel.notes) {
        if (std::ranges::find(notes, note) == notes.end()) {
          notes.push_back(note);
        }
      }
    }
  }
  return notes;
}

std::string notes_text(const ModelEstimate& estimate) {
  constexpr std::size_t most = 6;
  const std::vector<std::string> notes = notes_of(estimate);
  std::string text = estimate.note.empty() ? "" : fmt::format("note       {}\n", estimate.note);
  for (const std::string& note : std::span(notes).first(std::min(most, notes.size()))) {
    text += fmt::format("note       {}\n", note);
  }
  return text + (notes.size() > most ? fmt::format("note       {} more: --json has all\n", notes.size() - most) : "");
}

/// Where the numbers of the table are from.
std::string sources_text(const ModelEstimate& estimate) {
  std::string text = fmt::format("made for   bCol {}, elements of {}, {}{}\n", fmt::join(estimate.bcols, ", "),
                                 estimate.dtype, estimate.gpu, estimate.is_named ? "" : " (no --gpu was named)");
  text += fmt::format(
      "packed     about: planned of {} rows from the middle of a layer, or all where it has fewer, by the schedule "
      "that auto takes\n",
      planned_rows);
  text += estimate.ceilings
              ? fmt::format(
                    "bound      not measured: bytes of A, B and C over {}; without launch and arithmetic; what "
                    "stays in the L2 cache can be faster\n",
                    bandwidth_text(*estimate.ceilings))
              : fmt::format("bound      none: the bandwidth of {} is not known here\n", estimate.gpu);
  std::vector<std::string> places;
  for (const LayerEstimate& layer : estimate.layers) {
    for (const KernelEstimate& kernel : layer.kernels) {
      if (kernel.measured && std::ranges::find(places, kernel.measured->where) == places.end()) {
        places.push_back(kernel.measured->where);
        text += fmt::format("measured   time of the faster one of cuBLAS and cuSPARSE over that of this schedule: {}\n",
                            kernel.measured->where);
      }
    }
  }
  for (const Totals& all : totals_of(estimate)) {
    if (all.times.layers > 0) {
      text += fmt::format(
          "about      the library's time on such layers, and that over this ratio, with the operands in the L2 cache; "
          "the total of bCol {} is of {} {}\n",
          all.bcol, all.times.layers, all.times.layers == 1 ? "layer" : "layers");
    }
  }
  return text + notes_text(estimate);
}

nlohmann::json to_json(const ProductBytes& bytes, const std::optional<DeviceCeilings>& ceilings) {
  nlohmann::json result{{"bytes",
                         {{"dense", bytes.dense},
                          {"csr", bytes.csr},
                          {"packed_about", std::llround(bytes.packed)},
                          {"b_and_c", bytes.b_and_c}}}};
  if (ceilings) {
    const double bandwidth = ceilings->memory_gigabytes;
    result["bound_microseconds"] = {{"dense", bound(bytes, bytes.dense, bandwidth)},
                                    {"csr", bound(bytes, bytes.csr, bandwidth)},
                                    {"packed", bound(bytes, bytes.packed, bandwidth)}};
  }
  return result;
}

/// Of one number of columns.
nlohmann::json to_json(const KernelEstimate& kernel, const std::optional<DeviceCeilings>& ceilings) {
  nlohmann::json result = to_json(kernel.bytes, ceilings);
  result["bcol"] = kernel.bcol;
  result["schedule"] = kernel.schedule;
  if (kernel.measured) {
    result["measured"] = measured_json(*kernel.measured);
  } else {
    result["not_measured"] = kernel.not_measured;
  }
  if (kernel.over_dense) {
    result["over_dense"] = *kernel.over_dense;
  }
  if (!kernel.notes.empty()) {
    result["notes"] = kernel.notes;
  }
  return result;
}

nlohmann::json to_json(const LayerEstimate& layer, const std::optional<DeviceCeilings>& ceilings) {
  nlohmann::json result{{"name", layer.name}, {"shape", layer.shape}};
  if (!layer.why_not.empty()) {
    result["no_estimate"] = layer.why_not;
    return result;
  }
  nlohmann::json kernels = nlohmann::json::array();
  std::ranges::transform(layer.kernels, std::back_inserter(kernels),
                         [&](const KernelEstimate& kernel) { return to_json(kernel, ceilings); });
  result.update(kernels.front());  // as before there were lists of columns
  result["sparsity"] = layer.sparsity;
  result["kernels"] = kernels;
  if (!layer.why_dense.empty()) {
    result["left_out"] = layer.why_dense;
  }
  return result;
}

nlohmann::json to_json(const Totals& all, const std::optional<DeviceCeilings>& ceilings) {
  nlohmann::json result = to_json(all.bytes, ceilings);
  result["bcol"] = all.bcol;
  result["expected_microseconds"] = {
      {"layers", all.times.layers}, {"library", all.times.library}, {"ours", all.times.ours}};
  return result;
}

}  // namespace

std::string estimate_page(const ModelEstimate& estimate) { return Table(estimate).text() + sources_text(estimate); }

std::string estimate_json(const ModelEstimate& estimate) {
  nlohmann::json layers = nlohmann::json::array();
  std::ranges::transform(estimate.layers, std::back_inserter(layers),
                         [&](const LayerEstimate& layer) { return to_json(layer, estimate.ceilings); });
  nlohmann::json totals = nlohmann::json::array();
  for (const Totals& all : totals_of(estimate)) {
    totals.push_back(to_json(all, estimate.ceilings));
  }
  nlohmann::json result{{"model", estimate.model},
                        {"gpu", estimate.gpu},
                        {"gpu_named", estimate.is_named},
                        {"bcol", estimate.bcols.front()},
                        {"bcols", estimate.bcols},
                        {"dtype", estimate.dtype},
                        {"layers", layers},
                        {"total", totals.front()},
                        {"totals", totals}};
  if (!estimate.note.empty()) {
    result["notes"] = {estimate.note};
  }
  if (estimate.ceilings) {
    result["bound_by"] = bandwidth_text(*estimate.ceilings);
  }
  return result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace esc
