// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/batch_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/pack_regions.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/panel_schedule.h"
#include "generator/schedule/rows_schedule.h"

namespace esc {
namespace {

/// A packet for each of those at once, zero where the row tile has no more.
Node load_packets(const Access& packet) {
  const Expression ahead = index("q") * index("cyclic_packets");
  const Node load = perform("load_packet", {packet, element("Columns"), element("Values"), index("first_of_row_tile"),
                                            index("here"), ahead, index("packets") - index("left") + ahead});
  return unrolled_loop("q", "packets_at_once", Role::none,
                       {perform("clear_packet", {packet}), Node{Branch{less(ahead, index("left")), {load}, {}}}});
}

/// The rounds of a warp's lane groups over the packets of a row tile, in place of a loop over them.
void batch_packets(LoopNest& nest, ThreadNest& parts, std::size_t at, const BatchColumns& directive) {
  const int most = PanelSchedule::max_ufk;
  refuse_if(
      directive.factor < packet_columns || directive.factor > most || directive.factor % packet_columns != 0, directive,
      fmt::format("{} is not a multiple of {} from {} to {}", directive.factor, packet_columns, packet_columns, most),
      nearest(std::clamp(directive.factor / packet_columns * packet_columns, packet_columns, most)));
  const Access packet = element("current", {Affine::of("q")});
  const Node multiply = perform("multiply_packet", {packet, element("B"), element("columns"), element("sums")});
  parts.body[at] = sequential_loop(
      "packet", Affine::of("warp_first"), Affine::of("packets"), Affine::of("round_packets"), Role::reduction,
      {Node{Declare{"current", true}}, load_packets(packet), statement(Update{Name{"here"}, index("round_packets")}),
       statement(Update{Name{"left"}, Affine::of("round_packets", -1)}),
       unrolled_loop("q", "packets_at_once", Role::none, {multiply})});
  const Expression own_first = index("warp_first") + index("group");
  insert(parts.body, find_opening(parts.body),
         {perform("find_packet", {index("first_of_row_tile"), own_first}, {"here"}),
          statement(Define{ScalarType::i32, "left", index("packets") - own_first, true})});
  nest.constants.push_back({"packets_at_once", directive.factor / packet_columns,
                            fmt::format("unroll_k / {}: packets that a lane group has in flight", packet_columns)});
  nest.constants.push_back({"round_packets", index("packets_at_once") * index("cyclic_packets"), ""});
  nest.arrays.push_back(
      {"current",
       {Affine::of("packets_at_once"), Affine::of("row_tile_height", packet_columns) + packet_columns},
       ArrayRole::registers,
       nest.element(),
       "Packet"});
}

/// The loop over the non-zeros of a task, several at a time.
void batch_task(LoopNest& nest, ThreadNest& parts, std::size_t at, const BatchColumns& directive) {
  check_between(directive, "unroll_k", directive.factor, RowsSchedule::max_unroll);
  const std::int64_t width = nest.constant("vector_width");
  refuse_if(
      directive.factor * width > RowsSchedule::max_parts, directive,
      fmt::format("{} non-zeros times {} columns are more elements of B than the {} that a lane has registers for",
                  directive.factor, width, RowsSchedule::max_parts),
      nearest(RowsSchedule::max_parts / width));
  Loop pairs = std::get<Loop>(parts.body[at].content);
  pairs.step = Affine::of("step");
  pairs.body = {Node{Declare{"current"}},
                perform("load_pairs", {element("current"), element("Columns"), element("Values"), index("first"),
                                       index(pairs.iterator), index("stride"), index("length")}),
                perform("multiply_pairs", {element("current"), element("B"), element("columns"), element("sums")})};
  parts.body[at] = Node{std::move(pairs)};
  insert(parts.body, at, {define("step", index("stride") * index("pairs_at_once"), ScalarType::u32)});
  nest.constants.push_back({"pairs_at_once", directive.factor, "unroll_k: non-zeros that a lane group has in flight"});
  nest.arrays.push_back({"current", {Affine::of("pairs_at_once", 2)}, ArrayRole::registers, nest.element(), "Pairs"});
}

/// The column of A that a loop takes in an iteration.
const std::string& column_of(const Loop& loop) {
  const auto* steps = std::get_if<Loop>(&loop.body.front().content);
  return steps != nullptr ? column_of(*steps) : action<Define>(loop.body.front())->name;
}

}  // namespace

LoopNest batch_columns(const LoopNest& nest, const BatchColumns& directive) {
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  refuse_if(!nest.vectors || at == parts.body.size(), directive, "rows of B are not loaded in parts",
            "vectorize the columns of C first");
  refuse_if(nest.find_array("current") != nullptr, directive, "columns of A are already taken several at a time",
            "batch once");
  refuse_if(column_of(std::get<Loop>(parts.body[at].content)) != directive.loop, directive,
            fmt::format("there is no loop over columns '{}' of A", directive.loop), "name the reduction loop");
  const bool regions = nest.packed.kind == PackedForm::Kind::regions;
  refuse_if(!regions && nest.packed.kind != PackedForm::Kind::tasks, directive,
            "the sparse array is stored neither in regions nor in tasks", "transform it into regions or tasks first");
  LoopNest result = nest;
  regions ? batch_packets(result, parts, at, directive) : batch_task(result, parts, at, directive);
  return put_together(result, parts);
}

}  // namespace esc
