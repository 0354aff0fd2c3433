#include "generator/lower/split_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/lower/mapped_nest.h"
#include "generator/lower/panel_nest.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {
namespace {

/// What is left for `value` where others take `taken` of `most`.
void check_share(const SplitColumns& directive, const std::string& what, std::int64_t value, std::int64_t taken,
                 std::int64_t most, const std::string& of_what) {
  const std::int64_t room = std::max<std::int64_t>(1, most / taken);
  if (value < 1 || value > room) {
    throw ScheduleError(directive, fmt::format("{}={} is outside 1 to {} of {} {}", what, value, room, most, of_what),
                        fmt::format("the nearest legal value is {}", std::clamp<std::int64_t>(value, 1, room)));
  }
}

const ColumnLoop* find_columns(const Block& body) {
  return body.empty() ? nullptr : std::get_if<ColumnLoop>(&body.back().content);
}

Loop deal(const ColumnLoop& columns, std::int64_t warps, std::int64_t groups) {
  Loop dealt{"c",
             Affine::of("warp", groups) + Affine::of("group"),
             Affine::of("count"),
             warps * groups,
             Role::reduction,
             Mapping::sequential,
             {define(columns.iterator, ColumnAt{columns.set, Affine::of("c")})}};
  for (const Node& node : columns.body) {
    Statement statement = std::get<Statement>(node.content);
    std::get<Update>(statement.action).atomic = warps * groups > 1;
    dealt.body.push_back(Node{std::move(statement)});
  }
  return dealt;
}

}  // namespace

LoopNest split_columns(const LoopNest& nest, const SplitColumns& directive) {
  PanelNest parts = take_apart(nest, directive);
  if (!parts.tiles) {
    throw ScheduleError(directive, "the columns of C are not mapped to the grid", "map the column loop first");
  }
  Phase& phase = parts.phases.front();
  const ColumnLoop* columns = find_columns(phase.body);
  if (columns == nullptr || columns->iterator != directive.loop) {
    throw ScheduleError(directive, fmt::format("there is no loop over enumerated columns '{}'", directive.loop),
                        "split the reduction loop, once");
  }
  check_share(directive, "warps", directive.warps, count_threads(phase.threads, Mapping::warp_digit),
              PanelSchedule::max_warps, "warps");
  check_share(directive, "groups", directive.groups, count_threads(phase.threads, Mapping::lane_digit), warp_size,
              "lanes");

  const Loop dealt = deal(*columns, directive.warps, directive.groups);
  phase.body.back() = define("count", ColumnCount{columns->set});
  phase.body.push_back(Node{dealt});
  const auto first_lanes = std::ranges::find(phase.threads, Mapping::lane_digit, &Loop::mapping);
  phase.threads.insert(first_lanes, thread_loop("warp", directive.warps, Role::reduction, Mapping::warp_digit));
  const auto lanes_of_group = std::ranges::find(phase.threads, Role::column, &Loop::role);
  phase.threads.insert(lanes_of_group, thread_loop("group", directive.groups, Role::reduction, Mapping::lane_digit));
  return put_together(nest, parts);
}

}  // namespace esc
