// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/map_threads.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/schedule.h"

namespace esc {
namespace {

void check_multiple(const MapLanes& directive, const std::string& what, int value, int most) {
  refuse_if(value < warp_size || value > most || value % warp_size != 0, directive,
            fmt::format("{} {} is not a multiple of 32 from 32 to {}", value, what, most),
            nearest((std::clamp(value, warp_size, most) + warp_size / 2) / warp_size * warp_size));
}

/// Repeats the updates of a column loop for j, j + 32, .. with the bound of the columns where it is not the loop's own.
Block repeat(const Block& updates, const Loop& column, int tiles) {
  Block repeated;
  for (int tile = 0; tile < tiles; ++tile) {
    const Affine shifted = Affine::of(column.iterator) + warp_size * tile;
    append(repeated, rewrite(updates, {.statement = [&](const Statement& statement) {
                               Statement copy = substitute(statement, column.iterator, shifted);
                               if (tile > 0) {
                                 copy.guard.push_back(less(shifted, column.upper));
                               }
                               return Block{Node{std::move(copy)}};
                             }}));
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
  ThreadNest parts = take_apart(nest);
  refuse_if(parts.grid.empty(), directive, "the rows are not mapped to the grid", "map the row loop to the grid first");
  auto* choice = std::get_if<Switch>(&parts.body.back().content);
  refuse_if(choice == nullptr || !parts.threads.empty(), directive, "the columns are already mapped to lanes",
            "map each loop once");
  for (Case& one : choice->cases) {
    one.body = map_column_loop(
        loop_of_role(one.body, directive.loop, Role::column, directive, "map to lanes", "a block"), directive);
  }
  if (directive.threads > warp_size) {
    parts.threads.push_back(mapped_loop(Mapping::warps, "warp", directive.threads / warp_size, Role::none));
  }
  parts.threads.push_back(mapped_loop(Mapping::lanes, "lane", warp_size, Role::none));
  LoopNest result = put_together(nest, parts);
  result.constants.push_back({"threads_per_block", directive.threads, "threads"});
  return result;
}

}  // namespace esc
