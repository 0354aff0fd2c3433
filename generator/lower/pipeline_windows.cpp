// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pipeline_windows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/ir/instruction.h"
#include "generator/ir/rewrite.h"
#include "generator/ir/window_patches.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/refusals.h"
#include "generator/lower/staged_copies.h"
#include "generator/lower/stream_windows.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

const std::vector<std::string>& unit_arrays() {
  static const std::vector<std::string> names{"Slots", "Values", "ExtraEnds", "ExtraSlots", "ExtraRows", "ExtraValues"};
  return names;
}

/// Whether this copy of windows takes some through registers: rows whose columns are no whole vectors.
bool holds_rows(std::string_view copy) { return copy == "stage_windows"; }

/// Asks for what a warp reads of A in a turn, and for what a thread copies of the rows of B for it.
Node stage_unit(const Expression& turn, const Expression& stage) {
  std::vector<Expression> arguments;
  for (const std::string& array : unit_arrays()) {
    arguments.push_back(element(array));
  }
  for (const std::string& array : unit_arrays()) {
    arguments.push_back(element(staged_name(array)));
  }
  arguments.insert(arguments.end(), {index("first_round"), index("rounds"), index("rotation"), turn, stage,
                                     index("part"), index("place"), index("lane")});
  return perform("stage_unit", std::move(arguments));
}

Node stage_windows(const char* instruction, const Expression& turn, const Expression& stage) {
  std::vector<Expression> arguments{element("B"),
                                    element("Windows"),
                                    element("StagedB"),
                                    index("first_round"),
                                    index("rounds"),
                                    index("rotation"),
                                    turn,
                                    stage,
                                    index("part"),
                                    index("tile"),
                                    index("team_thread"),
                                    index("K"),
                                    index("N")};
  if (holds_rows(instruction)) {
    arguments.insert(arguments.begin(), element("held"));
  }
  return perform(instruction, std::move(arguments));
}

/// Stores what a thread has asked for of the windows of a turn and had to hold in registers.
Node store_held(const Expression& turn, const Expression& stage, Guard guard = {}) {
  return Node{Statement{
      std::move(guard),
      Perform{"store_held", {element("held"), index("rounds"), turn, stage, index("part"), index("team_thread")}, {}}}};
}

/// A warp's window of B into its registers and, in rows, from there to shared memory.
Node load_window(const Expression& turn) {
  return perform("load_window",
                 {element("fetched"), element("B"), element("Windows"), index("first_round"), index("rounds"),
                  index("rotation"), turn, index("tile"), index("copy"), index("lane"), index("K"), index("N")});
}
Node transpose_window(const Expression& turn, const Expression& stage) {
  return perform("transpose_window",
                 {element("fetched"), element("StagedB"), index("rounds"), turn, stage, index("copy"), index("lane")});
}

/// Which instruction copies windows as they are.
const char* copy_of_windows(const LoopNest& nest) {
  const std::optional<Layout>& layout = nest.array(ArrayRole::dense).layout;
  return has_one_column(nest)           ? "stage_columns"
         : !layout                      ? "stage_windows"
         : has_contiguous_rows(*layout) ? "stage_columns"
         : window_patches(nest)         ? "stage_patches"
                                        : "stage_elements";
}

/// Asks for both operands of the first turns, and for those of a later one behind the barrier of each, in front of
/// which it stores what was held since the last.
struct Copies {
  Block first;
  Block held;
  Block ahead;
  const char* window_stage;  ///< which copy of the windows a turn multiplies
};

Block ahead_of(Block copies) {
  const Expression ahead = index("turn") + index("early_stages");
  Block result{define("ahead", ahead, ScalarType::u32),
               define("stage_ahead", remainder(index("ahead"), index("stages")))};
  append(result, copies);
  return result;
}

/// Where B lies in rows, or where its elements are read one by one, windows are copied as they are, as many turns ahead
/// as units.
Copies copied_windows(const char* instruction) {
  Block early{stage_windows(instruction, index("s"), index("s")), commit_copies()};
  Block first{early_loop({stage_unit(index("s"), index("s"))})};
  Block held;
  if (holds_rows(instruction)) {
    const Expression last = index("turn") + index("early_stages") - 1;
    early.insert(early.begin(), store_held(index("s") - 1, index("s") - 1, {less(0, index("s"))}));
    first.push_back(Node{Declare{"held"}});
    held = {store_held(last, remainder(last, index("stages")))};
  }
  first.push_back(early_loop(std::move(early)));
  return {std::move(first), std::move(held),
          ahead_of({stage_unit(index("ahead"), index("stage_ahead")),
                    stage_windows(instruction, index("ahead"), index("stage_ahead")), commit_copies()}),
          "stage"};
}

/// Where it lies in another way, they go through registers, which one turn later is early enough: what is on its way in
/// one turn is stored in the next and multiplied in the one after. So the barrier of each turn stands between who
/// stores a window and who reads it, and between who reads one and who stores another in its place.
Copies transposed_windows() {
  const Expression next = index("turn") + 1;
  Copies copies{{early_loop({stage_unit(index("s"), index("s")), commit_copies()}), Node{Declare{"fetched"}},
                 load_window(0), transpose_window(0, 0), load_window(1)},
                {},
                ahead_of({stage_unit(index("ahead"), index("stage_ahead")), commit_copies()}),
                "window_stage"};
  append(copies.ahead, {transpose_window(next, remainder(next, index("window_stages"))), load_window(index("turn") + 2),
                        define("window_stage", remainder(index("turn"), index("window_stages")))});
  return copies;
}

/// What a warp does for its unit or window is done by one of those that share it.
Block once_for_window(const LoopNest& nest, const Block& block) {
  if (!shares_windows(nest)) {
    return block;
  }
  constexpr std::array names{"stage_unit", "load_window", "transpose_window"};
  return rewrite(block, {.statement = [&](const Statement& statement) -> Block {
                   const auto* perform = std::get_if<Perform>(&statement.action);
                   Statement guarded = statement;
                   if (perform != nullptr && std::ranges::find(names, perform->instruction) != names.end()) {
                     guarded.guard.push_back(less(index("member"), 1));
                   }
                   return {Node{std::move(guarded)}};
                 }});
}

/// The products of a turn with operands in shared memory.
Block from_shared_memory(const Block& block, const std::string& window_stage) {
  Block result = rewrite(block, {.statement = [&](const Statement& statement) -> Block {
                           const auto* perform = std::get_if<Perform>(&statement.action);
                           if (perform == nullptr || !instruction(perform->instruction).reads_unit) {
                             return {Node{statement}};
                           }
                           Perform copy = *perform;
                           for (Expression& argument : copy.arguments) {
                             const Access* part = argument.access();
                             if (part != nullptr && part->array == "B") {
                               argument = element("StagedB", {Affine::of(window_stage), Affine::of("part")});
                             } else if (part != nullptr && part->subscripts.size() == 2) {
                               argument = element(staged_name(part->array), {Affine::of("stage"), Affine::of("copy")});
                             }
                           }
                           const std::map<std::string, Expression> of_copies{{"origin", 0},
                                                                             {"height", index("window_columns")},
                                                                             {"first_column", 0},
                                                                             {"columns", index("tile_columns")},
                                                                             {"stage", index("stage")},
                                                                             {"window_stage", index(window_stage)}};
                           const std::vector<Instruction::Parameter>& parameters =
                               instruction(copy.instruction).parameters;
                           for (std::size_t at = 0; at < parameters.size(); ++at) {
                             if (const auto changed = of_copies.find(parameters[at].name); changed != of_copies.end()) {
                               copy.arguments[at] = changed->second;
                             }
                           }
                           return {Node{Statement{statement.guard, std::move(copy)}}};
                         }});
  // Which round it is was asked when it was staged.
  std::erase_if(result, [](const Node& node) {
    const auto* defined = action<Define>(node);
    const auto* perform = action<Perform>(node);
    return (defined != nullptr && (defined->name == "turned" || defined->name == "round")) ||
           (perform != nullptr && perform->instruction == "window_at");
  });
  return result;
}

/// What a turn does with them. Where threads wait for each other in it, they do so in teams, and in its end no more:
/// the next turn begins with that.
Block products_of_turn(const Loop& turns, const std::string& window_stage, Scope meeting) {
  Block result = turns.body;
  if (std::holds_alternative<Barrier>(result.back().content)) {
    result.pop_back();
  }
  for (Node& node : result) {
    if (auto* branch = std::get_if<Branch>(&node.content)) {
      branch->then = from_shared_memory(branch->then, window_stage);
    } else if (auto* barrier = std::get_if<Barrier>(&node.content)) {
      barrier->scope = meeting;
    }
  }
  return result;
}

/// What a thread holds of its team's window of a turn, where that is not too much for its registers.
void declare_held_pieces(LoopNest& nest) {
  constexpr std::int64_t most_pieces = 8;
  const Expression pieces = quotient(index("window_columns") * index("tile_columns"), index("vector_width"));
  nest.constants.push_back({"window_pieces", quotient(pieces + index("team_threads") - 1, index("team_threads")),
                            "16 bytes of a row each, that a thread copies of a window"});
  const bool holds = nest.constant("window_pieces") <= most_pieces;
  nest.constants.push_back(
      {"held_pieces", holds ? index("window_pieces") : Expression(1), holds ? "of a turn" : "more would be too many"});
  const std::vector<Affine> extents{Affine::of("held_pieces"), Affine::of("vector_width")};
  nest.arrays.push_back({"held", extents, ArrayRole::registers, nest.element(), "Vector<vector_width>"});
}

/// What a warp has in registers of its next window.
void declare_fetched_window(LoopNest& nest) {
  nest.constants.push_back({"window_stages", 2, "windows of a warp: one is multiplied while the next is stored"});
  nest.constants.push_back({"row_tiles", quotient(index("window_columns"), 32), "tiles of 32 rows of B"});
  nest.constants.push_back({"window_tiles", index("row_tiles") * index("column_eighths"), "and 8 columns"});
  nest.constants.push_back({"window_fetches",
                            quotient(index("window_tiles") + index("block_panels") - 1, index("block_panels")),
                            "tiles of a warp"});
  const std::vector<Affine> extents{Affine::of("window_fetches"), Affine::of("vector_width")};
  nest.arrays.push_back({"fetched", extents, ArrayRole::registers, nest.element(), "uint4"});
}

}  // namespace

LoopNest pipeline_windows(const LoopNest& nest, const PipelineWindows& directive) {
  refuse_if(nest.packed.kind != PackedForm::Kind::fragments, directive, "the sparse array is not stored in fragments",
            "transform it first: transform(A, sparse24)");
  refuse_if(nest.find_array("StagedB") != nullptr, directive, "the windows are copied already", "pipeline once");
  check_between(directive, "stages", directive.stages, StreamSchedule::max_stages);
  refuse_if(directive.stages < 2, directive, "one stage cannot be copied to while it is read", nearest(2));
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  auto turns = std::get<Loop>(parts.body[at].content);
  const bool transposes = nest.array(ArrayRole::dense).layout && is_half(nest.element()) && !has_one_column(nest);
  const Copies copies = transposes ? transposed_windows() : copied_windows(copy_of_windows(nest));
  Block turn = copies.held;
  const bool has_teams = waits_in_teams(nest);
  const Scope meeting = has_teams ? Scope::team : Scope::block;
  append(turn, {perform("wait_for_stage", {index("early_stages") - 1}), Node{Barrier{meeting}}});
  append(turn, once_for_window(nest, copies.ahead));
  turn.push_back(define("stage", remainder(index("turn"), index("stages"))));
  append(turn, products_of_turn(turns, copies.window_stage, meeting));
  turns.body = std::move(turn);
  parts.body[at] = Node{std::move(turns)};
  const Expression of_window = remainder(index("copy"), index("block_panels"));
  const Expression warp_of_team =
      shares_windows(nest) ? index("member") * index("block_panels") + of_window : of_window;
  Block first{define("copy", index("part") * index("block_panels") + index("place")),
              define("lane", lane_of_warp(nest)), define("team_thread", warp_of_team * 32 + index("lane")),
              Node{Note{"The operands of the first turns. Those of A are there whatever the kernel in front does."}}};
  append(first, once_for_window(nest, copies.first));
  insert(parts.body, at, first);

  LoopNest result = put_together(nest, parts);
  if (has_teams) {
    result.team = "part";
  }
  result.constants.push_back(
      {"stages", directive.stages, "stages: turns whose operands are in shared memory or on their way"});
  result.constants.push_back({"early_stages", index("stages") - 1, ""});
  result.constants.push_back({"block_copies", index("turn_windows") * index("block_panels"), "units of a turn"});
  std::vector<ArrayDeclaration> staged =
      staged_copies(nest, unit_arrays(), {Affine::of("stages"), Affine::of("block_copies")}, "unit");
  const Affine window_stages = Affine::of(transposes ? "window_stages" : "stages");
  staged.push_back(
      {"StagedB",
       {window_stages, Affine::of("turn_windows"), Affine::of("window_columns"), Affine::of("tile_columns")},
       ArrayRole::shared,
       nest.element(),
       "window"});
  // In front of the sums, as in the memory of the block.
  result.arrays.insert(result.arrays.begin(), staged.begin(), staged.end());
  if (transposes) {
    declare_fetched_window(result);
  }
  if (!copies.held.empty()) {
    declare_held_pieces(result);
  }
  result.story.emplace_back(
      transposes ? "The matrix is copied to shared memory past the registers, several turns ahead of its use; B goes "
                   "through registers, where a warp "
                   "transposes its window, so that rows of B stand in shared memory a turn ahead."
                 : "Both operands are copied to shared memory past the registers, several turns ahead of their use.");
  return result;
}

}  // namespace esc
