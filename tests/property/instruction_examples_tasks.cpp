// SPDX-License-Identifier: Apache-2.0
// Packed tasks: their description and their non-zeros.

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "tests/property/instruction_example.h"

namespace esc::tests {
namespace {

constexpr std::int64_t row_lanes = 4;  // that have columns of one row of C
constexpr std::int64_t warp_groups = warp_lanes / row_lanes;

struct TaskCase {
  std::string name;
  SparseMatrix matrix;
  std::int64_t longest = 8;
  std::int64_t light = 2;
  std::int64_t vector_width = 1;
  std::int64_t pairs_at_once = 1;
  std::int64_t stride = 1;  ///< lane groups that share a task
  bool vectors = false;
};

/// Each lane group takes tasks, or every `stride`-th pair of them, and has a row of C for its sums.
InstructionExample example(const std::string& what, const TaskCase& one, Block of_task) {
  const Affine step = warp_groups / one.stride;
  LoopNest nest;
  nest.packed = {.kind = PackedForm::Kind::tasks, .longest = one.longest, .light = one.light};
  nest.vectors = true;
  const ScalarType type = one.matrix.element;
  const auto packed = [](const char* array, const char* extent) {
    return ArrayDeclaration{array, {Affine::of(extent)}, ArrayRole::packed_index, ScalarType::u32};
  };
  nest.arrays = {packed("Rows", "tasks"),
                 packed("Splits", "tasks"),
                 packed("First", "tasks"),
                 packed("Lengths", "tasks"),
                 packed("Columns", "nonzeros"),
                 {"Values", {Affine::of("nonzeros")}, ArrayRole::packed_value, type},
                 {"B", {Affine::of("K"), Affine::of("N")}, ArrayRole::dense, type},
                 {"C", {Affine::of("tasks", one.stride), Affine::of("N")}, ArrayRole::output, type},
                 registers("columns", Affine::of("vector_width"), ScalarType::u32),
                 registers("sums", Affine::of("lane_sums"), type),
                 registers("current", Affine::of("pairs_at_once", 2), type, "Pairs")};
  nest.constants = {{"threads_per_block", warp_lanes, ""},
                    {"vector_width", one.vector_width, ""},
                    {"lane_sums", one.vector_width, ""},
                    {"pairs_at_once", one.pairs_at_once, ""}};
  of_task.insert(
      of_task.begin(),
      perform("load_task", {element("First"), element("Rows"), element("Lengths"), element("Splits"), index("task")},
              {"first", "row", "length", "split"}));
  const Block body{
      define("first_task", quotient(Affine::of("group"), one.stride)),
      define("start", remainder(Affine::of("group"), one.stride)),
      sequential_loop("task", Affine::of("first_task"), Affine::of("tasks"), step, Role::none, std::move(of_task))};
  Loop lanes = mapped_loop(Mapping::lane_digit, "lane", row_lanes, Role::none, body);
  Loop groups = mapped_loop(Mapping::lane_digit, "group", warp_groups, Role::none, {Node{std::move(lanes)}});
  nest.body = {Node{mapped_loop(Mapping::grid, "block", 1, Role::none, {Node{std::move(groups)}})}};
  return {fmt::format("{}_{}", what, one.name), std::move(nest), one.matrix, one.vectors};
}

InstructionExample loads_task(const TaskCase& one) {
  const Expression is_only_writer = less(Affine::of("lane") + Affine::of("start"), 1);
  Block stores;
  for (const char* const result : {"first", "row", "length", "split"}) {
    const auto column = static_cast<std::int64_t>(stores.size());
    stores.push_back(store(element("C", {Affine::of("task"), column}), index(result), {is_only_writer}));
  }
  return example("load_task", one, std::move(stores));
}

InstructionExample multiplies_pairs(const TaskCase& one) {
  const Affine v = Affine::of("v");
  const Affine j = Affine::of("j");
  const Block round{Node{Declare{"current"}},
                    perform("load_pairs", {element("current"), element("Columns"), element("Values"), index("first"),
                                           index("at"), one.stride, index("length")}),
                    perform("multiply_pairs", {element("current"), element("B"), element("columns"), element("sums")})};
  return example("load_and_multiply_pairs", one,
                 {define("j", Affine::of("lane", one.vector_width), ScalarType::u32), Node{Declare{"columns"}},
                  perform("clamp_columns", {element("columns"), j, index("N")}), Node{Declare{"sums", true}},
                  sequential_loop("at", Affine::of("start"), Affine::of("length"), one.stride * one.pairs_at_once,
                                  Role::none, round),
                  for_each_v(Affine::of("vector_width"),
                             {store(element("C", {Affine::of("task", one.stride) + Affine::of("start"), j + v}),
                                    element("sums", {v}), {less(j + v, index("N"))})})});
}

}  // namespace

std::vector<InstructionExample> task_examples() {
  const auto matrix = [](ScalarType type, std::int64_t columns, std::uint32_t seed) {
    return small_matrix(21, columns, 0.2, type, seed);
  };
  const std::vector<TaskCase> cases{
      {.name = "f32", .matrix = matrix(ScalarType::f32, 29, 1)},
      {.name = "f64_pairs", .matrix = matrix(ScalarType::f64, 29, 2), .vector_width = 2, .pairs_at_once = 4},
      {.name = "f32_shared_vectors",
       .matrix = matrix(ScalarType::f32, 40, 3),
       .longest = 16,
       .light = 4,
       .vector_width = 4,
       .pairs_at_once = 2,
       .stride = 4,
       .vectors = true},
      {.name = "f64_shared_vectors",
       .matrix = matrix(ScalarType::f64, 40, 4),
       .longest = 32,
       .light = 32,
       .vector_width = 2,
       .pairs_at_once = 2,
       .stride = 2,
       .vectors = true},
      {.name = "f32_many_columns",
       .matrix = matrix(ScalarType::f32, 65600, 5),
       .longest = 4,
       .light = 1,
       .vector_width = 2,
       .pairs_at_once = 2,
       .vectors = true}};
  std::vector<InstructionExample> examples;
  for (const TaskCase& one : cases) {
    examples.push_back(loads_task(one));
    examples.push_back(multiplies_pairs(one));
  }
  return examples;
}

}  // namespace esc::tests
