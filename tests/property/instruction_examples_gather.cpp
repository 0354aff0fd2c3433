// SPDX-License-Identifier: Apache-2.0
// Rows of B that are gathered from shared memory: whole kernels, as lists and the ring of K tiles have no parts that
// are alone.

#include <utility>

#include "generator/ir/loop_nest.h"
#include "generator/pipeline.h"
#include "generator/schedule/gather_schedule.h"
#include "tests/property/instruction_example.h"

namespace esc::tests {
namespace {

/// Of two tiles of columns.
InstructionExample example(std::string name, const GatherSchedule& schedule, SparseMatrix matrix, bool vectors) {
  constexpr std::int64_t least_columns = GatherSchedule::columns + 4;
  LoopNest nest = lower(spmm_nest(matrix.element), expand(schedule));
  return {std::move(name), std::move(nest), std::move(matrix), vectors, least_columns};
}

}  // namespace

std::vector<InstructionExample> gather_examples() {
  // Six K tiles: the ring goes round, and one and a half of its K tiles are after the last row of B.
  return {example("gather_vectors", {.sets = 2, .warps = 2, .pdl = false},
                  small_matrix(37, 1400, 0.3, ScalarType::f32, 5), true),
          example("gather_elements", {.sets = 1, .warps = 3, .pdl = false},
                  small_matrix(21, 700, 0.2, ScalarType::f32, 6), false),
          example("gather_one_k_tile", {.sets = 3, .warps = 1, .pdl = false},
                  small_matrix(21, 40, 0.2, ScalarType::f32, 7), true)};
}

}  // namespace esc::tests
