#include "generator/lower/map_tasks.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/rewrite.h"
#include "generator/lower/mapped_nest.h"
#include "generator/lower/panel_nest.h"
#include "generator/schedule/rows_schedule.h"

namespace esc {
namespace {

void check_range(const MapTasks& directive, const std::string& what, int value, int most) {
  if (value < 1 || value > most) {
    throw ScheduleError(directive, fmt::format("{}={} is outside 1 to {}", what, value, most),
                        fmt::format("the nearest legal value is {}", std::clamp(value, 1, most)));
  }
}

/// What is read of a task, under the condition that it is there, and what is done for it.
Block guarded_body(const Loop& tasks, const Affine& task, const std::string& behind) {
  const Guard present{Less{Affine::of("task"), Affine::of(behind)}};
  Block body{define(tasks.iterator, task)};
  for (const Node& node : tasks.body) {
    if (const auto* statement = std::get_if<Statement>(&node.content)) {
      body.push_back(Node{Statement{present, statement->action}});
    }
  }
  const Access split{"Splits", {{"", Affine::of("task")}}};
  body.push_back(Node{Statement{present, DefineIndex{"split", split}}});
  Loop columns = std::get<Loop>(tasks.body.back().content);
  auto& pairs = std::get<Loop>(columns.body.front().content);
  std::get<Update>(std::get<Statement>(pairs.body.back().content).action).atomic = true;
  body.push_back(Node{std::move(columns)});
  return body;
}

Block grid_over(const LoopNest& nest, const std::string& blocks, Phase phase) {
  const Loop grid{"block", 0, Affine::of(blocks), 1, Role::row, Mapping::grid, {}};
  return put_together(nest, {grid, std::nullopt, {std::move(phase)}}).body;
}

}  // namespace

LoopNest map_tasks(const LoopNest& nest, const MapTasks& directive) {
  check_range(directive, "warps", directive.warps, RowsSchedule::max_warps);
  check_range(directive, "groups", directive.groups, warp_size);
  const Loop* tasks = find_loop(nest.body, directive.loop);
  if (tasks == nullptr || tasks->iterator != "task") {
    throw ScheduleError(directive, fmt::format("there is no loop '{}' over tasks to map to the grid", directive.loop),
                        fmt::format("the loops of the nest are {}", list_iterators(nest.body)));
  }

  const std::int64_t warps = directive.warps;
  const std::int64_t groups = directive.groups;
  const Loop warp = thread_loop("warp", warps, Role::row, Mapping::warp_digit);
  const Affine heavy_task = Affine::of("block", warps) + Affine::of("warp");
  const Affine light_task =
      Affine::of("heavy") + Affine::of("block", warps * groups) + Affine::of("warp", groups) + Affine::of("group");
  LoopNest result = nest;
  result.body = grid_over(nest, "heavy_blocks", {{warp}, guarded_body(*tasks, heavy_task, "heavy")});
  const Block light = grid_over(nest, "light_blocks",
                                {{warp, thread_loop("group", groups, Role::row, Mapping::lane_digit)},
                                 guarded_body(*tasks, light_task, "tasks")});
  result.body.insert(result.body.end(), light.begin(), light.end());
  result.derived_sizes.push_back({"heavy_blocks", Affine::of("heavy"), warps});
  result.derived_sizes.push_back({"light_blocks", Affine::of("tasks") - Affine::of("heavy"), warps * groups});
  return result;
}

bool has_tasks(const LoopNest& nest) {
  return nest.body.size() == 2 && std::ranges::all_of(nest.body, [](const Node& node) {
           const auto* loop = std::get_if<Loop>(&node.content);
           return loop != nullptr && loop->mapping == Mapping::grid;
         });
}

}  // namespace esc
