// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/ring_k_tiles.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/ir/roles.h"
#include "generator/lower/refusals.h"
#include "generator/lower/staged_copies.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/gather_schedule.h"

namespace esc {
namespace {

const std::vector<std::string>& list_arrays() {
  static const std::vector<std::string> names{"ListSteps", "ListColumns", "ListValues"};
  return names;
}

Node find_begin(const char* result, const Expression& list) {
  return perform("list_begin", {element("ListBegins"), list}, {result});
}

/// Finds out where a block's list begins and ends.
Block find_list(const Expression& list) { return {find_begin("begin", list), find_begin("end", list + 1)}; }
Expression first_list() { return index("block") * index("k_tiles"); }

Expression lane_of_warp() { return index("place") * index("group_lanes") + index("lane"); }

Node copy_lists(const Expression& iteration) {
  std::vector<Expression> arguments;
  for (const std::string& array : list_arrays()) {
    arguments.push_back(element(array));
  }
  for (const std::string& array : list_arrays()) {
    arguments.push_back(element(staged_name(array)));
  }
  arguments.insert(arguments.end(), {index("block"), iteration, lane_of_warp(), index("begin"), index("end")});
  return perform("copy_lists", std::move(arguments));
}

Node copy_rows(const Expression& iteration) {
  return perform("copy_rows",
                 {element("B"), element("StagedB"), iteration, index("tile"), lane_of_warp(), index("K"), index("N")});
}

/// The lists of the first iteration are there whatever the previous kernel does.
Node ask_early() {
  Block body = find_list(first_list());
  body.push_back(copy_lists(0));
  return of_those_who_serve(std::move(body));
}

/// Where the lists are is found out before there is room for them.
Node ask_for_iteration() {
  const Expression iteration = index("k_tile");
  Block body = find_list(first_list() + iteration);
  append(body, {perform("wait_for_release", {iteration}), Node{Branch{less(0, iteration), {copy_lists(iteration)}, {}}},
                copy_rows(iteration)});
  return of_those_who_serve(std::move(body));
}

Node multiply_iteration() {
  const Expression iteration = index("k_tile");
  return of_those_who_multiply(
      {perform("wait_for_iteration", {iteration}),
       perform("multiply_gathered",
               {element("StagedListSteps"), element("StagedListColumns"), element("StagedListValues"),
                element("StagedB"), iteration, index("set"), index("place"), index("lane"), element("sums")}),
       perform("release_iteration", {iteration})});
}

/// Warps of the block's rows, and one more.
void add_serving_warp(ThreadNest& parts) {
  const auto sets = std::ranges::find(parts.threads, "set", &Loop::iterator);
  sets->iterator = "warp_of_block";
  sets->upper = Affine::of("block_warps");
  insert(parts.body, 0,
         {define("role", quotient(index("warp_of_block"), index("block_sets"))),
          define("set", remainder(index("warp_of_block"), index("block_sets")))});
}

}  // namespace

LoopNest ring_k_tiles(const LoopNest& nest, const PipelineKTiles& directive) {
  refuse_if(nest.find_array("StagedB") != nullptr, directive, "the K tiles are copied already", "pipeline once");
  refuse_if(directive.stages != GatherSchedule::stages, directive,
            "lists name rows of a ring of four K tiles: the previous one, the current one, the next one, and one that "
            "is being copied",
            "the nearest legal value is 4");
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  auto k_tiles = std::get<Loop>(parts.body[at].content);
  k_tiles.body = {ask_for_iteration(), Node{Barrier{Scope::consumer_group}}, multiply_iteration()};
  parts.body[at] = Node{std::move(k_tiles)};
  parts.body[at + 1] = of_those_who_multiply({parts.body[at + 1]});
  insert(parts.body, at, {perform("make_ring_barriers", {index("thread")}), Node{Barrier{Scope::block}}, ask_early()});
  add_serving_warp(parts);

  LoopNest result = put_together(nest, parts);
  result.consumer_group = "part";
  result.constants.push_back(
      {"stages", directive.stages,
       "K tiles in shared memory: the previous one, the current one, the next one, and one on its way"});
  result.constants.push_back(
      {"list_stages", GatherSchedule::list_stages, "iterations whose lists are there or on their way"});
  const auto threads = std::ranges::find(result.constants, "threads_per_block", &NamedConstant::name);
  threads->value = 32 * index("block_warps");
  result.constants.insert(threads, {{"roles", 2, "consumer warps, and one producer warp"},
                                    {"block_warps", index("block_sets") + index("roles") - 1, ""}});
  std::vector<ArrayDeclaration> staged;
  for (const std::string& array : list_arrays()) {
    ArrayDeclaration copy = *nest.find_array(array);
    copy.name = staged_name(array);
    copy.extents.erase(copy.extents.begin());
    copy.extents.front() = Affine::of("list_stages");
    copy.role = ArrayRole::shared;
    copy.record = "list";
    staged.push_back(std::move(copy));
  }
  staged.push_back({"StagedB",
                    {Affine::of("stages"), Affine::of("k_tile_columns"), Affine::of("tile_columns")},
                    ArrayRole::shared,
                    nest.element(),
                    "k_tile"});
  // Before the sums, as in the memory of the block.
  result.arrays.insert(result.arrays.begin(), staged.begin(), staged.end());
  result.description.emplace_back(
      "Rows of B are gathered from shared memory, which delivers 128 bytes a cycle wherever the rows are, and where "
      "all rows of a block share them. A producer warp issues the bulk copies of an iteration: the lists of the block "
      "for a K tile, and the next K tile. The consumer warps wait for these copies and signal when they have "
      "multiplied them; they wait for nothing else, and not for each other.");
  return result;
}

}  // namespace esc
