// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/fragment_columns.h"

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/refusals.h"
#include "generator/lower/stream_windows.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

/// The row and the first of the two columns of C whose sums are number 2 * e and 2 * e + 1 of a lane.
Node row_of_sums() {
  return define("i", index("panel") * index("panel_height") + remainder(index("e"), index("lane_rows")) * index("row_sets") + index("row_set"), ScalarType::u32);
}
Node column_of_sums() {
  return define("j", index("tile") * index("tile_columns") + quotient(index("e"), index("lane_rows")) * 8 + index("pair") * 2, ScalarType::u32);
}

/// The updates of a slot, each for a lane's own elements of C.
Block own_updates(const Loop& column) {
  return rewrite(column.body, {.statement = [&](const Statement& statement) -> Block {
                   Statement copy = substitute(statement, column.iterator, Affine::of(column.iterator) + Affine::of("v"));
                   auto& update = std::get<Update>(copy.action);
                   copy.guard.insert(copy.guard.begin(), less(Affine::of("j") + Affine::of("v"), column.upper));
                   update = {element("sums", {Affine::of("e", 2) + Affine::of("v")}), update.value, false};
                   return {row_of_sums(), column_of_sums(), Node{mapped_loop(Mapping::unrolled, "v", 2, Role::column, {Node{std::move(copy)}})}};
                 }});
}

Block share_sums_of_warps(const LoopNest& nest) {
  const bool has_digits = shares_windows(nest);
  const char* const worker = has_digits ? "worker" : "part";
  const Node leave = each_four(perform("store_vector", {left_sums("partial_sums", Affine::of(worker) - 1), four_sums(), 4}));
  Block leaving = has_digits ? Block{define(worker, number_of_warp(nest))} : Block{};
  leaving.push_back(leave);
  return {define_place_of_lane(), Node{Branch{less(0, number_of_warp(nest)), std::move(leaving), {}}}, Node{Barrier{Scope::block}}};
}

Node store_sums() {
  const Perform store{"store_columns",
                      {element("C", {Affine::of("i"), Affine::of("j")}), element("sums", {Affine::of("e", 2)}), 2,
                       choose(less(index("j"), index("N")), index("N") - index("j"), 0)}};
  return unrolled_loop("e", "row_vectors", Role::none, {row_of_sums(), column_of_sums(), Node{Statement{{less(index("i"), index("M"))}, store}}});
}

}  // namespace

LoopNest fragment_columns(const LoopNest& nest, const FragmentColumns& directive) {
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  const Loop* const column = find_loop(nest.body, Role::column);
  const Loop* const rows = find_loop(nest.body, "u");
  refuse_if(parts.thread("part") == nullptr || at == parts.body.size() || column == nullptr || rows == nullptr ||
                column->iterator != directive.loop || nest.find_array("sums") != nullptr,
            directive, "the nest has no windows whose panels are multiplied", "stream the rows first: stream(i, panels=4, warps=2)");
  check_between(directive, "columns", directive.columns, StreamSchedule::max_columns);
  check_power_of_two(directive, "columns", directive.columns);
  refuse_if(directive.columns < 8, directive, "the tensor core multiplies 8 columns at least", nearest(8));

  const Node own = unrolled_loop("e", "row_vectors", Role::none, own_updates(*column));
  parts.body[at] = Node{std::get<Loop>(replace_loop({parts.body[at]}, "u", own).front().content)};
  insert(parts.body, at, {Node{Declare{"sums", true}}});
  const bool shared = panel_warps(nest) > 1;
  if (shared) {
    append(parts.body, share_sums_of_warps(nest));
  }
  Block rest;
  if (shared) {
    rest.push_back(add_left_sums("partial_sums", "other_warps"));
  }
  rest.push_back(store_sums());
  append(parts.body, shared ? Block{Node{Branch{less(number_of_warp(nest), 1), rest, {}}}} : rest);
  parts.grid.push_back(mapped_loop(Mapping::grid_y, "tile", Affine::of("tiles"), Role::column));
  parts.add_lanes("pair", "column_pairs", Role::column);
  parts.add_lanes("row_set", "row_sets", Role::row);

  LoopNest result = put_together(nest, parts);
  result.constants.push_back({"tile_columns", directive.columns, "columns: columns of C that a block computes"});
  result.constants.push_back({"vector_width", 16 / bytes_of(nest.element()), "consecutive elements of B that are copied at once"});
  result.constants.push_back({"row_sets", 8, "lane 4 g + c of a warp has rows g, g + 8, .. of a panel"});
  result.constants.push_back({"column_pairs", 4, "and columns 2 c and 2 c + 1 of every 8"});
  result.constants.push_back({"column_eighths", quotient(index("tile_columns"), 8), ""});
  result.constants.push_back({"lane_rows", quotient(index("panel_height"), index("row_sets")), ""});
  result.constants.push_back({"row_vectors", index("lane_rows") * index("column_eighths"), "pairs of consecutive sums of a lane"});
  result.constants.push_back({"lane_sums", 2 * index("row_vectors"), ""});
  result.constants.push_back({"lane_products", quotient(index("lane_sums"), 4), "of the tensor core, which leaves four sums with a lane"});
  result.derived_sizes.push_back({"tiles", column->upper, directive.columns});
  result.arrays.push_back({"sums", {Affine::of("lane_sums")}, ArrayRole::registers, nest.sum()});
  if (shared) {
    result.constants.push_back({"other_warps", quotient(index("threads_per_block"), 32 * index("block_panels")) - 1, "of a panel"});
    declare_left_sums(result, "partial_sums", "other_warps", ArrayRole::shared);
    result.story.emplace_back("In the end their sums are added in shared memory.");
  }
  result.zeroed = Zeroed::nothing;
  result.vectors = true;
  return result;
}

}  // namespace esc
