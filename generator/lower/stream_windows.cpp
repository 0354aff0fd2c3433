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
Node window_loop(const Statement& product, bool shared, int share, const Affine& columns) {
  Statement own = product;
  std::get<Update>(own.action).atomic = shared;
  own.guard.insert(own.guard.begin(), {less(index("i"), index("M")), less(index("k"), index("K"))});
  Loop column{"j", 0, columns, 1, Role::column, Mapping::sequential, {Node{std::move(own)}}};
  const Expression row = index("panel") * index("panel_height") + index("u");
  const Expression entry = index("window") * index("window_columns") + index("slot");
  const Node rows{mapped_loop(Mapping::sequential, "u", Affine::of("panel_height"), Role::none,
                              {define("i", row, ScalarType::u32), Node{std::move(column)}})};
  Loop slots = mapped_loop(Mapping::sequential, "slot", Affine::of("window_columns"), Role::none,
                           {define("k", entry, ScalarType::u32), rows});
  if (share > 1) {
    slots.lower = Affine::of("member");
    slots.step = Affine::of("window_warps");
  }
  return sequential_loop("window", Affine::of("part"), Affine::of("windows"), Affine::of("turn_windows"),
                         Role::reduction, {Node{std::move(slots)}});
}

}  // namespace

LoopNest stream_windows(const LoopNest& nest, const StreamWindows& directive) {
  const Loop& row = loop_of_role(nest.body, directive.loop, Role::row, directive);
  const Loop* const column = find_loop(nest.body, Role::column);
  const Loop* const reduction = find_loop(nest.body, Role::reduction);
  const auto* const product = reduction == nullptr || reduction->body.size() != 1
                                  ? nullptr
                                  : std::get_if<Statement>(&reduction->body.front().content);
  refuse_if(row.step != Affine(1) || column == nullptr || product == nullptr, directive,
            "the rows are already in panels, or enumerated", "stream the nest as it is read, before anything else");
  check_between(directive, "panels", directive.panels, StreamSchedule::max_panels);
  check_between(directive, "warps", directive.warps, StreamSchedule::max_panels / directive.panels, "of a block");
  refuse_if(
      directive.share < 1 || directive.share > StreamSchedule::max_share || directive.warps % directive.share != 0,
      directive,
      fmt::format("warps={} cannot be dealt to windows with share={} each", directive.warps, directive.share),
      fmt::format("write a divisor of the warps, {} at most", StreamSchedule::max_share));
  const int most_rows = directive.window == 0 ? StreamSchedule::max_rows : StreamSchedule::max_placed_rows;
  refuse_if(directive.rows < StreamSchedule::strip_rows || directive.rows > most_rows ||
                directive.rows % StreamSchedule::strip_rows != 0,
            directive, fmt::format("rows={} is no panel of the tensor core", directive.rows),
            fmt::format("it multiplies {} rows at once: write a multiple of {}, {} at most", StreamSchedule::strip_rows,
                        StreamSchedule::strip_rows, most_rows));
  refuse_if(
      directive.window != 0 && directive.window != StreamSchedule::placed_columns, directive,
      fmt::format("tile_k={} is none that values are stored for", directive.window),
      fmt::format("leave it out, or write tile_k={} before transform(A, decompress)", StreamSchedule::placed_columns));

  ThreadNest parts{{mapped_loop(Mapping::grid, "block", Affine::of("blocks"), Role::row)}, {}, {}};
  parts.add_warps("place", "block_panels", Role::row);
  const bool beside_each_other =
      directive.window != 0;  // warps that multiply the same windows, of which the tensor core takes four that are
  if (!beside_each_other) {
    parts.add_warps("part", "turn_windows", Role::reduction);
  }
  if (directive.share > 1) {
    parts.add_warps("member", "window_warps", Role::reduction);
  }
  if (beside_each_other) {
    parts.add_warps("part", "turn_windows", Role::reduction);
  }
  const std::int64_t window_columns =
      directive.window != 0 ? directive.window : StreamSchedule::window_columns(bytes_of(nest.element()));
  parts.body = {define("panel", index("block") * index("block_panels") + index("place"), ScalarType::u32),
                window_loop(*product, directive.warps > 1, directive.share, column->upper)};

  LoopNest result = put_together(nest, parts);
  result.constants.push_back(
      {"panel_height", directive.rows, "rows of a panel, of which the tensor core multiplies 16 at once"});
  result.constants.push_back({"block_panels", directive.panels, "panels: panels of a block"});
  result.constants.push_back(
      {"turn_windows", directive.warps / directive.share, "warps: windows that the warps of a panel take in a turn"});
  if (directive.share > 1) {
    result.constants.push_back({"window_warps", directive.share, "share: warps of a panel that share a window"});
  }
  result.constants.push_back({"window_columns", window_columns, "columns of A that are taken at once"});
  const Expression warps = directive.share > 1 ? index("turn_windows") * index("window_warps") : index("turn_windows");
  result.constants.push_back({"threads_per_block", 32 * index("block_panels") * warps, ""});
  result.constants.push_back({"team_threads", quotient(index("threads_per_block"), index("turn_windows")),
                              "of the warps that multiply the same windows"});
  result.derived_sizes.push_back({"blocks", row.upper, std::int64_t{directive.rows} * directive.panels});
  result.derived_sizes.push_back({"windows", reduction->upper, window_columns});
  result.zeroed = Zeroed::output;
  result.story.push_back(fmt::format(
      "{} consecutive rows of A are a row panel, {} consecutive columns a window. A thread block owns whole panels and "
      "goes through all "
      "windows, so that it stores C once and needs no sums of others; the warps of a panel take windows in turn.",
      directive.rows, window_columns));
  return result;
}

std::int64_t panel_warps(const LoopNest& nest) {
  return nest.constant("threads_per_block") / (32 * nest.constant("block_panels"));
}

bool shares_windows(const LoopNest& nest) { return nest.has_constant("window_warps"); }

bool waits_in_teams(const LoopNest& nest) {
  constexpr std::int64_t most_teams = 15;
  const std::int64_t teams = nest.constant("turn_windows");
  return teams > 1 && teams <= most_teams;
}

}  // namespace esc
