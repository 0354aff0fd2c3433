#include "generator/lower/pack_tasks.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/rows_schedule.h"

namespace esc {
namespace {

Access element(const std::string& array) { return {array, {{"", Affine::of("task")}}}; }

Access pair(const std::string& array) { return {array, {{"first", Affine::of("c")}}}; }

/// The non-zeros of one task.
Loop read_pairs(const Loop& piece) {
  Loop pairs = piece;
  pairs.lower = 0;
  pairs.upper = Affine::of("length");
  std::get<Define>(std::get<Statement>(pairs.body.front().content).action).value = pair("Columns");
  auto& update = std::get<Update>(std::get<Statement>(pairs.body.back().content).action);
  std::vector<Expression> both = factors(update.value);
  both.front() = pair("Values");
  update.value = product(both);
  return pairs;
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
  if (row == nullptr || pieces == nullptr) {
    throw ScheduleError(directive, "the rows are not cut", "cut the rows into tasks first");
  }
  if (!std::has_single_bit(static_cast<std::uint64_t>(directive.light)) || directive.light > pieces_longest(*pieces)) {
    throw ScheduleError(directive, fmt::format("light={} is no power of two up to {}", directive.light, pieces_longest(*pieces)),
                        "give one, by which the tasks are told that a lane group takes alone");
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
    result.arrays.push_back({list, {Affine::of("tasks")}, ArrayRole::packed_index, ScalarType::u32});
  }
  result.arrays.push_back({"Columns", {Affine::of("nonzeros")}, ArrayRole::packed_index, ScalarType::u32});
  result.arrays.push_back({"Values", {Affine::of("nonzeros")}, ArrayRole::packed_value, nest.element()});
  result.packed = {.kind = PackedForm::Kind::tasks, .longest = pieces_longest(*pieces), .light = directive.light};
  result.story.push_back(fmt::format(
      "The rows of A are cut into tasks of at most {} non-zeros, which are taken longest first, so that no thread block is "
      "left over in the end.",
      result.packed.longest));
  return result;
}

}  // namespace esc
