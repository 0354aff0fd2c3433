// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/estimate_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

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

/// Sums over the layers of a model.
struct Totals {
  ProductBytes bytes;
  ExpectedTimes times;
  int estimated = 0;
  int faster = 0;  ///< measured to be so
  int slower = 0;
};

Totals totals_of(const std::vector<LayerEstimate>& layers) {
  Totals all;
  for (const LayerEstimate& layer : layers) {
    all.bytes = {all.bytes.dense + layer.bytes.dense, all.bytes.csr + layer.bytes.csr,
                 all.bytes.packed + layer.bytes.packed, all.bytes.b_and_c + layer.bytes.b_and_c};
    all.times.add(expected_times(layer.measured));
    all.estimated += layer.why_not.empty() ? 1 : 0;
    all.faster += layer.measured && *layer.measured->over_exact > 1 ? 1 : 0;
    all.slower += layer.measured && *layer.measured->over_exact <= 1 ? 1 : 0;
  }
  return all;
}

/// What the layer can win, and whether that was measured or is so by its bytes alone.
std::string verdict(const LayerEstimate& layer) {
  if (layer.measured) {
    const double ratio = *layer.measured->over_exact;
    return fmt::format("{}: {:.2f} x, measured", ratio > 1 ? "yes" : "no", ratio);
  }
  const double ratio = layer.bytes.packed / layer.bytes.dense;
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
    text_ = fmt::format("{:<{}}  {:<{}}  {:>7}  {:>12}  {:>12}  {:>12}  {:>25}  {:>21}  {}\n", "tensor", name_width_,
                        "shape", shape_width_, "% zeros", "dense bytes", "CSR bytes", "packed about",
                        "bound us dense/CSR/packed", "about us library/ours", "faster than a library");
    for (const LayerEstimate& layer : estimate_.layers) {
      if (layer.why_not.empty()) {
        add(layer.name, layer.shape, fmt::format("{:.2f}", 100 * layer.sparsity), layer.bytes,
            expected_times(layer.measured), verdict(layer));
      } else {
        text_ += fmt::format("{:<{}}  {:<{}}  {}\n", layer.name, name_width_, layer.shape, shape_width_, layer.why_not);
      }
    }
    const Totals all = totals_of(estimate_.layers);
    add("total", fmt::format("{} of {}", all.estimated, estimate_.layers.size()), "", all.bytes, all.times,
        fmt::format("{} yes, {} no, {} not measured", all.faster, all.slower, all.estimated - all.faster - all.slower));
    return std::move(text_);
  }

 private:
  void add(const std::string& name, const std::string& shape, const std::string& zeros, const ProductBytes& bytes,
           const ExpectedTimes& times, const std::string& wins) {
    text_ += fmt::format("{:<{}}  {:<{}}  {:>7}  {:>12.0f}  {:>12.0f}  {:>12.0f}  {:>25}  {:>21}  {}\n", name,
                         name_width_, shape, shape_width_, zeros, bytes.dense, bytes.csr, bytes.packed,
                         bounds_text(bytes, estimate_.ceilings), text_of(times), wins);
  }

  const ModelEstimate& estimate_;
  std::size_t name_width_ = 6;
  std::size_t shape_width_ = 5;
  std::string text_;
};

/// Where the numbers of the table are from.
std::string sources_text(const ModelEstimate& estimate) {
  std::string text =
      fmt::format("made for   bCol {}, elements of {}, {}\n", estimate.bcol, estimate.dtype, estimate.gpu);
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
    if (layer.measured && std::ranges::find(places, layer.measured->where) == places.end()) {
      places.push_back(layer.measured->where);
      text += fmt::format("measured   time of the faster one of cuBLAS and cuSPARSE over that of this schedule: {}\n",
                          layer.measured->where);
    }
  }
  if (const ExpectedTimes times = totals_of(estimate.layers).times; times.layers > 0) {
    text += fmt::format(
        "about      the library's time on such layers, and that over this ratio, with the operands in the L2 cache; "
        "the total is of {} {}\n",
        times.layers, times.layers == 1 ? "layer" : "layers");
  }
  return text;
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

nlohmann::json to_json(const LayerEstimate& layer, const std::optional<DeviceCeilings>& ceilings) {
  nlohmann::json result{{"name", layer.name}, {"shape", layer.shape}};
  if (!layer.why_not.empty()) {
    result["no_estimate"] = layer.why_not;
    return result;
  }
  result["sparsity"] = layer.sparsity;
  result["schedule"] = layer.schedule;
  result.update(to_json(layer.bytes, ceilings));
  if (layer.measured) {
    result["measured"] = measured_json(*layer.measured);
  }
  return result;
}

nlohmann::json to_json(const Totals& all, const std::optional<DeviceCeilings>& ceilings) {
  nlohmann::json result = to_json(all.bytes, ceilings);
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
  nlohmann::json result{{"model", estimate.model}, {"gpu", estimate.gpu},
                        {"bcol", estimate.bcol},   {"dtype", estimate.dtype},
                        {"layers", layers},        {"total", to_json(totals_of(estimate.layers), estimate.ceilings)}};
  if (estimate.ceilings) {
    result["bound_by"] = bandwidth_text(*estimate.ceilings);
  }
  return result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace esc
