#include "generator/lower/map_threads.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/schedule/schedule.h"

namespace esc {
namespace {

void check_multiple(const MapLanes& directive, const std::string& what, int value, int most) {
  if (value >= warp_size && value <= most && value % warp_size == 0) {
    return;
  }
  const int nearest = std::clamp((value + warp_size / 2) / warp_size * warp_size, warp_size, most);
  throw ScheduleError(directive, fmt::format("{} {} is not a multiple of 32 from 32 to {}", value, what, most),
                      fmt::format("the nearest legal value is {}", nearest));
}

/// Repeats the updates of a column loop for j, j + 32, .. with the bound of the columns where it is not the loop's own.
Block repeat(const Block& updates, const Loop& column, int tiles) {
  Block repeated;
  for (int tile = 0; tile < tiles; ++tile) {
    const Affine shifted = Affine::of(column.iterator) + warp_size * tile;
    for (const Node& node : updates) {
      Statement copy = substitute(std::get<Statement>(node.content), column.iterator, shifted);
      if (tile > 0) {
        copy.guard.push_back(less(shifted, column.upper));
      }
      repeated.push_back(Node{std::move(copy)});
    }
  }
  return repeated;
}

Block map_column_loop(const Loop& column, const MapLanes& directive) {
  const int warps = directive.threads / warp_size;
  ColumnLoop columns = std::get<ColumnLoop>(column.body.front().content);
  columns.body = repeat(columns.body, column, directive.columns / warp_size);
  Loop mapped = column;
  mapped.lower = Affine::of("lane") + (warps > 1 ? Affine::of("warp", directive.columns) : Affine(0));
  mapped.step = std::int64_t{directive.columns} * warps;
  mapped.body = {Node{std::move(columns)}};
  return {Node{std::move(mapped)}};
}

}  // namespace

LoopNest map_threads(const LoopNest& nest, const MapLanes& directive) {
  check_multiple(directive, "columns per warp", directive.columns, warp_size * AtomicSchedule::max_warptile);
  check_multiple(directive, "threads", directive.threads, AtomicSchedule::max_threads);
  const auto* grid = nest.body.size() == 1 ? std::get_if<Loop>(&nest.body.front().content) : nullptr;
  if (grid == nullptr || grid->mapping != Mapping::grid) {
    throw ScheduleError(directive, "the rows are not mapped to the grid", "map the row loop to the grid first");
  }
  const Switch* choice = grid->body.empty() ? nullptr : std::get_if<Switch>(&grid->body.back().content);
  if (choice == nullptr) {
    throw ScheduleError(directive, "the columns are already mapped to lanes", "map each loop once");
  }

  Switch mapped = *choice;
  for (Case& one : mapped.cases) {
    const Loop* column = find_loop(one.body, directive.loop);
    if (column == nullptr || column->role != Role::column) {
      throw ScheduleError(directive, fmt::format("there is no column loop '{}' to map to lanes", directive.loop),
                          fmt::format("the loops of a block are {}", list_iterators(one.body)));
    }
    one.body = map_column_loop(*column, directive);
  }
  Block inside(grid->body.begin(), grid->body.end() - 1);
  inside.push_back(Node{std::move(mapped)});
  inside = {Node{Loop{"lane", 0, warp_size, 1, Role::none, Mapping::lanes, std::move(inside)}}};
  if (directive.threads > warp_size) {
    inside = {Node{Loop{"warp", 0, directive.threads / warp_size, 1, Role::none, Mapping::warps, std::move(inside)}}};
  }
  LoopNest result = nest;
  result.constants.push_back({"threads_per_block", directive.threads, "threads"});
  std::get<Loop>(result.body.front().content).body = std::move(inside);
  return result;
}

}  // namespace esc
