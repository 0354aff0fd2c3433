// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/estimate_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/commands/estimate_page.h"
#include "generator/commands/layer_memory.h"
#include "generator/commands/loop_nest_input.h"
#include "generator/commands/model_request.h"
#include "generator/commands/worker_threads.h"
#include "generator/matrix/statistics.h"
#include "generator/model/survey.h"
#include "generator/schedule/device_ceilings.h"
#include "generator/support/plain_text.h"

namespace esc {
namespace {

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

void plan(LayerEstimate& row, const Weight& weight, const LayerRequest& request, const LoopNest& nest,
          const Console& console) {
  LayerRequest layer = request;
  layer.matrix += ":" + weight.name;
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

LayerEstimate estimate_layer(const Weight& weight, const LayerRequest& request, const LoopNest& nest,
                             LayerMemory::Layer& memory, const Console& console) {
  LayerEstimate row{
      .name = plain_text(weight.name), .shape = shape_text(weight.shape), .why_not = why_no_matrix(weight)};
  if (!row.why_not.empty()) {
    return row;
  }
  try {
    const WeightSurvey survey = survey_weight(weight);
    row.sparsity = 1 - static_cast<double>(survey.nonzeros) / static_cast<double>(weight.rows()) /
                           static_cast<double>(weight.columns());
    row.why_not = why_left_out(weight, survey, row.sparsity);
    if (row.why_not.empty()) {
      memory.reserve(survey.nonzeros);
      plan(row, weight, request, nest, console);
    }
  } catch (const UserError& problem) {
    row.why_not = "failed: " + problem.rule();
    row.status = problem.status();
  }
  return row;
}

}  // namespace

ExitStatus estimate_model(const Model& model, const LayerRequest& request, bool as_json, const Console& console) {
  StageProgress progress(console.terminal());
  progress.begin("estimating the layers", model.weights.size());
  const LoopNest nest = read_loop_nest(request.nest, request.element);
  LayerMemory memory;
  ModelEstimate estimate{.model = model.name,
                         .gpu = request.devices.front().name,
                         .bcol = request.bcol,
                         .dtype = name_of(request.element.value_or(ScalarType::f32)),
                         .ceilings = device_ceilings(request.devices.front().key),
                         .layers = std::vector<LayerEstimate>(model.weights.size())};
  in_worker_threads(model.weights.size(), 0, [&](std::size_t number) {
    LayerMemory::Layer place(memory, number);
    estimate.layers[number] = estimate_layer(model.weights[number], request, nest, place, console);
    progress.advance(1);
  });
  progress.finish();
  fmt::print("{}", as_json ? estimate_json(estimate) : estimate_page(estimate));
  return std::ranges::max(estimate.layers, {}, &LayerEstimate::status).status;
}

}  // namespace esc
