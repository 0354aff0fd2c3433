#include "generator/lower/own_panels.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {
namespace {

void check_panels(const OwnPanels& directive) {
  check_between(directive, "panels", directive.panels, PanelSchedule::max_panels);
  check_between(directive, "warp", directive.warp_panels, warp_size);
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

bool is_merged(const Loop& row) {
  const Loop* column = row.body.size() == 1 ? std::get_if<Loop>(&row.body.front().content) : nullptr;
  return column != nullptr && column->body.size() == 1 &&
         std::holds_alternative<ColumnLoop>(column->body.front().content);
}

}  // namespace

LoopNest own_panels(const LoopNest& nest, const OwnPanels& directive) {
  check_panels(directive);
  const Loop* row = find_loop(nest.body, directive.loop);
  if (row == nullptr || row->role != Role::row) {
    throw ScheduleError(directive, fmt::format("there is no row loop '{}' to map to the grid", directive.loop),
                        fmt::format("the loops of the nest are {}", list_iterators(nest.body)));
  }
  if (!is_merged(*row)) {
    throw ScheduleError(directive, fmt::format("the patterns under loop '{}' are not merged", directive.loop),
                        "unroll the row loop and merge its patterns first");
  }

  ThreadNest parts{{Loop{"block", 0, Affine::of("blocks"), 1, Role::row, Mapping::grid, {}}}, {}, {}};
  parts.add_warps("set", "block_sets", Role::row);
  parts.add_lanes("place", "warp_panels", Role::row);
  parts.body = {define("set_of_grid", index("set") * index("blocks") + index("block"), ScalarType::u32),
                define("seat", index("set_of_grid") * index("warp_panels") + index("place"), ScalarType::u32),
                define("panel", index("seat"), ScalarType::u32),
                define(row->iterator, index("panel") * index("panel_height"), ScalarType::u32)};
  parts.body.insert(parts.body.end(), row->body.begin(), row->body.end());

  LoopNest result = put_together(nest, parts);
  result.constants.push_back({"block_panels", directive.panels, "panels: panels of a block"});
  result.constants.push_back({"warp_panels", directive.warp_panels, "panels beside each other in a warp: a set"});
  result.constants.push_back({"block_sets", quotient(index("block_panels"), index("warp_panels")), ""});
  result.constants.push_back({"block_rows", index("block_panels") * index("panel_height"), ""});
  result.derived_sizes.push_back({"blocks", row->upper, row->step.constant() * directive.panels});
  result.story.push_back(
      "A thread block owns whole panels and a tile of the columns of C, so that it stores C once: no atomic adds, no "
      "zeroing, one launch.");
  return result;
}

}  // namespace esc
