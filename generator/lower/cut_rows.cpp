// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/cut_rows.h"

#include <fmt/format.h>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/schedule/rows_schedule.h"

namespace esc {
namespace {

/// What is done for a column, in the only row of the row tile: it needs neither a loop nor a bound.
Block update_of_row(const ColumnLoop& columns) {
  return substitute(change_updates(only<Loop>(&columns)->body, [](Guard& guard, Update&) { guard.clear(); }), "u", 0);
}

}  // namespace

LoopNest cut_rows(const LoopNest& nest, const CutRows& directive) {
  const Loop* row = find_loop(nest.body, Role::row);
  const auto* column = only<Loop>(row);
  const auto* columns = only<ColumnLoop>(column);
  refuse_if(columns == nullptr || columns->iterator != directive.loop, directive,
            fmt::format("there is no loop over merged columns '{}' to cut", directive.loop),
            "unroll the row loop by 1 and merge its patterns first, and cut once");
  refuse_if(row->step != 1, directive,
            fmt::format("a row tile has {} rows, and only rows can be cut", row->step.constant()),
            "unroll the row loop by 1");
  check_between(directive, "task", directive.task, RowsSchedule::max_task);
  check_power_of_two(directive, "task", directive.task);

  const Affine begin = Affine::of("piece", directive.task);
  Block body{define(columns->iterator, ColumnAt{columns->set, Affine::of("c")}, ScalarType::u32)};
  append(body, update_of_row(*columns));
  Loop around = *column;
  around.body = {sequential_loop("c", begin, Affine::of("end"), 1, Role::reduction, std::move(body))};
  Loop cut = *row;
  cut.body = {
      sequential_loop("piece", 0, Affine::of("pieces"), 1, Role::reduction,
                      {define("count", ColumnCount{columns->set}),
                       define("end", minimum(index("count"), begin + directive.task)), Node{std::move(around)}})};

  LoopNest result = nest;
  result.body = replace_loop(nest.body, row->iterator, Node{std::move(cut)});
  result.derived_sizes.push_back({"pieces", nest.array(ArrayRole::sparse).extents[1], directive.task});
  return result;
}

}  // namespace esc
