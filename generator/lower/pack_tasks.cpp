// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pack_tasks.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/rows_schedule.h"

namespace esc {
namespace {

Access of_task(const std::string& array) { return element(array, {Affine::of("task")}); }

Access pair(const std::string& array) { return {array, {{"first", Affine::of("c")}}}; }

/// The non-zeros of one task.
Node read_pairs(const Loop& piece) {
  const auto read_values = [](Guard&, Update& update) { update.value = with_factor(update.value, 0, pair("Values")); };
  Block body = change_updates(piece.body, read_values);
  const auto& column = *action<Define>(piece.body.front());
  body.front() = define(column.name, pair("Columns"), column.type);
  return sequential_loop(piece.iterator, 0, Affine::of("length"), 1, Role::reduction, std::move(body));
}

/// Most non-zeros of a piece: what the bounds of its columns are apart.
std::int64_t pieces_longest(const Loop& pieces) {
  return find_loop(pieces.body, "c")->lower.coefficient(pieces.iterator);
}

}  // namespace

LoopNest pack_tasks(const LoopNest& nest, const PackTasks& directive) {
  check_sparse(nest, directive, directive.array);
  check_between(directive, "light", directive.light, RowsSchedule::max_task);
  const Loop* row = find_loop(nest.body, Role::row);
  const Loop* pieces = find_loop(nest.body, "piece");
  refuse_if(row == nullptr || pieces == nullptr, directive, "the rows are not cut", "cut the rows into tasks first");
  const std::int64_t longest = pieces_longest(*pieces);
  refuse_if(!std::has_single_bit(static_cast<std::uint64_t>(directive.light)) || directive.light > longest, directive,
            fmt::format("light={} is no power of two up to {}", directive.light, longest),
            "give one, by which the tasks are told that a lane group takes alone");

  Loop around = std::get<Loop>(pieces->body.back().content);
  around.body = {read_pairs(std::get<Loop>(around.body.front().content))};
  LoopNest result = nest;
  result.body = replace_loop(nest.body, row->iterator,
                             sequential_loop("task", 0, Affine::of("tasks"), 1, Role::row,
                                             {define(row->iterator, of_task("Rows")), define("first", of_task("First")),
                                              define("length", of_task("Lengths")), Node{std::move(around)}}));
  std::erase_if(result.derived_sizes, [](const DerivedSize& size) { return size.name == "pieces"; });
  const auto list = [](const char* name, const char* extent) {
    return ArrayDeclaration{name, {Affine::of(extent)}, ArrayRole::packed_index, ScalarType::u32};
  };
  replace_sparse(result, {list("Rows", "tasks"),
                          list("Splits", "tasks"),
                          list("First", "tasks"),
                          list("Lengths", "tasks"),
                          list("Columns", "nonzeros"),
                          {"Values", {Affine::of("nonzeros")}, ArrayRole::packed_value, nest.element()}});
  result.packed = {.kind = PackedForm::Kind::tasks, .longest = longest, .light = directive.light};
  result.description.push_back(
      fmt::format("The rows of A are cut into tasks of at most {} non-zeros, which are taken longest first, so that no "
                  "thread block is left over in the end.",
                  longest));
  return result;
}

}  // namespace esc
