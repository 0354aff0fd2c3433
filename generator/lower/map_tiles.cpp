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

/// The updates for j, j + 1, .., each with its bound, behind what they need of column k alone.
Block repeat(const Block& body, const Loop& column, int vector) {
  Block repeated;
  Block updates;
  for (const Node& node : body) {
    const bool update = std::holds_alternative<Update>(std::get<Statement>(node.content).action);
    (update ? updates : repeated).push_back(node);
  }
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

/// The column loop at the end of a block's body becomes tiles and lanes.
void tile(PanelNest& parts, const Loop& column, const MapTiles& directive) {
  Phase& phase = parts.phases.front();
  check_lanes(directive, count_threads(phase.threads, Mapping::lane_digit));
  Node reduction = column.body.front();
  if (auto* columns = std::get_if<ColumnLoop>(&reduction.content)) {
    columns->body = repeat(columns->body, column, directive.vector);
  } else {
    auto& loop = std::get<Loop>(reduction.content);
    loop.body = repeat(loop.body, column, directive.vector);
  }
  phase.threads.push_back(thread_loop("lane", directive.columns / directive.vector, Role::column, Mapping::lane_digit));
  phase.body.back() =
      define(column.iterator, Affine::of("tile", directive.columns) + Affine::of("lane", directive.vector));
  phase.body.push_back(std::move(reduction));
  parts.tiles = Loop{"tile", 0, Affine::of("tiles"), 1, Role::column, Mapping::grid_y, {}};
}

}  // namespace

LoopNest map_tiles(const LoopNest& nest, const MapTiles& directive) {
  const Loop* column = find_loop(nest.body, directive.loop);
  LoopNest result = change_grids(nest, directive, [&](PanelNest& parts) {
    if (column == nullptr || column->role != Role::column) {
      throw ScheduleError(directive, fmt::format("there is no column loop '{}' to map to the grid", directive.loop),
                          fmt::format("the loops of the nest are {}", list_iterators(nest.body)));
    }
    tile(parts, std::get<Loop>(parts.phases.front().body.back().content), directive);
  });
  result.derived_sizes.push_back({"tiles", column->upper, directive.columns});
  return result;
}

}  // namespace esc
