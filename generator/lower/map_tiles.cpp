#include "generator/lower/map_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/lower/panel_nest.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {
namespace {

void check_range(const MapTiles& directive, const std::string& what, int value, int most) {
  if (value < 1 || value > most) {
    throw ScheduleError(directive, fmt::format("{}={} is outside 1 to {}", what, value, most),
                        fmt::format("the nearest legal value is {}", std::clamp(value, 1, most)));
  }
}

void check_lanes(const MapTiles& directive, std::int64_t panels) {
  check_range(directive, "columns", directive.columns, PanelSchedule::max_columns);
  check_range(directive, "vector", directive.vector, PanelSchedule::max_vector);
  if (directive.columns % directive.vector != 0) {
    throw ScheduleError(directive,
                        fmt::format("vector={} does not divide columns={}", directive.vector, directive.columns),
                        fmt::format("the nearest legal value is {}", std::gcd(directive.columns, directive.vector)));
  }
  const int lanes = directive.columns / directive.vector;
  if (panels * lanes > warp_size) {
    throw ScheduleError(
        directive, fmt::format("{} lanes for each of {} panels are more than a warp's {}", lanes, panels, warp_size),
        fmt::format("the nearest legal value is columns={}", warp_size / panels * directive.vector));
  }
}

/// The updates for j, j + 1, .., each with its bound.
Block repeat(const Block& updates, const Loop& column, int vector) {
  Block repeated;
  for (int v = 0; v < vector; ++v) {
    const Affine shifted = Affine::of(column.iterator) + v;
    for (const Node& node : updates) {
      Statement copy = substitute(std::get<Statement>(node.content), column.iterator, shifted);
      copy.guard.push_back(Less{shifted, column.upper});
      repeated.push_back(Node{std::move(copy)});
    }
  }
  return repeated;
}

}  // namespace

LoopNest map_tiles(const LoopNest& nest, const MapTiles& directive) {
  PanelNest parts = take_apart(nest, directive);
  const Loop* column = find_loop(nest.body, directive.loop);
  if (column == nullptr || column->role != Role::column) {
    throw ScheduleError(directive, fmt::format("there is no column loop '{}' to map to the grid", directive.loop),
                        fmt::format("the loops of the nest are {}", list_iterators(nest.body)));
  }
  Phase& phase = parts.phases.front();
  check_lanes(directive, count_threads(phase.threads, Mapping::lane_digit));

  ColumnLoop columns = std::get<ColumnLoop>(column->body.front().content);
  columns.body = repeat(columns.body, *column, directive.vector);
  phase.threads.push_back(thread_loop("lane", directive.columns / directive.vector, Role::column, Mapping::lane_digit));
  phase.body = {phase.body.front(),
                define(column->iterator, Affine::of("tile", directive.columns) + Affine::of("lane", directive.vector)),
                Node{std::move(columns)}};
  parts.tiles = Loop{"tile", 0, Affine::of("tiles"), 1, Role::column, Mapping::grid_y, {}};
  LoopNest result = put_together(nest, parts);
  result.derived_sizes.push_back({"tiles", column->upper, directive.columns});
  return result;
}

}  // namespace esc
