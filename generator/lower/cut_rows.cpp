#include "generator/lower/cut_rows.h"

#include <fmt/format.h>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/rows_schedule.h"

namespace esc {
namespace {

/// The enumerated columns of a row, or null where there are none yet.
const ColumnLoop* find_columns(const Loop& row) {
  const Loop* column = row.body.size() == 1 ? std::get_if<Loop>(&row.body.front().content) : nullptr;
  const bool merged = column != nullptr && column->role == Role::column && column->body.size() == 1;
  return merged ? std::get_if<ColumnLoop>(&column->body.front().content) : nullptr;
}

/// What is done for a column, in the only row of the panel: it needs neither a loop nor a bound.
Node update_of_row(const ColumnLoop& columns) {
  Statement statement = innermost(std::get<Loop>(columns.body.front().content));
  statement.guard.clear();
  return Node{substitute(statement, "u", 0)};
}

}  // namespace

LoopNest cut_rows(const LoopNest& nest, const CutRows& directive) {
  const Loop* row = find_loop(nest.body, Role::row);
  const ColumnLoop* columns = row == nullptr ? nullptr : find_columns(*row);
  if (columns == nullptr || columns->iterator != directive.loop) {
    throw ScheduleError(directive, fmt::format("there is no loop over merged columns '{}' to cut", directive.loop),
                        "unroll the row loop by 1 and merge its patterns first, and cut once");
  }
  if (row->step != 1) {
    throw ScheduleError(directive, fmt::format("a panel has {} rows, and only rows can be cut", row->step.constant()),
                        "unroll the row loop by 1");
  }
  check_between(directive, "task", directive.task, RowsSchedule::max_task);
  check_power_of_two(directive, "task", directive.task);

  const Affine begin = Affine::of("piece", directive.task);
  Loop piece_columns{"c",
                     begin,
                     Affine::of("end"),
                     1,
                     Role::reduction,
                     Mapping::sequential,
                     {define(columns->iterator, ColumnAt{columns->set, Affine::of("c")}, ScalarType::u32),
                      update_of_row(*columns)}};
  Loop around = std::get<Loop>(row->body.front().content);
  around.body = {Node{std::move(piece_columns)}};
  Loop pieces{"piece",
              0,
              Affine::of("pieces"),
              1,
              Role::reduction,
              Mapping::sequential,
              {define("count", ColumnCount{columns->set}),
               define("end", minimum(index("count"), begin + directive.task)), Node{std::move(around)}}};
  Loop cut = *row;
  cut.body = {Node{std::move(pieces)}};

  LoopNest result = nest;
  result.body = replace_loop(nest.body, row->iterator, [&](const Loop&) { return Block{Node{std::move(cut)}}; });
  result.derived_sizes.push_back({"pieces", nest.array(ArrayRole::sparse).extents[1], directive.task});
  return result;
}

}  // namespace esc
