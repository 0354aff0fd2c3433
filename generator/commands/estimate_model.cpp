// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/estimate_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/commands/default_element.h"
#include "generator/commands/estimate_page.h"
#include "generator/commands/layer_memory.h"
#include "generator/commands/layer_worth.h"
#include "generator/commands/model_nests.h"
#include "generator/commands/worker_threads.h"
#include "generator/ir/product_digits.h"
#include "generator/matrix/block_diagonal.h"
#include "generator/matrix/statistics.h"
#include "generator/model/survey.h"
#include "generator/schedule/device_ceilings.h"
#include "generator/support/plain_text.h"

namespace esc {
namespace {

KernelEstimate estimate_kernel(const LayerRequest& layer, const GenerateMode& mode, const LoopNest& nest,
                               const SparseMatrix& matrix, const std::shared_ptr<PackingCache>& rows) {
  const PlannedLayer planned = plan_layer(layer, mode, nest, matrix, rows);
  const double size = bytes_of(matrix.element);
  const auto extents = static_cast<double>(matrix.rows + matrix.columns);
  const double elements = static_cast<double>(matrix.rows) * static_cast<double>(matrix.columns);
  return {.bcol = layer.bcol,
          .bytes = {.dense = elements * size,
                    .csr = static_cast<double>(csr_bytes(matrix)),
                    .packed = planned.bytes,
                    .b_and_c = extents * static_cast<double>(layer.bcol) * size},
          .schedule = text_of(planned.choice),
          .measured = planned.choice.measured,
          .not_measured = planned.choice.not_measured,
          .notes = planned.choice.notes,
          .beside_dense = planned.choice.beside_dense};
}

/// One for each number of columns of the request.
std::vector<KernelEstimate> estimate_kernels(const Weight& weight, const ModelRequest& request,
                                             const GenerateMode& mode, const LoopNest& nest, const Console& console) {
  LayerRequest layer = request.layer;
  layer.matrix += ":" + weight.name;
  const SparseMatrix matrix =
      block_diagonal(read_stored_matrix(layer, nest, console, StageProgress::silent()).matrix, digits_of(nest));
  const auto rows = std::make_shared<PackingCache>();
  std::vector<KernelEstimate> kernels;
  layer = with_one_form(layer, request.token_counts, mode,
                        {matrix.rows, matrix.columns, matrix.nonzeros(), is_sparse24(matrix)}, nest);
  for (const TokenCount& count : request.token_counts) {
    layer.bcol = count.columns;
    kernels.push_back(estimate_kernel(layer, mode, nest, matrix, rows));
    kernels.back().weight = count.weight;
  }
  return kernels;
}

/// Why `generate` leaves the layer dense.
std::string why_left_dense(const LayerEstimate& row, const Weight& weight, const ModelRequest& request,
                           const LoopNest& nest) {
  std::vector<PlannedKernel> plans;
  std::ranges::transform(row.kernels, std::back_inserter(plans), [](const KernelEstimate& kernel) {
    return PlannedKernel{kernel.bcol, kernel.bytes.packed, kernel.measured, kernel.beside_dense, kernel.weight};
  });
  return why_dense(weight.name, dense_bytes(weight, nest), plans, request);
}

LayerEstimate estimate_layer(const Weight& weight, const ModelRequest& request, const GenerateMode& mode,
                             ModelNests& nests, LayerMemory::Layer& memory, const Console& console) {
  LayerEstimate row{
      .name = plain_text(weight.name), .shape = shape_text(weight.shape), .why_not = why_no_layer(weight, request)};
  if (!row.why_not.empty()) {
    return row;
  }
  try {
    const WeightSurvey survey = survey_weight(weight);
    row.sparsity = sparsity_of(weight, survey);
    row.why_not = why_not_sparse(survey, row.sparsity, request);
    if (row.why_not.empty()) {
      memory.reserve(survey.nonzeros);
      const LoopNest& nest = nests.of(weight);
      row.kernels = estimate_kernels(weight, request, mode, nest, console);
      row.why_dense = why_left_dense(row, weight, request, nest);
    }
  } catch (const UserError& problem) {
    row.why_not = "failed: " + problem.rule();
    row.status = problem.status();
  }
  return row;
}

/// The GPU whose times are said: the one that is measured, where the request names none.
TargetDevice device_of(const ModelRequest& request) {
  return request.layer.devices.empty() ? device_of_gpu("h200") : request.layer.devices.front();
}

}  // namespace

ExitStatus estimate_model(const Model& model, const ModelRequest& request, const UserMeasurements& own, bool as_json,
                          const Console& console) {
  GenerateMode mode;
  mode.own = own;
  ModelRequest complete = request;
  const DefaultElement element = element_of(model, request);
  complete.layer.element = element.element;
  std::vector<const Weight*> weights;
  for (const Weight& weight : model.weights) {
    if (is_asked_for(weight.name, complete)) {
      weights.push_back(&weight);
    }
  }
  StageProgress progress(console.terminal());
  progress.begin("estimating the layers", weights.size());
  ModelNests nests(complete.layer);
  LayerMemory memory(weights.size());
  ModelEstimate estimate{.model = model.name,
                         .gpu = device_of(request).name,
                         .is_named = !request.layer.devices.empty(),
                         .token_counts = complete.token_counts,
                         .dtype = name_of(complete.layer.element.value_or(ScalarType::f32)),
                         .note = element.note,
                         .ceilings = device_ceilings(device_of(request).key, own.catalog->devices()),
                         .layers = std::vector<LayerEstimate>(weights.size())};
  in_worker_threads(weights.size(), 0, [&](std::size_t number) {
    LayerMemory::Layer place(memory, number);
    estimate.layers[number] = estimate_layer(*weights[number], complete, mode, nests, place, console);
    progress.advance(1);
  });
  progress.finish();
  if (as_json) {
    fmt::print("{}", estimate_json(estimate));
  } else {
    print_plain("{}", estimate_page(estimate, console.verbosity() == Verbosity::verbose));
  }
  const auto worst = std::ranges::max_element(estimate.layers, {}, &LayerEstimate::status);
  return worst == estimate.layers.end() ? ExitStatus::done : worst->status;
}

}  // namespace esc
