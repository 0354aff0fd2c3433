// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/estimate_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "generator/commands/expected_speed.h"
#include "generator/commands/layer_request.h"
#include "generator/commands/layer_rows.h"
#include "generator/commands/weighted_times.h"
#include "generator/emit/measured_json.h"
#include "generator/support/json_result.h"
#include "generator/support/page_text.h"

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

ExpectedSpeed speed_of(const KernelEstimate& kernel) {
  return expected_speed({.measured = kernel.measured,
                         .not_measured = kernel.not_measured,
                         .beside_dense = kernel.beside_dense,
                         .packed_bytes = kernel.bytes.packed,
                         .dense_bytes = kernel.bytes.dense});
}

/// Sums over the layers of a model that get kernels, for a number of columns.
struct Totals {
  std::int64_t bcol = 0;
  ProductBytes bytes = {};
  ExpectedTimes times = {};
  int kernels = 0;
  int faster = 0;  ///< measured to be so, with like layers at least
  int slower = 0;

  int unmeasured() const { return kernels - faster - slower; }
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
      const ExpectedSpeed speed = speed_of(kernel);
      all.faster += speed.is_measured() && speed.ratio > 1 ? 1 : 0;
      all.slower += speed.is_measured() && speed.ratio <= 1 ? 1 : 0;
    }
  }
  return all;
}

std::vector<Totals> totals_of(const ModelEstimate& estimate) {
  std::vector<Totals> totals;
  std::ranges::transform(estimate.token_counts, std::back_inserter(totals),
                         [&](const TokenCount& count) { return totals_of(estimate.layers, count.columns); });
  return totals;
}

/// Over all numbers of columns.
WeightedTimes weighted_times(const ModelEstimate& estimate) {
  WeightedTimes times;
  for (const LayerEstimate& layer : estimate.layers) {
    for (const KernelEstimate& kernel : layer.kernels) {
      if (layer.why_dense.empty()) {
        times.add(speed_of(kernel), kernel.weight);
      }
    }
  }
  return times;
}

bool is_made(const LayerEstimate& layer) { return layer.why_not.empty() && layer.why_dense.empty(); }

/// What the whole model is expected to win with so many columns.
std::string answer(const ModelEstimate& estimate, const Totals& all) {
  const auto made = std::ranges::count_if(estimate.layers, is_made);
  std::string text =
      labelled(fmt::format("N = {}", all.bcol),
               fmt::format("{} of {} tensors get kernels: {} faster than a library, {} slower, {} not measured", made,
                           estimate.layers.size(), all.faster, all.slower, all.unmeasured()));
  if (all.times.layers > 0) {
    text += labelled("", fmt::format("about {:.1f} us in place of {:.1f} for {} of them, one after the other",
                                     all.times.ours, all.times.library, all.times.layers));
  }
  return all.kernels == 0 ? text : text + labelled("", "weights " + bytes_text(all.bytes.packed, all.bytes.dense));
}

std::string answers(const ModelEstimate& estimate) {
  std::string text = labelled("model", fmt::format("{}, elements of {}, on {}{}", estimate.model, estimate.dtype,
                                                   estimate.gpu, estimate.is_named ? "" : " (no --gpu was named)"));
  for (const Totals& all : totals_of(estimate)) {
    text += answer(estimate, all);
  }
  return is_weighted(estimate.token_counts) ? text + weighted_line(estimate.token_counts, weighted_times(estimate))
                                            : text;
}

/// A row for each layer and number of columns.
std::string table(const ModelEstimate& estimate) {
  LayerRows rows;
  for (const LayerEstimate& layer : estimate.layers) {
    rows.expect(layer.name, layer.shape);
  }
  std::string text =
      rows.head("layer", "shape") + fmt::format("{:>7}  {:>6}  {:>8}  {}\n", "% zeros", "N", "of dense", "speed");
  for (const LayerEstimate& layer : estimate.layers) {
    if (!layer.why_not.empty()) {
      text += rows.row(layer.name, layer.shape, "", layer.why_not);
      continue;
    }
    for (const KernelEstimate& kernel : layer.kernels) {
      const bool is_first = &kernel == &layer.kernels.front();
      text += (is_first ? rows.head(layer.name, layer.shape) : rows.head("", "")) +
              fmt::format("{:>7}  {:>6}  {:>8.2f}  {}\n", is_first ? fmt::format("{:.2f}", 100 * layer.sparsity) : "",
                          kernel.bcol, kernel.bytes.packed / kernel.bytes.dense, speed_cell(speed_of(kernel)));
    }
    if (!layer.why_dense.empty()) {
      text += rows.row("", "", "", layer.why_dense);
    }
  }
  return text + labelled("speed", speed_legend());
}

/// Bytes, bounds and schedule of each kernel, for those who ask with --verbose.
std::string details(const ModelEstimate& estimate) {
  std::string text;
  for (const LayerEstimate& layer : estimate.layers) {
    for (const KernelEstimate& kernel : layer.kernels) {
      text +=
          labelled("kernel", fmt::format("{}, N = {}: dense {:.0f} bytes, CSR {:.0f}, packed about {:.0f}; bound by "
                                         "bytes {} us (dense/CSR/packed)",
                                         layer.name, kernel.bcol, kernel.bytes.dense, kernel.bytes.csr,
                                         kernel.bytes.packed, bounds_text(kernel.bytes, estimate.ceilings)));
      text += labelled("", kernel.schedule);
    }
  }
  return text;
}

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
  std::string text = estimate.note.empty() ? "" : labelled("note", estimate.note);
  for (const std::string& note : std::span(notes).first(std::min(most, notes.size()))) {
    text += labelled("note", note);
  }
  return text +
         (notes.size() > most ? labelled("note", fmt::format("{} more: --json has all", notes.size() - most)) : "");
}

/// Where the numbers are from.
std::string sources_text(const ModelEstimate& estimate) {
  std::string text = labelled(
      "packed", fmt::format("about: planned with {} rows from the middle of a layer, or all where it has fewer, by the "
                            "schedule that auto takes",
                            planned_rows));
  text +=
      labelled("bound", estimate.ceilings ? fmt::format("not measured: bytes of A, B and C over {}; without launch and "
                                                        "arithmetic; what stays in the L2 cache can be faster",
                                                        bandwidth_text(*estimate.ceilings))
                                          : fmt::format("none: the bandwidth of {} is not known here", estimate.gpu));
  std::vector<std::string> places;
  for (const LayerEstimate& layer : estimate.layers) {
    for (const KernelEstimate& kernel : layer.kernels) {
      if (kernel.measured && std::ranges::find(places, kernel.measured->where) == places.end()) {
        places.push_back(kernel.measured->where);
        text += labelled("measured",
                         "time of the faster of cuBLAS and cuSPARSE over that of this schedule, operands in "
                         "the L2 cache: " +
                             kernel.measured->where);
      }
    }
  }
  return text;
}

nlohmann::json to_json(const ProductBytes& bytes, const std::optional<DeviceCeilings>& ceilings) {
  nlohmann::json result{{"dense_bytes", std::llround(bytes.dense)},
                        {"csr_bytes", std::llround(bytes.csr)},
                        {"packed_bytes_about", std::llround(bytes.packed)},
                        {"b_and_c_bytes", std::llround(bytes.b_and_c)},
                        {"bytes",  // as before keys had their units
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
nlohmann::json to_json(const KernelEstimate& kernel, const ModelEstimate& estimate) {
  nlohmann::json result = to_json(kernel.bytes, estimate.ceilings);
  result["bcol"] = kernel.bcol;
  if (is_weighted(estimate.token_counts)) {
    result["weight"] = kernel.weight;
  }
  result["schedule"] = kernel.schedule;
  if (kernel.measured) {
    result["measured"] = measured_json(*kernel.measured);
  } else {
    result["not_measured"] = kernel.not_measured;
  }
  result["speed"] = speed_json(speed_of(kernel));
  if (!kernel.notes.empty()) {
    result["notes"] = kernel.notes;
  }
  return result;
}

nlohmann::json to_json(const LayerEstimate& layer, const ModelEstimate& estimate) {
  nlohmann::json result{{"name", layer.name}, {"shape", layer.shape}};
  if (!layer.why_not.empty()) {
    result["no_estimate"] = layer.why_not;
    return result;
  }
  nlohmann::json kernels = nlohmann::json::array();
  std::ranges::transform(layer.kernels, std::back_inserter(kernels),
                         [&](const KernelEstimate& kernel) { return to_json(kernel, estimate); });
  result.update(kernels.front());  // as before there were lists of columns
  result["sparsity"] = layer.sparsity;
  result["kernels"] = kernels;
  if (!layer.why_dense.empty()) {
    result["left_out"] = layer.why_dense;
  }
  return result;
}

nlohmann::json to_json(const Totals& all, const ModelEstimate& estimate) {
  nlohmann::json result = to_json(all.bytes, estimate.ceilings);
  result["bcol"] = all.bcol;
  if (is_weighted(estimate.token_counts)) {
    result["weight"] = *weight_of(all.bcol, estimate.token_counts);
  }
  result["expected"] = {
      {"layers", all.times.layers}, {"library_microseconds", all.times.library}, {"microseconds", all.times.ours}};
  result["expected_microseconds"] = {// as before keys had their units
                                     {"layers", all.times.layers},
                                     {"library", all.times.library},
                                     {"ours", all.times.ours}};
  return result;
}

}  // namespace

std::string estimate_page(const ModelEstimate& estimate, bool with_details) {
  return answers(estimate) + table(estimate) + notes_text(estimate) +
         (with_details ? details(estimate) + sources_text(estimate) : "");
}

std::string estimate_json(const ModelEstimate& estimate) {
  nlohmann::json layers = nlohmann::json::array();
  std::ranges::transform(estimate.layers, std::back_inserter(layers),
                         [&](const LayerEstimate& layer) { return to_json(layer, estimate); });
  nlohmann::json totals = nlohmann::json::array();
  for (const Totals& all : totals_of(estimate)) {
    totals.push_back(to_json(all, estimate));
  }
  nlohmann::json result{{"model", estimate.model},
                        {"gpu", estimate.gpu},
                        {"gpu_named", estimate.is_named},
                        {"bcol", estimate.token_counts.front().columns},
                        {"bcols", columns_in(estimate.token_counts)},
                        {"dtype", estimate.dtype},
                        {"layers", layers},
                        {"total", totals.front()},
                        {"totals", totals}};
  if (is_weighted(estimate.token_counts)) {
    result["weight"] = estimate.token_counts.front().weight;
    result["weighted_total"] = weighted_json(weighted_times(estimate));
  }
  if (!estimate.note.empty()) {
    result["notes"] = {estimate.note};
  }
  if (estimate.ceilings) {
    result["bound_by"] = bandwidth_text(*estimate.ceilings);
  }
  return json_result("estimate", "done", result);
}

}  // namespace esc
