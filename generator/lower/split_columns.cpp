// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/split_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {
namespace {

/// What is left for `value` where others take `taken` of `most`.
void check_share(const SplitColumns& directive, const std::string& what, std::int64_t value, std::int64_t taken,
                 std::int64_t most, const std::string& of_what) {
  check_between(directive, what, value, std::max<std::int64_t>(1, most / taken),
                fmt::format(" of {} {}", most, of_what));
}

Node deal(const ColumnLoop& columns, std::int64_t warps, std::int64_t groups) {
  Block body{define(columns.iterator, ColumnAt{columns.set, Affine::of("c")}, ScalarType::u32)};
  append(body, change_updates(columns.body, [&](Guard&, Update& update) { update.atomic = warps * groups > 1; }));
  return sequential_loop("c", Affine::of("part", groups) + Affine::of("group"), Affine::of("count"), warps * groups,
                         Role::reduction, std::move(body));
}

}  // namespace

LoopNest split_columns(const LoopNest& nest, const SplitColumns& directive) {
  ThreadNest parts = take_apart(nest, directive);
  refuse_if(parts.grid.size() < 2, directive, "the columns of C are not mapped to the grid",
            "map the column loop first");
  const auto* found = parts.body.empty() ? nullptr : std::get_if<ColumnLoop>(&parts.body.back().content);
  refuse_if(found == nullptr || found->iterator != directive.loop, directive,
            fmt::format("there is no loop over enumerated columns '{}'", directive.loop),
            "split the reduction loop, once");
  check_share(directive, "warps", directive.warps, parts.count_threads(nest, Mapping::warp_digit),
              PanelSchedule::max_warps, "warps");
  check_share(directive, "groups", directive.groups, parts.count_threads(nest, Mapping::lane_digit), warp_size,
              "lanes");

  const ColumnLoop columns = *found;
  parts.body.back() = define("count", ColumnCount{columns.set});
  parts.body.push_back(deal(columns, directive.warps, directive.groups));
  parts.add_warps("part", "row_tile_warps", Role::reduction);
  parts.add_lanes("group", "sharing_groups", Role::reduction);

  LoopNest result = put_together(nest, parts);
  result.zeroed = directive.warps * directive.groups > 1 ? Zeroed::output : Zeroed::nothing;
  result.constants.push_back(
      {"row_tile_warps", directive.warps, "split_k: warps that share the columns of a row tile"});
  result.constants.push_back(
      {"sharing_groups", directive.groups, "lane_groups: lane groups of a warp that share them"});
  result.constants.push_back(
      {"warp_groups", index("warp_row_tiles") * index("sharing_groups"), "lane groups of a warp"});
  result.constants.push_back({"threads_per_block", 32 * index("row_tile_warps") * index("block_sets"), ""});
  result.description.push_back("The columns of a row tile are dealt block-cyclically to the lane groups of its warps.");
  return result;
}

}  // namespace esc
