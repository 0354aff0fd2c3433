// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/layer_task.h"

#include <utility>

#include "generator/commands/input.h"
#include "generator/emit/layout_class.h"
#include "generator/matrix/scatter.h"
#include "generator/matrix/statistics.h"
#include "generator/schedule/element_types.h"

namespace esc {
namespace {

LayerShape shape_of(const SparseMatrix& matrix, const LoopNest& nest, const ProductColumns& columns) {
  const LengthStatistics lengths = row_statistics(matrix);
  return {.bcol = columns.count,
          .rows = matrix.rows,
          .columns = matrix.columns,
          .nonzeros = matrix.nonzeros(),
          .longest_row = lengths.longest,
          .row_variation = lengths.coefficient_of_variation,
          .pattern = fingerprint(matrix).pattern,
          .layout = layout_class(nest),
          .contiguous = columns.are_contiguous,
          .dtype = name_of(matrix.element),
          .sparse24 = is_half(matrix.element) && is_sparse24(matrix),
          .scattered = is_scattered(matrix),
          .cache = usual_cache(name_of(matrix.element))};
}

}  // namespace

LayerTask::LayerTask(const LayerRequest& wanted, const GenerateMode& mode, const LoopNest& product,
                     const SparseMatrix& a, std::shared_ptr<PackingCache> packings)
    : request(wanted),
      catalog(*mode.own.catalog),
      nest(product),
      matrix(a),
      fragments(std::move(packings)),
      columns(product_columns(product, wanted.bcol)),
      shape(shape_of(a, product, columns)) {}

GenerateOptions options_of(const LayerTask& task, const ScheduleChoice& choice) {
  return {.name = task.request.name,
          .source_file = printable_file_name(task.request.matrix),
          .bcol = task.request.bcol,
          .architectures = architectures_for(task.request),
          .choice = choice,
          .fragments = task.fragments};
}

GeneratedLayer generate_with(const LayerTask& task, const ScheduleChoice& choice) {
  return generate_layer(task.matrix, task.nest, options_of(task, choice));
}

double packed_bytes(const LayerTask& task, const ScheduleChoice& choice) {
  return static_cast<double>(planned_bytes(task.matrix, task.nest, options_of(task, choice)));
}

}  // namespace esc
