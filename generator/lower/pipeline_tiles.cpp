// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pipeline_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/ir/instruction.h"
#include "generator/ir/performed_instructions.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/refusals.h"
#include "generator/lower/staged_copies.h"
#include "generator/lower/stream_windows.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

const std::vector<std::string>& bitmap_arrays() {
  static const std::vector<std::string> names{"UnitWords", "OddColumns", "Bits", "Values"};
  return names;
}

bool is_unit_array(const std::string& array) { return std::ranges::find(bitmap_arrays(), array) != bitmap_arrays().end(); }

Expression window_of(const Expression& turn) { return turn * index("turn_windows") + index("part"); }

/// Whether a warp has a unit in this window. Warpgroups have all warps: those without a panel have the unit of the last one.
Expression is_there(const LoopNest& nest, const Expression& window) {
  const Expression is_window = less(window, index("windows"));
  return performs(nest, "wgmma") ? is_window : all_of({is_window, less(index("panel"), index("panels"))});
}

/// Asks where the unit of a turn is, a turn before it is copied, so that nothing waits for that.
Node find_unit(const LoopNest& nest, const Expression& turn) {
  const Expression number = index("unit_panel") * index("windows") + window_of(turn);
  return Node{Branch{is_there(nest, window_of(turn)), {perform("find_unit", {element("UnitBegins"), number, element("unit")})}, {}}};
}

Block copy_of_unit(const LoopNest& nest, const Expression& turn, const Expression& stage) {
  std::vector<Expression> arguments;
  for (const std::string& array : bitmap_arrays()) {
    arguments.push_back(element(array));
  }
  for (const std::string& array : bitmap_arrays()) {
    arguments.push_back(element(staged_name(array)));
  }
  arguments.insert(arguments.end(), {element("unit"), index("unit_panel"), window_of(turn), stage, index("copy"), index("lane")});
  return {Node{Branch{is_there(nest, window_of(turn)), {perform("copy_bitmap_unit", std::move(arguments))}, {}}}, find_unit(nest, turn + 1)};
}

/// Copies the tile of a K step where its window is there.
Node copy_of_tile(const LoopNest& nest, const Expression& step) {
  const char* const copy = nest.array(ArrayRole::dense).layout ? "copy_tile_columns" : "copy_tile_rows";
  const Expression window = window_of(quotient(step, index("window_steps")));
  const Expression first_row = window * index("window_columns") + remainder(step, index("window_steps")) * index("tile_rows");
  return Node{Branch{less(window, index("windows")),
                     {perform(copy, {element("B"), element("StagedB"), first_row, remainder(step, index("tile_stages")), index("part"), index("tile"),
                                     index("team_thread"), index("K"), index("N")})},
                     {}}};
}

/// Whether an instruction reads a tile of B.
bool reads_tile(const std::vector<Instruction::Parameter>& parameters) {
  return std::ranges::any_of(parameters, [](const Instruction::Parameter& one) { return one.name == "first_column"; });
}

/// The instructions that read A and B, on the copies.
Block from_shared_memory(const Block& block) {
  const std::map<std::string, Expression> of_copies{{"first_row", 0}, {"first_column", 0}, {"height", index("tile_rows")}, {"width", index("tile_columns")}, {"copy", index("copy")}};
  return rewrite(block, {.statement = [&](const Statement& statement) -> Block {
                   Statement changed = statement;
                   auto* const perform = std::get_if<Perform>(&changed.action);
                   if (perform == nullptr) {
                     return {Node{statement}};
                   }
                   const std::vector<Instruction::Parameter>& parameters = instruction(perform->instruction).parameters;
                   for (std::size_t at = 0; at < parameters.size(); ++at) {
                     Expression& argument = perform->arguments[at];
                     const Access* const part = argument.access();
                     if (part != nullptr && part->array == "B") {
                       argument = element("StagedB", {Affine::of("tile_stage"), Affine::of("part")});
                     } else if (part != nullptr && is_unit_array(part->array)) {
                       argument = element(staged_name(part->array), {Affine::of("unit_stage"), Affine::of("copy")});
                     } else if (parameters[at].name == "stage") {
                       argument = index(reads_tile(parameters) ? "tile_stage" : "unit_stage");
                     } else if (const auto found = of_copies.find(parameters[at].name); found != of_copies.end()) {
                       argument = found->second;
                     }
                   }
                   return {Node{std::move(changed)}};
                 }});
}

bool has_teams(const LoopNest& nest) { return nest.constant("turn_windows") > 1; }

/// How many K steps in front of the one that is asked for next are still multiplied, when the block meets.
int steps_under_way(const LoopNest& nest) { return performs(nest, "wgmma") ? 1 : 0; }

/// The loop over the K steps of a window, a half of it or a K block: in front of each what it needs is waited for, and what later ones need is asked for.
/// `multiply` finds the words of the unit and goes through the halves.
Node steps_of_window(const LoopNest& nest, const Block& multiply) {
  auto halves = std::get<Loop>(multiply.back().content);
  auto blocks = std::get<Loop>(halves.body.back().content);
  const bool steps_are_blocks = nest.constant("tile_rows") == BitmapSchedule::block_columns;
  const Expression begins_window = steps_are_blocks ? less(index("half") * 2 + index("block_of_pair"), 1) : less(index("half"), 1);
  const Expression number = steps_are_blocks ? index("half") * 2 + index("block_of_pair") : index("half");

  Block find{perform("wait_for_unit", {index("turn"), index("unit_stage"), index("copy")}), multiply.front()};
  Block own{Node{Branch{begins_window, std::move(find), {}}}};
  if (steps_are_blocks) {
    own.push_back(Node{Branch{less(index("block_of_pair"), 1), {halves.body.front()}, {}}});
    append(own, blocks.body);
  } else {
    append(own, halves.body);
  }
  const Expression unit_ahead = index("turn") + index("early_units");
  Block step{define("step", index("turn") * index("window_steps") + number, ScalarType::u32), perform("wait_for_stage", {index("early_tiles") - 1})};
  if (performs(nest, "wgmma")) {
    step.push_back(perform("fence_proxy_async", {}));
  }
  append(step, {Node{Barrier{has_teams(nest) ? Scope::team : Scope::block}},
                copy_of_tile(nest, index("step") + index("early_tiles")),
                Node{Branch{begins_window, copy_of_unit(nest, unit_ahead, remainder(unit_ahead, index("unit_stages"))), {}}},
                commit_copies(),
                define("tile_stage", remainder(index("step"), index("tile_stages"))),
                Node{Branch{is_there(nest, index("window")), from_shared_memory(own), {}}}});
  if (!steps_are_blocks) {
    halves.body = std::move(step);
    return Node{std::move(halves)};
  }
  blocks.body = std::move(step);
  halves.body = {Node{std::move(blocks)}};
  return Node{std::move(halves)};
}

}  // namespace

LoopNest pipeline_tiles(const LoopNest& nest, const PipelineTiles& directive) {
  refuse_if(nest.packed.kind != PackedForm::Kind::bitmap, directive, "the sparse array is not stored as a bitmap", "transform it first: transform(A, bitmap)");
  refuse_if(nest.find_array("StagedB") != nullptr, directive, "the tiles are copied already", "pipeline once");
  check_between(directive, "tiles", directive.tiles, BitmapSchedule::max_stages);
  check_between(directive, "units", directive.units, BitmapSchedule::max_stages);
  const int least_tiles = 2 + steps_under_way(nest);
  refuse_if(directive.tiles < least_tiles || directive.units < 2, directive, "one stage cannot be copied to while it is read", nearest(directive.tiles < least_tiles ? least_tiles : 2));
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  auto turns = std::get<Loop>(parts.body[at].content);
  const auto& multiply = std::get<Branch>(turns.body.back().content).then;

  turns.body = {turns.body.front(), define("unit_stage", remainder(index("turn"), index("unit_stages"))), steps_of_window(nest, multiply)};
  parts.body[at] = Node{std::move(turns)};
  insert(parts.body, at,
         {define("copy", index("part") * index("block_panels") + index("place")), define("team_thread", index("place") * warp_size + index("lane")),
          Node{Declare{"unit"}}, find_unit(nest, 0), perform("make_unit_barriers", {index("copy"), index("lane")}), Node{Barrier{Scope::warp}},
          Node{Note{"The operands of the first turns. Those of A are there whatever the kernel in front does."}},
          sequential_loop("s", 0, Affine::of("early_units"), 1, Role::none, copy_of_unit(nest, index("s"), index("s"))),
          sequential_loop("s", 0, Affine::of("early_tiles"), 1, Role::none, {copy_of_tile(nest, index("s")), commit_copies()})});

  LoopNest result = put_together(nest, parts);
  result.team = has_teams(nest) ? "part" : "";
  result.constants.push_back({"window_steps", quotient(index("window_columns"), index("tile_rows")), ""});
  result.constants.push_back({"tile_stages", directive.tiles, "stages: tiles of B of a team that are in shared memory or on their way"});
  result.constants.push_back({"early_tiles", index("tile_stages") - 1 - steps_under_way(nest), ""});
  result.constants.push_back({"unit_stages", directive.units, "units: units of A of a warp, likewise"});
  result.constants.push_back({"early_units", index("unit_stages") - 1, ""});
  result.constants.push_back({"commits_behind_unit", index("window_steps") * index("early_units"), "of copies, since a unit was asked for"});
  result.constants.push_back({"block_copies", index("turn_windows") * index("block_panels"), "units of a turn"});
  std::vector<ArrayDeclaration> staged = staged_copies(nest, bitmap_arrays(), {Affine::of("unit_stages"), Affine::of("block_copies")}, "unit");
  staged.push_back({"StagedB", {Affine::of("tile_stages"), Affine::of("turn_windows"), Affine::of("tile_rows"), Affine::of("tile_columns")}, ArrayRole::shared, nest.element(), "tile"});
  // In front of the sums, as in the memory of the block.
  result.arrays.insert(result.arrays.begin(), staged.begin(), staged.end());
  result.arrays.push_back({"unit", {2}, ArrayRole::registers, ScalarType::u32});
  result.story.emplace_back(
      "Both operands are copied to shared memory past the registers, several turns ahead of their use: tiles of B by the threads of a team, units of A by their "
      "warps, from compute capability 9.0 on as bulk copies, which one thread asks for.");
  return result;
}

}  // namespace esc
