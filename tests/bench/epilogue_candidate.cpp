// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/epilogue_candidate.h"

#include <vector>

#include "generator/emit/device_text.h"
#include "generator/emit/generate.h"
#include "generator/emit/layout_class.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/matrix/fingerprint.h"
#include "generator/matrix/matrix_reader.h"
#include "generator/matrix/statistics.h"
#include "generator/schedule/scheduler.h"
#include "generator/support/error.h"

namespace esc::bench {
namespace {

GeneratedLayer generate_with(const ScheduleChoice& choice, const SparseMatrix& matrix, const LoopNest& nest,
                             std::int64_t bcol, int architecture) {
  return generate_layer(
      matrix, nest,
      {.name = "layer", .source_file = "layer", .bcol = bcol, .architectures = {architecture}, .choice = choice});
}

/// The first schedule of auto's ranking that the matrix and the epilogue allow.
GeneratedLayer generate(const SparseMatrix& matrix, const LoopNest& nest, std::int64_t bcol, int architecture) {
  const std::int64_t longest = row_statistics(matrix).longest;
  const std::string layout = layout_class(nest);
  const LayerShape shape{.bcol = bcol,
                         .rows = matrix.rows,
                         .columns = matrix.columns,
                         .nonzeros = matrix.nonzeros(),
                         .longest_row = longest,
                         .pattern = fingerprint(matrix).pattern,
                         .layout = layout,
                         .contiguous = layout == "kn"};
  std::vector<ScheduleChoice> ranking =
      ranked_schedules(shape, databases_for(shape, shipped_database().head().key, {&shipped_databases()}));
  std::erase_if(ranking,
                [](const ScheduleChoice& choice) { return std::holds_alternative<AtomicSchedule>(choice.schedule); });
  for (const ScheduleChoice& choice : ranking) {
    try {
      return generate_with(choice, matrix, nest, bcol, architecture);
    } catch (const ScheduleError&) {
      continue;
    }
  }
  return generate_with(whole_rows_schedule(bcol, longest), matrix, nest, bcol, architecture);
}

Kernel build(const GeneratedLayer& generated, int architecture, tuning::BuildPool& pool) {
  Kernel kernel{
      .packed = generated.packed, .packed_bytes = generated.bytes().size(), .plan = launch_plan(generated.layer)};
  kernel.cubin = pool.build({device_text(generated.layer), kernels_of(kernel.plan), architecture});
  return kernel;
}

}  // namespace

LoopNest layer_nest(Activations activations) {
  const bool rows = activations == Activations::kn;
  LoopNest nest = rows ? spmm_nest() : linear_nk_nest();
  nest.arrays.push_back({"bias", {Affine::of("M")}, ArrayRole::operand});
  const Expression x{Name{"x"}};
  const Access bias{"bias", {{"", Affine::of("i")}}};
  nest.epilogue = Epilogue{.subscripts = rows ? std::vector<std::string>{"i", "j"} : std::vector<std::string>{"t", "i"},
                           .sum = "sum",
                           .steps = {{ScalarType::f32, "x", Expression(Name{"sum"}) + Expression(bias)}},
                           .value = choose(less(x, Expression(0.0)), Expression(0.0), x)};
  return nest;
}

Candidate prepare(const std::string& file, std::int64_t bcol, int architecture, tuning::BuildPool& pool) {
  Candidate candidate{.matrix = file, .bcol = bcol};
  try {
    const SparseMatrix matrix = read_matrix(file);
    if (matrix.nonzeros() == 0) {
      candidate.problem = "has no non-zeros";
      return candidate;
    }
    const GeneratedLayer generated = generate(matrix, layer_nest(Activations::kn), bcol, architecture);
    candidate.schedule = print(generated.layer.choice.schedule);
    candidate.layer = build(generated, architecture, pool);
    candidate.product =
        build(generate_with(generated.layer.choice, matrix, spmm_nest(), bcol, architecture), architecture, pool);
    const GeneratedLayer nk = generate(matrix, layer_nest(Activations::nk), bcol, architecture);
    candidate.nk_schedule = print(nk.layer.choice.schedule);
    candidate.nk_layer = build(nk, architecture, pool);
  } catch (const UserError& error) {
    candidate.problem = error.what();
    candidate.status = ExitStatus::bad_input;
  } catch (const tuning::BuildError& error) {
    candidate.problem = error.what();
    candidate.status = ExitStatus::check_failed;
  }
  return candidate;
}

}  // namespace esc::bench
