// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/stream_windows.h"

#include <fmt/format.h>

#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

/// The loops over the columns of a window, the rows of a panel and the columns of C around the product's statement.
Node window_loop(const Statement& product, bool shared, const Affine& columns) {
  Statement own = product;
  std::get<Update>(own.action).atomic = shared;
  own.guard.insert(own.guard.begin(), {less(index("i"), index("M")), less(index("k"), index("K"))});
  Loop column{"j", 0, columns, 1, Role::column, Mapping::sequential, {Node{std::move(own)}}};
  const Expression row = index("panel") * index("panel_height") + index("u");
  const Expression entry = index("window") * index("window_columns") + index("slot");
  const Node rows{mapped_loop(Mapping::sequential, "u", Affine::of("panel_height"), Role::none,
                              {define("i", row, ScalarType::u32), Node{std::move(column)}})};
  const Node slots{mapped_loop(Mapping::sequential, "slot", Affine::of("window_columns"), Role::none,
                               {define("k", entry, ScalarType::u32), rows})};
  return sequential_loop("window", Affine::of("part"), Affine::of("windows"), Affine::of("panel_warps"), Role::reduction, {slots});
}

}  // namespace

LoopNest stream_windows(const LoopNest& nest, const StreamWindows& directive) {
  const Loop& row = loop_of_role(nest.body, directive.loop, Role::row, directive);
  const Loop* const column = find_loop(nest.body, Role::column);
  const Loop* const reduction = find_loop(nest.body, Role::reduction);
  refuse_if(row.step != Affine(1) || column == nullptr || reduction == nullptr, directive, "the rows are already in panels",
            "stream the nest as it is read, before anything else");
  check_between(directive, "panels", directive.panels, StreamSchedule::max_panels);
  check_between(directive, "warps", directive.warps, StreamSchedule::max_panels / directive.panels, "of a block");

  ThreadNest parts{{mapped_loop(Mapping::grid, "block", Affine::of("blocks"), Role::row)}, {}, {}};
  parts.add_warps("place", "block_panels", Role::row);
  parts.add_warps("part", "panel_warps", Role::reduction);
  const std::int64_t window_columns = StreamSchedule::window_columns(bytes_of(nest.element()));
  const auto& product = std::get<Statement>(reduction->body.front().content);
  parts.body = {define("panel", index("block") * index("block_panels") + index("place"), ScalarType::u32),
                window_loop(product, directive.warps > 1, column->upper)};

  LoopNest result = put_together(nest, parts);
  result.constants.push_back({"panel_height", StreamSchedule::panel_height, "rows of a panel, as the tensor core multiplies them"});
  result.constants.push_back({"block_panels", directive.panels, "panels: panels of a block"});
  result.constants.push_back({"panel_warps", directive.warps, "warps: warps that share the columns of a panel"});
  result.constants.push_back({"window_columns", window_columns, "columns of A that are taken at once"});
  result.constants.push_back({"threads_per_block", 32 * index("block_panels") * index("panel_warps"), ""});
  result.derived_sizes.push_back({"blocks", row.upper, std::int64_t{StreamSchedule::panel_height} * directive.panels});
  result.derived_sizes.push_back({"windows", reduction->upper, window_columns});
  result.zeroed = Zeroed::output;
  result.story.push_back(fmt::format(
      "16 consecutive rows of A are a row panel, {} consecutive columns a window. A thread block owns whole panels and goes through all "
      "windows, so that it stores C once and needs no sums of others; the warps of a panel take windows in turn.",
      window_columns));
  return result;
}

}  // namespace esc
