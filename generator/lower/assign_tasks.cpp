// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/assign_tasks.h"

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/rows_schedule.h"

namespace esc {
namespace {

/// Which task a lane group has, and what it needs to know of it.
Block find_task(const Expression& task) {
  const Expression heavy = index("is_heavy");
  const Expression heavy_blocks =
      quotient(index("heavy"), index("block_warps")) + is_nonzero(remainder(index("heavy"), index("block_warps")));
  const Expression warp = index("block") * index("block_warps") + index("warp_of_block");
  const Expression light_warp =
      (index("block") - index("heavy_blocks")) * index("block_warps") + index("warp_of_block");
  const Expression light_task = index("heavy") + light_warp * index("sharing_groups") + index("group");
  const Perform load{"load_task",
                     {element("First"), element("Rows"), element("Lengths"), element("Splits"), task},
                     {"first", "i", "length", "split"}};
  return {define("heavy_blocks", heavy_blocks, ScalarType::u32),
          define("is_heavy", less(index("block"), index("heavy_blocks")), ScalarType::boolean),
          define("task", choose(heavy, warp, light_task), ScalarType::u32),
          define("present", less(task, choose(heavy, index("heavy"), index("tasks"))), ScalarType::boolean),
          Node{Statement{{index("present")}, load}},
          define("stride", choose(heavy, index("sharing_groups"), 1), ScalarType::u32),
          define("start", choose(heavy, index("group"), 0), ScalarType::u32)};
}

/// The columns of C around the non-zeros that a lane group has of its task.
Node shared_columns(Loop columns) {
  auto& pairs = std::get<Loop>(columns.body.front().content);
  pairs.lower = Affine::of("start");
  pairs.step = Affine::of("stride");
  pairs.body = change_updates(pairs.body, [](Guard&, Update& update) { update.atomic = true; });
  return Node{std::move(columns)};
}

}  // namespace

LoopNest assign_tasks(const LoopNest& nest, const AssignTasks& directive) {
  check_between(directive, "warps", directive.warps, RowsSchedule::max_warps);
  check_between(directive, "lane_groups", directive.groups, warp_size);
  const Loop* tasks = find_loop(nest.body, directive.loop);
  refuse_if(tasks == nullptr || tasks->role != Role::row || nest.packed.kind != PackedForm::Kind::tasks, directive,
            fmt::format("there is no loop '{}' over tasks to map to the grid", directive.loop),
            fmt::format("the loops of the nest are {}", list_iterators(nest.body)));
  ThreadNest parts{
      {mapped_loop(Mapping::grid, "block", Affine::of("blocks"), Role::row)}, {}, find_task(index("task"))};
  parts.add_warps("warp_of_block", "block_warps", Role::row);
  parts.add_lanes("group", "sharing_groups", Role::row);
  parts.body.push_back(shared_columns(std::get<Loop>(tasks->body.back().content)));

  LoopNest result = put_together(nest, parts);
  result.constants.push_back({"block_warps", directive.warps, "warps of a block"});
  result.constants.push_back({"sharing_groups", directive.groups, "lane groups of a warp, which share a heavy task"});
  result.constants.push_back({"threads_per_block", 32 * index("block_warps"), ""});
  result.derived_sizes.push_back({"heavy_blocks", Affine::of("heavy"), directive.warps});
  result.derived_sizes.push_back(
      {"light_blocks", Affine::of("tasks") - Affine::of("heavy"), std::int64_t{directive.warps} * directive.groups});
  result.derived_sizes.push_back({"blocks", Affine::of("heavy_blocks") + Affine::of("light_blocks"), 1});
  result.packed.warps = directive.warps;
  result.packed.groups = directive.groups;
  result.zeroed = Zeroed::output;
  result.description.push_back(
      fmt::format("A task of more than {} non-zeros is heavy: a warp takes it, whose lane groups share its non-zeros. "
                  "A lane group takes a light task.",
                  nest.packed.light));
  return result;
}

}  // namespace esc
