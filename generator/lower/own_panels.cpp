// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/own_panels.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {
namespace {

void check_panels(const OwnPanels& directive) {
  check_between(directive, "panels", directive.panels, PanelSchedule::max_panels);
  check_between(directive, "warp", directive.warp_panels, warp_size);
  const int warps = directive.panels / directive.warp_panels;
  refuse_if(directive.panels % directive.warp_panels != 0, directive,
            fmt::format("panels={} is no multiple of warp={}", directive.panels, directive.warp_panels),
            nearest(std::max(1, warps) * directive.warp_panels));
  refuse_if(warps > PanelSchedule::max_warps, directive,
            fmt::format("a block of {} warps is more than {}", warps, PanelSchedule::max_warps),
            nearest(PanelSchedule::max_warps * directive.warp_panels));
}

}  // namespace

LoopNest own_panels(const LoopNest& nest, const OwnPanels& directive) {
  check_panels(directive);
  const Loop& row = loop_of_role(nest.body, directive.loop, Role::row, directive);
  refuse_if(only<ColumnLoop>(only<Loop>(&row)) == nullptr, directive,
            fmt::format("the patterns under loop '{}' are not merged", directive.loop),
            "unroll the row loop and merge its patterns first");

  ThreadNest parts{{mapped_loop(Mapping::grid, "block", Affine::of("blocks"), Role::row)}, {}, {}};
  parts.add_warps("set", "block_sets", Role::row);
  parts.add_lanes("place", "warp_panels", Role::row);
  parts.body = {define("set_of_grid", index("set") * index("blocks") + index("block"), ScalarType::u32),
                define("seat", index("set_of_grid") * index("warp_panels") + index("place"), ScalarType::u32),
                define("panel", index("seat"), ScalarType::u32),
                define(row.iterator, index("panel") * index("panel_height"), ScalarType::u32)};
  append(parts.body, row.body);

  LoopNest result = put_together(nest, parts);
  result.constants.push_back({"block_panels", directive.panels, "panels: panels of a block"});
  result.constants.push_back({"warp_panels", directive.warp_panels, "panels beside each other in a warp: a set"});
  result.constants.push_back({"block_sets", quotient(index("block_panels"), index("warp_panels")), ""});
  result.constants.push_back({"block_rows", index("block_panels") * index("panel_height"), ""});
  result.derived_sizes.push_back({"blocks", row.upper, row.step.constant() * directive.panels});
  result.story.push_back(
      "A thread block owns whole panels and a tile of the columns of C: nobody else has a part of their sums.");
  return result;
}

}  // namespace esc
