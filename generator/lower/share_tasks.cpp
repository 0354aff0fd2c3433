#include "generator/lower/share_tasks.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/lower/mapped_nest.h"
#include "generator/lower/panel_nest.h"

namespace esc {
namespace {

void check_groups(const SplitColumns& directive, std::int64_t lanes) {
  if (directive.warps != 1) {
    throw ScheduleError(directive, fmt::format("{} warps cannot share a task", directive.warps),
                        "the nearest legal value is warps=1");
  }
  if (directive.groups < 1 || directive.groups * lanes > warp_size) {
    throw ScheduleError(
        directive,
        fmt::format("groups={} of {} lanes are outside 1 to {} of a warp", directive.groups, lanes, warp_size / lanes),
        fmt::format("the nearest legal value is groups={}",
                    std::clamp<std::int64_t>(directive.groups, 1, warp_size / lanes)));
  }
}

/// The part that has the heavy tasks: only there a warp has one task.
bool is_heavy(const PanelNest& parts) { return parts.grid.upper.is_name("heavy_blocks"); }

}  // namespace

LoopNest share_tasks(const LoopNest& nest, const SplitColumns& directive) {
  return change_grids(nest, directive, [&](PanelNest& parts) {
    Phase& phase = parts.phases.front();
    Loop* pairs = find_loop_over(phase.body, Role::reduction);
    if (!parts.tiles || pairs == nullptr) {
      throw ScheduleError(directive, "the columns of C are not mapped to the grid", "map the column loop first");
    }
    if (find_definition(pairs->body, directive.loop) == nullptr || pairs->step != 1) {
      throw ScheduleError(directive, fmt::format("there is no loop over the non-zeros '{}' of a task", directive.loop),
                          "split the reduction loop, once");
    }
    if (!is_heavy(parts)) {
      return;
    }
    check_groups(directive, count_threads(phase.threads, Mapping::lane_digit));
    pairs->lower = directive.groups == 1 ? Affine(0) : Affine::of("group");
    pairs->step = directive.groups;
    const auto lanes_of_group = std::ranges::find(phase.threads, Role::column, &Loop::role);
    phase.threads.insert(lanes_of_group, thread_loop("group", directive.groups, Role::reduction, Mapping::lane_digit));
  });
}

}  // namespace esc
