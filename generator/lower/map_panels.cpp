#include "generator/lower/map_panels.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/lower/panel_nest.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {
namespace {

void check_panels(const MapPanels& directive) {
  if (directive.panels < 1 || directive.panels > PanelSchedule::max_panels) {
    throw ScheduleError(
        directive, fmt::format("panels={} is outside 1 to {}", directive.panels, PanelSchedule::max_panels),
        fmt::format("the nearest legal value is {}", std::clamp(directive.panels, 1, PanelSchedule::max_panels)));
  }
  if (directive.warp_panels < 1 || directive.warp_panels > warp_size) {
    throw ScheduleError(directive, fmt::format("warp={} is outside 1 to {}", directive.warp_panels, warp_size),
                        fmt::format("the nearest legal value is {}", std::clamp(directive.warp_panels, 1, warp_size)));
  }
  if (directive.panels % directive.warp_panels != 0) {
    throw ScheduleError(directive,
                        fmt::format("panels={} is no multiple of warp={}", directive.panels, directive.warp_panels),
                        fmt::format("the nearest legal value is {}",
                                    std::max(1, directive.panels / directive.warp_panels) * directive.warp_panels));
  }
  if (directive.panels / directive.warp_panels > PanelSchedule::max_warps) {
    throw ScheduleError(directive,
                        fmt::format("a block of {} warps is more than {}", directive.panels / directive.warp_panels,
                                    PanelSchedule::max_warps),
                        fmt::format("the nearest legal value is {}", PanelSchedule::max_warps * directive.warp_panels));
  }
}

const ColumnLoop* find_columns(const Loop& row) {
  const Loop* column = row.body.size() == 1 ? std::get_if<Loop>(&row.body.front().content) : nullptr;
  const bool merged = column != nullptr && column->body.size() == 1;
  return merged ? std::get_if<ColumnLoop>(&column->body.front().content) : nullptr;
}

/// The row loop's body for a panel that may lie behind the last: its first row gets a bound as the others have.
Block bound_first_row(const Loop& row) {
  Loop column = std::get<Loop>(row.body.front().content);
  auto& columns = std::get<ColumnLoop>(column.body.front().content);
  auto& first = std::get<Statement>(columns.body.front().content);
  first.guard.insert(first.guard.begin(), Less{Affine::of(row.iterator), row.upper});
  return {Node{std::move(column)}};
}

}  // namespace

LoopNest map_panels(const LoopNest& nest, const MapPanels& directive) {
  check_panels(directive);
  const Loop* row = find_loop(nest.body, directive.loop);
  if (row == nullptr || row->role != Role::row) {
    throw ScheduleError(directive, fmt::format("there is no row loop '{}' to map to the grid", directive.loop),
                        fmt::format("the loops of the nest are {}", list_iterators(nest.body)));
  }
  if (find_columns(*row) == nullptr) {
    throw ScheduleError(directive, fmt::format("the patterns under loop '{}' are not merged", directive.loop),
                        "unroll the row loop and merge its patterns first");
  }

  const std::int64_t height = row->step;
  const std::int64_t panels = directive.panels;
  const std::int64_t warp_panels = directive.warp_panels;
  Phase phase{{thread_loop("set", panels / warp_panels, Role::row, Mapping::warp_digit),
               thread_loop("panel", warp_panels, Role::row, Mapping::lane_digit)},
              {define(row->iterator, Affine::of("block", height * panels) + Affine::of("set", height * warp_panels) +
                                         Affine::of("panel", height))}};
  const Block body = bound_first_row(*row);
  phase.body.insert(phase.body.end(), body.begin(), body.end());

  const Loop grid{"block", 0, Affine::of("blocks"), 1, Role::row, Mapping::grid, {}};
  LoopNest result = put_together(nest, {grid, std::nullopt, {std::move(phase)}});
  result.derived_sizes.push_back({"blocks", row->upper, height * panels});
  return result;
}

}  // namespace esc
