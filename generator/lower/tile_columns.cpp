#include "generator/lower/tile_columns.h"

#include <fmt/format.h>

#include <numeric>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {
namespace {

/// `parts` panels or lane groups of tasks stand beside each other in a warp.
void check_lanes(const TileColumns& directive, std::int64_t parts, const char* what) {
  check_between(directive, "columns", directive.columns, PanelSchedule::max_columns);
  check_between(directive, "vector", directive.vector, PanelSchedule::max_vector);
  check_power_of_two(directive, "vector", directive.vector);
  if (directive.columns % directive.vector != 0) {
    throw ScheduleError(directive,
                        fmt::format("vector={} does not divide columns={}", directive.vector, directive.columns),
                        fmt::format("the nearest legal value is {}", std::gcd(directive.columns, directive.vector)));
  }
  const int lanes = directive.columns / directive.vector;
  if (parts * lanes > warp_size) {
    throw ScheduleError(
        directive, fmt::format("{} lanes for each of {} {} are more than a warp's {}", lanes, parts, what, warp_size),
        fmt::format("the nearest legal value is columns={}", warp_size / parts * directive.vector));
  }
}

/// The innermost statement for j, j + 1, .., each with its bound.
Statement spread(const Statement& statement, const Loop& column) {
  const Affine shifted = Affine::of(column.iterator) + Affine::of("v");
  Statement copy = substitute(statement, column.iterator, shifted);
  copy.guard.push_back(less(shifted, column.upper));
  return copy;
}

Block spread(const Block& body, const Loop& column);

Node spread(const Node& node, const Loop& column) {
  if (const auto* loop = std::get_if<Loop>(&node.content)) {
    Loop around = *loop;
    around.body = spread(loop->body, column);
    return Node{std::move(around)};
  }
  if (const auto* loop = std::get_if<ColumnLoop>(&node.content)) {
    ColumnLoop around = *loop;
    around.body = spread(loop->body, column);
    return Node{std::move(around)};
  }
  const auto& statement = std::get<Statement>(node.content);
  return std::holds_alternative<Update>(statement.action)
             ? unrolled_loop("v", "vector_width", Role::column, {Node{spread(statement, column)}})
             : node;
}

Block spread(const Block& body, const Loop& column) {
  Block result;
  for (const Node& node : body) {
    result.push_back(spread(node, column));
  }
  return result;
}

}  // namespace

LoopNest tile_columns(const LoopNest& nest, const TileColumns& directive) {
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t place = find_place(parts.body, Role::column);
  const Loop* found = place == parts.body.size() ? nullptr : &std::get<Loop>(parts.body[place].content);
  if (found == nullptr || found->iterator != directive.loop) {
    throw ScheduleError(directive, fmt::format("there is no column loop '{}' to map to the grid", directive.loop),
                        fmt::format("the loops of the nest are {}", list_iterators(nest.body)));
  }
  const bool tasks = nest.packed.kind == PackedForm::Kind::tasks;
  check_lanes(directive, count_threads(nest, parts, Mapping::lane_digit), tasks ? "lane groups" : "panels");
  if (tasks) {
    check_full_warps(count_threads(nest, parts, Mapping::lane_digit) * directive.columns / directive.vector,
                     nest.constant("sharing_groups"), directive);
  }

  const Loop column = *found;
  Block tiled{define(column.iterator, first_column_of_lane(), ScalarType::u32)};
  const Block inner = spread(column.body, column);
  tiled.insert(tiled.end(), inner.begin(), inner.end());
  parts.body.erase(parts.body.begin() + static_cast<std::ptrdiff_t>(place));
  parts.body.insert(parts.body.begin() + static_cast<std::ptrdiff_t>(place), tiled.begin(), tiled.end());
  parts.grid.push_back(Loop{"tile", 0, Affine::of("tiles"), 1, Role::column, Mapping::grid_y, {}});
  parts.add_lanes("lane", "group_lanes", Role::column);

  LoopNest result = put_together(nest, parts);
  result.constants.push_back({"tile_columns", directive.columns, "columns: columns of C that a block computes"});
  result.constants.push_back({"vector_width", directive.vector, "vector: consecutive ones that a lane holds"});
  result.constants.push_back({"group_lanes", quotient(index("tile_columns"), index("vector_width")), ""});
  result.derived_sizes.push_back({"tiles", column.upper, directive.columns});
  result.story.push_back(tasks ? "A lane holds some consecutive columns of C; for a non-zero in column k of A it loads that part of row k "
                                 "of B and multiplies it by the value."
                               : "A lane holds some consecutive columns of C; for a column k of A it loads that part of row k of B once "
                                 "and multiplies it by the value of every row of the panel.");
  return result;
}

}  // namespace esc
