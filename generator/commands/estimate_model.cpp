// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/estimate_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "generator/commands/loop_nest_input.h"
#include "generator/commands/model_request.h"
#include "generator/matrix/statistics.h"
#include "generator/model/survey.h"
#include "generator/schedule/device_ceilings.h"
#include "generator/support/plain_text.h"

namespace esc {
namespace {

/// What a product with a layer reads and writes.
struct Bytes {
  double dense = 0;  ///< of the matrix, as each of these three
  double csr = 0;
  double packed = 0;  ///< about
  double b_and_c = 0;
};

struct LayerRow {
  std::string name;
  std::string shape;
  std::string why_not = {};  ///< where nothing is estimated
  ExitStatus status = ExitStatus::done;
  double sparsity = 0;
  Bytes bytes = {};
  std::string schedule = {};
  std::optional<MeasuredRatios> measured = {};
};

/// Why nothing is estimated of a layer with these values; empty where something is.
std::string why_left_out(const Weight& weight, const WeightSurvey& survey, double sparsity) {
  if (weight.shape.size() != 2) {
    return "is a filter, whose product is as large as its images";
  }
  if (survey.nonzeros == 0) {
    return "has no non-zeros: C is zero";
  }
  return sparsity < model_min_sparsity
             ? fmt::format("has {:.1f} % zeros, less than {:.1f} %", 100 * sparsity, 100 * model_min_sparsity)
             : "";
}

void plan(LayerRow& row, const Weight& weight, const LayerRequest& request, const Console& console) {
  LayerRequest layer = request;
  layer.matrix += ":" + weight.name;
  const LoopNest nest = read_loop_nest(layer.nest, layer.element);
  const SparseMatrix matrix = read_stored_matrix(layer, nest, console, StageProgress::silent()).matrix;
  const PlannedLayer planned = plan_layer(layer, nest, matrix);
  const double size = bytes_of(matrix.element);
  const auto rows = static_cast<double>(matrix.rows);
  const auto columns = static_cast<double>(matrix.columns);
  row.bytes = {.dense = rows * columns * size,
               .csr = static_cast<double>(csr_bytes(matrix)),
               .packed = planned.bytes,
               .b_and_c = (rows + columns) * static_cast<double>(layer.bcol) * size};
  row.schedule = text_of(planned.choice);
  row.measured = planned.choice.measured;
}

LayerRow estimate_layer(const Weight& weight, const LayerRequest& request, const Console& console) {
  LayerRow row{.name = plain_text(weight.name), .shape = shape_text(weight.shape), .why_not = why_no_matrix(weight)};
  if (!row.why_not.empty()) {
    return row;
  }
  try {
    const WeightSurvey survey = survey_weight(weight);
    row.sparsity = 1 - static_cast<double>(survey.nonzeros) / static_cast<double>(weight.rows()) /
                           static_cast<double>(weight.columns());
    row.why_not = why_left_out(weight, survey, row.sparsity);
    if (row.why_not.empty()) {
      plan(row, weight, request, console);
    }
  } catch (const UserError& problem) {
    row.why_not = "failed: " + problem.rule();
    row.status = problem.status();
  }
  return row;
}

/// The least microseconds in which memory of this bandwidth, in GB/s, moves the matrix with B and C.
double bound(const Bytes& bytes, double matrix, double bandwidth) { return (matrix + bytes.b_and_c) / bandwidth / 1e3; }

std::string bandwidth_text(const DeviceCeilings& ceilings) {
  return fmt::format("the {:g} GB/s that the maker of {} says of its memory", ceilings.memory_gigabytes, ceilings.name);
}

/// "1.201/0.314/0.332", or "-" where the bandwidth is not known.
std::string bounds_text(const Bytes& bytes, const std::optional<DeviceCeilings>& ceilings) {
  if (!ceilings) {
    return "-";
  }
  const double bandwidth = ceilings->memory_gigabytes;
  return fmt::format("{:.3f}/{:.3f}/{:.3f}", bound(bytes, bytes.dense, bandwidth), bound(bytes, bytes.csr, bandwidth),
                     bound(bytes, bytes.packed, bandwidth));
}

/// What the layer can win, and whether that was measured or is so by its bytes alone.
std::string verdict(const LayerRow& row) {
  if (row.measured) {
    const double ratio = *row.measured->over_exact;
    return fmt::format("{}: {:.2f} x, measured", ratio > 1 ? "yes" : "no", ratio);
  }
  const double ratio = row.bytes.packed / row.bytes.dense;
  return fmt::format("{}: {:.2f} of dense bytes, not measured", ratio < 1 ? "may be" : "unlikely", ratio);
}

Bytes total_of(const std::vector<LayerRow>& rows) {
  Bytes all;
  for (const LayerRow& row : rows) {
    all = {all.dense + row.bytes.dense, all.csr + row.bytes.csr, all.packed + row.bytes.packed,
           all.b_and_c + row.bytes.b_and_c};
  }
  return all;
}

void print_table(const std::vector<LayerRow>& rows, const std::optional<DeviceCeilings>& ceilings) {
  std::size_t name_width = 6;
  std::size_t shape_width = 5;
  for (const LayerRow& row : rows) {
    name_width = std::max(name_width, row.name.size());
    shape_width = std::max(shape_width, row.shape.size());
  }
  const auto print_row = [&](const std::string& name, const std::string& shape, const std::string& zeros,
                             const Bytes& bytes, const std::string& wins) {
    fmt::print("{:<{}}  {:<{}}  {:>7}  {:>12.0f}  {:>12.0f}  {:>12.0f}  {:>25}  {}\n", name, name_width, shape,
               shape_width, zeros, bytes.dense, bytes.csr, bytes.packed, bounds_text(bytes, ceilings), wins);
  };
  fmt::print("{:<{}}  {:<{}}  {:>7}  {:>12}  {:>12}  {:>12}  {:>25}  {}\n", "tensor", name_width, "shape", shape_width,
             "% zeros", "dense bytes", "CSR bytes", "packed about", "bound us dense/CSR/packed",
             "faster than a library");
  for (const LayerRow& row : rows) {
    if (row.why_not.empty()) {
      print_row(row.name, row.shape, fmt::format("{:.2f}", 100 * row.sparsity), row.bytes, verdict(row));
    } else {
      fmt::print("{:<{}}  {:<{}}  {}\n", row.name, name_width, row.shape, shape_width, row.why_not);
    }
  }
  const auto count = std::ranges::count_if(rows, [](const LayerRow& row) { return row.why_not.empty(); });
  const auto faster =
      std::ranges::count_if(rows, [](const LayerRow& row) { return row.measured && *row.measured->over_exact > 1; });
  const auto slower =
      std::ranges::count_if(rows, [](const LayerRow& row) { return row.measured && *row.measured->over_exact <= 1; });
  print_row("total", fmt::format("{} of {}", count, rows.size()), "", total_of(rows),
            fmt::format("{} yes, {} no, {} not measured", faster, slower, count - faster - slower));
}

/// Where the numbers of the table are from.
void print_sources(const std::vector<LayerRow>& rows, const LayerRequest& request,
                   const std::optional<DeviceCeilings>& ceilings) {
  fmt::print("made for   bCol {}, elements of {}, {}\n", request.bcol,
             name_of(request.element.value_or(ScalarType::f32)), request.devices.front().name);
  fmt::print(
      "packed     about: planned of {} rows from the middle of a layer, or all where it has fewer, by the schedule "
      "that auto takes\n",
      planned_rows);
  if (ceilings) {
    fmt::print(
        "bound      not measured: bytes of A, B and C over {}; without launch and arithmetic; what stays in the L2 "
        "cache can be faster\n",
        bandwidth_text(*ceilings));
  } else {
    fmt::print("bound      none: the bandwidth of {} is not known here\n", request.devices.front().name);
  }
  std::vector<std::string> places;
  for (const LayerRow& row : rows) {
    if (row.measured && std::ranges::find(places, row.measured->where) == places.end()) {
      places.push_back(row.measured->where);
      fmt::print("measured   time of the faster one of cuBLAS and cuSPARSE over that of this schedule: {}\n",
                 row.measured->where);
    }
  }
}

nlohmann::json to_json(const MeasuredRatios& measured) {
  nlohmann::json result{{"over_exact", *measured.over_exact}, {"where", measured.where}};
  if (measured.over_tf32) {
    result["over_tf32"] = *measured.over_tf32;
  }
  return result;
}

nlohmann::json to_json(const Bytes& bytes, const std::optional<DeviceCeilings>& ceilings) {
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

nlohmann::json to_json(const LayerRow& row, const std::optional<DeviceCeilings>& ceilings) {
  nlohmann::json result{{"name", row.name}, {"shape", row.shape}};
  if (!row.why_not.empty()) {
    result["no_estimate"] = row.why_not;
    return result;
  }
  result["sparsity"] = row.sparsity;
  result["schedule"] = row.schedule;
  result.update(to_json(row.bytes, ceilings));
  if (row.measured) {
    result["measured"] = to_json(*row.measured);
  }
  return result;
}

void print_json(const std::string& model, const std::vector<LayerRow>& rows, const LayerRequest& request,
                const std::optional<DeviceCeilings>& ceilings) {
  nlohmann::json layers = nlohmann::json::array();
  std::ranges::transform(rows, std::back_inserter(layers), [&](const LayerRow& row) { return to_json(row, ceilings); });
  nlohmann::json result{{"model", model},       {"gpu", request.devices.front().name},
                        {"bcol", request.bcol}, {"dtype", name_of(request.element.value_or(ScalarType::f32))},
                        {"layers", layers},     {"total", to_json(total_of(rows), ceilings)}};
  if (ceilings) {
    result["bound_by"] = bandwidth_text(*ceilings);
  }
  fmt::print("{}\n", result.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

ExitStatus estimate_model(const Model& model, const LayerRequest& request, bool as_json, const Console& console) {
  const std::optional<DeviceCeilings> ceilings = device_ceilings(request.devices.front().key);
  std::vector<LayerRow> rows;
  StageProgress progress(console.terminal());
  progress.begin("estimating the layers", model.weights.size());
  for (const Weight& weight : model.weights) {
    rows.push_back(estimate_layer(weight, request, console));
    progress.advance(1);
  }
  progress.finish();
  if (as_json) {
    print_json(model.name, rows, request, ceilings);
  } else {
    print_table(rows, ceilings);
    print_sources(rows, request, ceilings);
  }
  return std::ranges::max(rows, {}, &LayerRow::status).status;
}

}  // namespace esc
