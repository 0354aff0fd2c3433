#include "generator/lower/pack_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/schedule/rows_schedule.h"

namespace esc {
namespace {

void check_directive(const LoopNest& nest, const PackTasks& directive) {
  const bool sparse = std::ranges::any_of(nest.arrays, [&](const ArrayDeclaration& array) {
    return array.role == ArrayRole::sparse && array.name == directive.array;
  });
  if (!sparse) {
    throw ScheduleError(directive, fmt::format("'{}' is not a sparse array of the nest", directive.array),
                        "transform the sparse array, once");
  }
  if (directive.light < 1 || directive.light > RowsSchedule::max_task) {
    throw ScheduleError(
        directive, fmt::format("light={} is outside 1 to {}", directive.light, RowsSchedule::max_task),
        fmt::format("the nearest legal value is {}", std::clamp(directive.light, 1, RowsSchedule::max_task)));
  }
}

Access element(const std::string& array) { return {array, {{"", Affine::of("task")}}}; }

Access pair(const std::string& array) { return {array, {{"first", Affine::of("c")}}}; }

/// The non-zeros of one task.
Loop read_pairs(const Loop& piece) {
  Loop pairs = piece;
  pairs.lower = 0;
  pairs.upper = Affine::of("length");
  auto& column = std::get<DefineIndex>(std::get<Statement>(pairs.body.front().content).action);
  column.value = pair("Columns");
  auto& update = std::get<Update>(std::get<Statement>(pairs.body.back().content).action);
  update.factors.front() = pair("Values");
  return pairs;
}

}  // namespace

LoopNest pack_tasks(const LoopNest& nest, const PackTasks& directive) {
  check_directive(nest, directive);
  const Loop* row = find_loop(nest.body, "i");
  const Loop* pieces = find_loop(nest.body, "piece");
  if (row == nullptr || pieces == nullptr) {
    throw ScheduleError(directive, "the rows are not cut", "cut the rows into tasks first");
  }

  Loop around = std::get<Loop>(pieces->body.back().content);
  around.body = {Node{read_pairs(std::get<Loop>(around.body.front().content))}};
  const Loop tasks{"task",
                   0,
                   Affine::of("tasks"),
                   1,
                   Role::row,
                   Mapping::sequential,
                   {define(row->iterator, element("Rows")), define("first", element("First")),
                    define("length", element("Lengths")), Node{std::move(around)}}};
  LoopNest result = nest;
  result.body = replace_loop(nest.body, row->iterator, [&](const Loop&) { return Block{Node{tasks}}; });
  std::erase_if(result.arrays, [](const ArrayDeclaration& array) { return array.role == ArrayRole::sparse; });
  std::erase_if(result.derived_sizes, [](const DerivedSize& size) { return size.name == "pieces"; });
  for (const char* list : {"Rows", "Splits", "First", "Lengths"}) {
    result.arrays.push_back({list, {Affine::of("tasks")}, ArrayRole::packed_index});
  }
  result.arrays.push_back({"Columns", {Affine::of("nonzeros")}, ArrayRole::packed_index});
  result.arrays.push_back({"Values", {Affine::of("nonzeros")}, ArrayRole::packed_value});
  return result;
}

}  // namespace esc
