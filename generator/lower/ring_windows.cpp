// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/ring_windows.h"

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
Block find_list(const Expression& list) { return {find_begin("begin", list), find_begin("behind", list + 1)}; }
Expression first_list() { return index("block") * index("windows"); }

Expression lane_of_warp() { return index("place") * index("group_lanes") + index("lane"); }

Node copy_lists(const Expression& turn) {
  std::vector<Expression> arguments;
  for (const std::string& array : list_arrays()) {
    arguments.push_back(element(array));
  }
  for (const std::string& array : list_arrays()) {
    arguments.push_back(element(staged_name(array)));
  }
  arguments.insert(arguments.end(), {index("block"), turn, lane_of_warp(), index("begin"), index("behind")});
  return perform("copy_lists", std::move(arguments));
}

Node copy_rows(const Expression& turn) {
  return perform("copy_rows",
                 {element("B"), element("StagedB"), turn, index("tile"), lane_of_warp(), index("K"), index("N")});
}

/// The lists of the first turn are there whatever the kernel in front does.
Node ask_early() {
  Block body = find_list(first_list());
  body.push_back(copy_lists(0));
  return of_those_who_serve(std::move(body));
}

/// Where the lists are is found out before there is room for them.
Node ask_for_turn() {
  const Expression turn = index("window");
  Block body = find_list(first_list() + turn);
  append(body,
         {perform("wait_for_release", {turn}), Node{Branch{less(0, turn), {copy_lists(turn)}, {}}}, copy_rows(turn)});
  return of_those_who_serve(std::move(body));
}

Node multiply_turn() {
  const Expression turn = index("window");
  return of_those_who_multiply(
      {perform("wait_for_turn", {turn}),
       perform("multiply_gathered",
               {element("StagedListSteps"), element("StagedListColumns"), element("StagedListValues"),
                element("StagedB"), turn, index("set"), index("place"), index("lane"), element("sums")}),
       perform("release_turn", {turn})});
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

LoopNest ring_windows(const LoopNest& nest, const PipelineWindows& directive) {
  refuse_if(nest.find_array("StagedB") != nullptr, directive, "the windows are copied already", "pipeline once");
  refuse_if(
      directive.stages != GatherSchedule::stages, directive,
      "lists name places of a ring of four windows: the one before, the own one, the one behind, and one that comes",
      "the nearest legal value is 4");
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  auto windows = std::get<Loop>(parts.body[at].content);
  windows.body = {ask_for_turn(), Node{Barrier{Scope::team}}, multiply_turn()};
  parts.body[at] = Node{std::move(windows)};
  parts.body[at + 1] = of_those_who_multiply({parts.body[at + 1]});
  insert(parts.body, at, {perform("make_ring_barriers", {index("thread")}), Node{Barrier{Scope::block}}, ask_early()});
  add_serving_warp(parts);

  LoopNest result = put_together(nest, parts);
  result.team = "part";
  result.constants.push_back(
      {"stages", directive.stages,
       "windows in shared memory: the one before, the own one, the one behind, and one on its way"});
  result.constants.push_back(
      {"list_stages", GatherSchedule::list_stages, "turns whose lists are there or on their way"});
  const auto threads = std::ranges::find(result.constants, "threads_per_block", &NamedConstant::name);
  threads->value = 32 * index("block_warps");
  result.constants.insert(threads, {{"roles", 2, "warps that multiply, and one that asks for what they do"},
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
                    {Affine::of("stages"), Affine::of("window_columns"), Affine::of("tile_columns")},
                    ArrayRole::shared,
                    nest.element(),
                    "window"});
  // In front of the sums, as in the memory of the block.
  result.arrays.insert(result.arrays.begin(), staged.begin(), staged.end());
  result.story.emplace_back(
      "Rows of B are gathered from shared memory, which gives 128 bytes a cycle wherever they stand, and where all "
      "rows of a block find each that they share. A warp of its own asks for what a turn multiplies, in bulk: the "
      "lists "
      "of the block for a window, and the window behind. Warps wait for that and tell when they have multiplied it, "
      "and "
      "for nothing else: none waits for another one that multiplies.");
  return result;
}

}  // namespace esc
