// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/ring_windows.h"

#include <utility>
#include <vector>

#include "generator/ir/build.h"
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

Expression lane_of_warp() { return index("place") * index("group_lanes") + index("lane"); }

/// Asks for the lists of a window, each warp for its own.
Node copy_list(const Expression& window, const Expression& stage) {
  std::vector<Expression> arguments;
  for (const std::string& array : list_arrays()) {
    arguments.push_back(element(array));
  }
  for (const std::string& array : list_arrays()) {
    arguments.push_back(element(staged_name(array)));
  }
  arguments.insert(arguments.end(), {index("block"), window, stage, index("set"), lane_of_warp()});
  return perform("copy_list", std::move(arguments));
}

/// And for its rows of B, the whole block.
Node copy_rows(const Expression& window, const Expression& stage) {
  return perform("copy_rows", {element("B"), element("StagedB"), window, stage, index("tile"), index("thread"),
                               index("K"), index("N")});
}

Node if_there(const Expression& window, Block body) {
  return Node{Branch{less(window, index("windows")), std::move(body), {}}};
}

Node wait_for_window(const Expression& window) {
  return perform("wait_for_window", {window, remainder(window, index("stages"))});
}

/// What a window's turn does: when it begins, everybody is done with the window two before, whose place is the one two
/// behind.
Block turn_of_window() {
  const Expression next = index("window") + 1;
  return {perform("wait_for_stage", {0}),
          Node{Barrier{Scope::block}},
          define("ahead", index("window") + index("early_stages"), ScalarType::u32),
          define("stage_ahead", remainder(index("ahead"), index("stages"))),
          if_there(index("ahead"),
                   {copy_list(index("ahead"), index("stage_ahead")), copy_rows(index("ahead"), index("stage_ahead"))}),
          commit_copies(),
          Node{Branch{less(index("window"), 1), {wait_for_window(0)}, {}}},
          if_there(next, {wait_for_window(next)}),
          define("stage", remainder(index("window"), index("stages"))),
          perform("multiply_gathered",
                  {element("StagedListSteps", {Affine::of("stage")}),
                   element("StagedListColumns", {Affine::of("stage"), Affine::of("set")}),
                   element("StagedListValues", {Affine::of("stage"), Affine::of("set")}), element("StagedB"),
                   index("place"), index("lane"), element("sums"), index("stage"), index("set")})};
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
  windows.body = turn_of_window();
  parts.body[at] = Node{std::move(windows)};
  insert(parts.body, at,
         {perform("make_window_barriers", {index("thread")}), Node{Barrier{Scope::block}},
          Node{Note{"What the first windows take. Their lists are there whatever the kernel in front does."}},
          early_loop({if_there(index("s"), {copy_list(index("s"), index("s"))})}),
          early_loop({if_there(index("s"), {copy_rows(index("s"), index("s"))}), commit_copies()})});

  LoopNest result = put_together(nest, parts);
  result.constants.push_back(
      {"stages", directive.stages,
       "windows in shared memory: the one before, the own one, the one behind, and one on its way"});
  result.constants.push_back({"early_stages", index("stages") - 2, ""});
  result.constants.push_back({"turn_windows", 1, "windows of a turn"});
  std::vector<ArrayDeclaration> staged;
  for (const std::string& array : list_arrays()) {
    ArrayDeclaration copy = *nest.find_array(array);
    copy.name = staged_name(array);
    copy.extents.erase(copy.extents.begin());
    copy.extents.front() = Affine::of("stages");
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
      "rows of a block find each that they share. Both operands are copied there past the "
      "registers, two windows ahead of their use: from compute capability 9.0 on in bulk, a list or a window each, "
      "which one thread asks for.");
  return result;
}

}  // namespace esc
