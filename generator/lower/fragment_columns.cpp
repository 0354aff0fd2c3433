// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/fragment_columns.h"

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

/// The row and the first of the two columns of C whose sums are number 2 * e and 2 * e + 1 of a lane.
Node row_of_sums() {
  return define("i", index("panel") * index("panel_height") + remainder(index("e"), 2) * index("row_pairs") + index("row_pair"), ScalarType::u32);
}
Node column_of_sums() {
  return define("j", index("tile") * index("tile_columns") + quotient(index("e"), 2) * 8 + index("pair") * 2, ScalarType::u32);
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

/// Four sums of a lane stand beside those of the other lanes.
Affine place_of_partial() { return Affine::of("place_of_lane") + Affine::of("t", 128); }

Access partial_sums(const Affine& part) { return element("partial_sums", {part, place_of_partial()}); }

Access four_sums() { return element("sums", {Affine::of("t", 4)}); }

Node each_four(Node node) { return unrolled_loop("t", "column_eighths", Role::none, {std::move(node)}); }

Block share_sums_of_warps() {
  const Expression lane = index("row_pair") * index("column_pairs") + index("pair");
  const Node place = define("place_of_lane", index("place") * index("column_eighths") * 128 + lane * 4);
  const Node leave = each_four(perform("store_vector", {partial_sums(Affine::of("part") - 1), four_sums(), 4}));
  return {place, Node{Branch{less(0, index("part")), {leave}, {}}}, Node{Barrier{Scope::block}}};
}

Node add_sums_of_warps() {
  Loop others = mapped_loop(Mapping::unrolled, "other", Affine::of("panel_warps"), Role::none,
                            {each_four(perform("add_vector", {four_sums(), partial_sums(Affine::of("other") - 1), 4}))});
  others.lower = 1;
  return Node{std::move(others)};
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
  const bool shared = nest.constant("panel_warps") > 1;
  if (shared) {
    append(parts.body, share_sums_of_warps());
  }
  Block rest;
  if (shared) {
    rest.push_back(add_sums_of_warps());
  }
  rest.push_back(store_sums());
  append(parts.body, shared ? Block{Node{Branch{less(index("part"), 1), rest, {}}}} : rest);
  parts.grid.push_back(mapped_loop(Mapping::grid_y, "tile", Affine::of("tiles"), Role::column));
  parts.add_lanes("pair", "column_pairs", Role::column);
  parts.add_lanes("row_pair", "row_pairs", Role::row);

  LoopNest result = put_together(nest, parts);
  result.constants.push_back({"tile_columns", directive.columns, "columns: columns of C that a block computes"});
  result.constants.push_back({"vector_width", 16 / bytes_of(nest.element()), "consecutive elements of B that are copied at once"});
  result.constants.push_back({"row_pairs", 8, "lane 4 g + c of a warp has rows g and g + 8 of a panel"});
  result.constants.push_back({"column_pairs", 4, "and columns 2 c and 2 c + 1 of every 8"});
  result.constants.push_back({"column_eighths", quotient(index("tile_columns"), 8), ""});
  result.constants.push_back({"row_vectors", 2 * index("column_eighths"), "pairs of consecutive sums of a lane"});
  result.constants.push_back({"lane_sums", 2 * index("row_vectors"), ""});
  result.derived_sizes.push_back({"tiles", column->upper, directive.columns});
  result.arrays.push_back({"sums", {Affine::of("lane_sums")}, ArrayRole::registers, nest.sum()});
  if (shared) {
    result.constants.push_back({"other_warps", index("panel_warps") - 1, ""});
    result.constants.push_back({"block_sums", index("block_panels") * index("column_eighths") * 128, "of each warp of all panels"});
    result.arrays.push_back({"partial_sums", {Affine::of("other_warps"), Affine::of("block_sums")}, ArrayRole::shared, nest.sum()});
    result.story.emplace_back("In the end their sums are added in shared memory.");
  }
  result.zeroed = Zeroed::nothing;
  result.vectors = true;
  return result;
}

}  // namespace esc
