// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/tile_columns.h"

#include <fmt/format.h>

#include <numeric>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {
namespace {

/// How many columns a lane may hold: as many as it loads at once or, where they are not one after the other,
/// more.
int most_columns_of_lane(const LoopNest& nest) {
  const std::optional<Layout>& dense = nest.array(ArrayRole::dense).layout;
  return dense && !has_contiguous_columns(*dense) ? PanelSchedule::max_spread_vector : PanelSchedule::max_vector;
}

void check_vector(const LoopNest& nest, const TileColumns& directive) {
  check_between(directive, "vector", directive.vector, most_columns_of_lane(nest));
  check_power_of_two(directive, "vector", directive.vector);
  const std::int64_t rows = nest.constant("row_tile_height");
  const int most = PanelSchedule::max_lane_sums;
  refuse_if(rows * directive.vector > most, directive,
            fmt::format("{} rows of {} columns are more sums than the {} that a lane has registers for", rows,
                        directive.vector, most),
            nearest(most / rows));
}

/// `parts` row tiles or lane groups of tasks are beside each other in a warp.
void check_lanes(const TileColumns& directive, std::int64_t parts, const char* what) {
  check_between(directive, "columns", directive.columns, PanelSchedule::max_columns);
  refuse_if(directive.columns % directive.vector != 0, directive,
            fmt::format("vector={} does not divide columns={}", directive.vector, directive.columns),
            nearest(std::gcd(directive.columns, directive.vector)));
  const int lanes = directive.columns / directive.vector;
  refuse_if(parts * lanes > warp_size, directive,
            fmt::format("{} lanes for each of {} {} are more than a warp's {}", lanes, parts, what, warp_size),
            fmt::format("the nearest legal value is columns={}", warp_size / parts * directive.vector));
}

/// The updates inside of a column loop for j, j + 1, .., each with its bound.
Block spread(const Loop& column) {
  return rewrite(column.body, {.statement = [&](const Statement& statement) -> Block {
                   if (!std::holds_alternative<Update>(statement.action)) {
                     return {Node{statement}};
                   }
                   const Affine shifted = Affine::of(column.iterator) + Affine::of("v");
                   Statement copy = substitute(statement, column.iterator, shifted);
                   copy.guard.push_back(less(shifted, column.upper));
                   return {unrolled_loop("v", "vector_width", Role::column, {Node{std::move(copy)}})};
                 }});
}

}  // namespace

LoopNest tile_columns(const LoopNest& nest, const TileColumns& directive) {
  ThreadNest parts = take_apart(nest, directive);
  const Loop& column = loop_of_role(nest.body, directive.loop, Role::column, directive);
  const bool tasks = nest.packed.kind == PackedForm::Kind::tasks;
  const std::int64_t parts_of_warp = parts.count_threads(nest, Mapping::lane_digit);
  check_vector(nest, directive);
  check_lanes(directive, parts_of_warp, tasks ? "lane groups" : "row tiles");
  if (tasks) {
    check_full_warps(parts_of_warp * directive.columns / directive.vector, nest.constant("sharing_groups"), directive);
  }
  const std::size_t place = find_place(parts.body, Role::column);
  refuse_if(place == parts.body.size(), directive, "columns of A are taken in K tiles around this loop",
            "give the lanes their columns by fragment(j, 8)");
  parts.body[place] = define(column.iterator, first_column_of_lane(), ScalarType::u32);
  insert(parts.body, place + 1, spread(column));
  parts.grid.push_back(mapped_loop(Mapping::grid_y, "tile", Affine::of("tiles"), Role::column));
  parts.add_lanes("lane", "group_lanes", Role::column);

  LoopNest result = put_together(nest, parts);
  result.constants.push_back({"tile_columns", directive.columns, "columns of C that a block computes"});
  result.constants.push_back({"vector_width", directive.vector, "consecutive columns of C that a lane holds"});
  result.constants.push_back({"group_lanes", quotient(index("tile_columns"), index("vector_width")), ""});
  result.derived_sizes.push_back({"tiles", column.upper, directive.columns});
  result.description.emplace_back(
      tasks
          ? "A lane holds some consecutive columns of C; for a non-zero in column k of A it loads that part of row k "
            "of B and multiplies it by the value."
          : "A lane holds some consecutive columns of C; for a column k of A it loads that part of row k of B once and "
            "multiplies it by the value of every row of the row tile.");
  return result;
}

}  // namespace esc
