// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/pipeline_k_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/ir/instruction.h"
#include "generator/ir/k_tile_patches.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/refusals.h"
#include "generator/lower/staged_copies.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

const std::vector<std::string>& packed_tile_arrays() {
  static const std::vector<std::string> names{"Slots",         "Values",       "ResidualEnds",
                                              "ResidualSlots", "ResidualRows", "ResidualValues"};
  return names;
}

/// Whether this copy of K tiles takes some through registers: rows whose columns are no whole vectors.
bool holds_rows(std::string_view copy) { return copy == "stage_k_tiles"; }

/// Asks for what a warp reads of A in an iteration, and for what a thread copies of the rows of B for it.
Node stage_packed_tile(const Expression& iteration, const Expression& stage) {
  std::vector<Expression> arguments;
  for (const std::string& array : packed_tile_arrays()) {
    arguments.push_back(element(array));
  }
  for (const std::string& array : packed_tile_arrays()) {
    arguments.push_back(element(staged_name(array)));
  }
  arguments.insert(arguments.end(), {index("first_round"), index("rounds"), index("rotation"), iteration, stage,
                                     index("part"), index("place"), index("lane")});
  return perform("stage_packed_tile", std::move(arguments));
}

Node stage_k_tiles(const char* instruction, const Expression& iteration, const Expression& stage) {
  std::vector<Expression> arguments{element("B"),
                                    element("KTiles"),
                                    element("StagedB"),
                                    index("first_round"),
                                    index("rounds"),
                                    index("rotation"),
                                    iteration,
                                    stage,
                                    index("part"),
                                    index("tile"),
                                    index("consumer_group_thread"),
                                    index("K"),
                                    index("N")};
  if (holds_rows(instruction)) {
    arguments.insert(arguments.begin(), element("held"));
  }
  return perform(instruction, std::move(arguments));
}

/// Stores what a thread has asked for of the K tiles of an iteration and had to hold in registers.
Node store_held(const Expression& iteration, const Expression& stage, Guard guard = {}) {
  return Node{Statement{std::move(guard), Perform{"store_held",
                                                  {element("held"), index("rounds"), iteration, stage, index("part"),
                                                   index("consumer_group_thread")},
                                                  {}}}};
}

/// Which instruction copies K tiles as they are.
const char* copy_of_k_tiles(const LoopNest& nest) {
  const std::optional<Layout>& layout = nest.array(ArrayRole::dense).layout;
  return !layout                        ? "stage_k_tiles"
         : has_contiguous_rows(*layout) ? "stage_columns"
         : k_tile_patches(nest)         ? "stage_patches"
                                        : "stage_elements";
}

/// Asks for both operands of the first iterations, and for those of a later one after the barrier of each, before
/// which it stores what was held since the last.
struct Copies {
  Block first;
  Block held;
  Block ahead;
};

Block ahead_of(Block copies) {
  const Expression ahead = index("iteration") + index("early_stages");
  Block result{define("ahead", ahead, ScalarType::u32),
               define("stage_ahead", remainder(index("ahead"), index("stages")))};
  append(result, copies);
  return result;
}

/// K tiles are copied as they are, as many iterations ahead as packed tiles.
Copies copied_k_tiles(const char* instruction) {
  Block early{stage_k_tiles(instruction, index("s"), index("s")), commit_copies()};
  Block first{early_loop({stage_packed_tile(index("s"), index("s"))})};
  Block held;
  if (holds_rows(instruction)) {
    const Expression last = index("iteration") + index("early_stages") - 1;
    early.insert(early.begin(), store_held(index("s") - 1, index("s") - 1, {less(0, index("s"))}));
    first.push_back(Node{Declare{"held"}});
    held = {store_held(last, remainder(last, index("stages")))};
  }
  first.push_back(early_loop(std::move(early)));
  return {std::move(first), std::move(held),
          ahead_of({stage_packed_tile(index("ahead"), index("stage_ahead")),
                    stage_k_tiles(instruction, index("ahead"), index("stage_ahead")), commit_copies()})};
}

/// What a warp does for its packed tile is done by one of those that share it.
Block once_for_k_tile(const LoopNest& nest, const Block& block) {
  if (!shares_k_tiles(nest)) {
    return block;
  }
  return rewrite(block, {.statement = [&](const Statement& statement) -> Block {
                   const auto* perform = std::get_if<Perform>(&statement.action);
                   Statement guarded = statement;
                   if (perform != nullptr && perform->instruction == "stage_packed_tile") {
                     guarded.guard.push_back(less(index("member"), 1));
                   }
                   return {Node{std::move(guarded)}};
                 }});
}

/// The products of an iteration with operands in shared memory.
Block from_shared_memory(const Block& block) {
  Block result = rewrite(block, {.statement = [&](const Statement& statement) -> Block {
                           const auto* perform = std::get_if<Perform>(&statement.action);
                           if (perform == nullptr || !instruction(perform->instruction).reads_packed_tile) {
                             return {Node{statement}};
                           }
                           Perform copy = *perform;
                           for (Expression& argument : copy.arguments) {
                             const Access* part = argument.access();
                             if (part != nullptr && part->array == "B") {
                               argument = element("StagedB", {Affine::of("stage"), Affine::of("part")});
                             } else if (part != nullptr && part->subscripts.size() == 2) {
                               argument = element(staged_name(part->array), {Affine::of("stage"), Affine::of("copy")});
                             }
                           }
                           const std::map<std::string, Expression> of_copies{{"origin", 0},
                                                                             {"height", index("k_tile_columns")},
                                                                             {"first_column", 0},
                                                                             {"columns", index("tile_columns")},
                                                                             {"stage", index("stage")},
                                                                             {"k_tile_stage", index("stage")}};
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
    return (defined != nullptr && (defined->name == "rotated" || defined->name == "round")) ||
           (perform != nullptr && perform->instruction == "k_tile_at");
  });
  return result;
}

/// What an iteration does with them. Where threads wait for each other in it, they do so in consumer groups, and in its
/// end no more: the next iteration begins with that.
Block products_of_iteration(const Loop& iterations, Scope meeting) {
  Block result = iterations.body;
  if (std::holds_alternative<Barrier>(result.back().content)) {
    result.pop_back();
  }
  for (Node& node : result) {
    if (auto* branch = std::get_if<Branch>(&node.content)) {
      branch->then = from_shared_memory(branch->then);
    } else if (auto* barrier = std::get_if<Barrier>(&node.content)) {
      barrier->scope = meeting;
    }
  }
  return result;
}

/// What a thread holds of its consumer group's K tile of an iteration, where that is not too much for its registers.
void declare_held_pieces(LoopNest& nest) {
  constexpr std::int64_t most_pieces = 8;
  const Expression pieces = quotient(index("k_tile_columns") * index("tile_columns"), index("vector_width"));
  nest.constants.push_back({"k_tile_pieces",
                            quotient(pieces + index("consumer_group_threads") - 1, index("consumer_group_threads")),
                            "pieces of 16 bytes of a row that a thread copies of a K tile"});
  const bool holds = nest.constant("k_tile_pieces") <= most_pieces;
  nest.constants.push_back({"held_pieces", holds ? index("k_tile_pieces") : Expression(1),
                            holds ? "pieces of an iteration" : "register-staged pieces of a thread"});
  const std::vector<Affine> extents{Affine::of("held_pieces"), Affine::of("vector_width")};
  nest.arrays.push_back({"held", extents, ArrayRole::registers, nest.element(), "Vector<vector_width>"});
}

}  // namespace

LoopNest pipeline_k_tiles(const LoopNest& nest, const PipelineKTiles& directive) {
  refuse_if(nest.packed.kind != PackedForm::Kind::fragments, directive, "the sparse array is not stored in fragments",
            "transform it first: transform(A, sparse24)");
  refuse_if(nest.find_array("StagedB") != nullptr, directive, "the K tiles are copied already", "pipeline once");
  check_between(directive, "stages", directive.stages, StreamSchedule::max_stages);
  refuse_if(directive.stages < 2, directive, "one stage cannot be copied to while it is read", nearest(2));
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  auto iterations = std::get<Loop>(parts.body[at].content);
  const Copies copies = copied_k_tiles(copy_of_k_tiles(nest));
  Block iteration = copies.held;
  const bool has_consumer_groups = waits_in_consumer_groups(nest);
  const Scope meeting = has_consumer_groups ? Scope::consumer_group : Scope::block;
  append(iteration, {perform("wait_for_stage", {index("early_stages") - 1}), Node{Barrier{meeting}}});
  append(iteration, once_for_k_tile(nest, copies.ahead));
  iteration.push_back(define("stage", remainder(index("iteration"), index("stages"))));
  append(iteration, products_of_iteration(iterations, meeting));
  iterations.body = std::move(iteration);
  parts.body[at] = Node{std::move(iterations)};
  const Expression of_k_tile = remainder(index("copy"), index("block_row_tiles"));
  const Expression warp_of_consumer_group =
      shares_k_tiles(nest) ? index("member") * index("block_row_tiles") + of_k_tile : of_k_tile;
  Block first{
      define("copy", index("part") * index("block_row_tiles") + index("place")), define("lane", lane_of_warp(nest)),
      define("consumer_group_thread", warp_of_consumer_group * 32 + index("lane")),
      Node{Note{"The operands of the first iterations. A may be read while the kernel before is still running."}}};
  append(first, once_for_k_tile(nest, copies.first));
  insert(parts.body, at, first);

  LoopNest result = put_together(nest, parts);
  if (has_consumer_groups) {
    result.consumer_group = "part";
  }
  result.constants.push_back(
      {"stages", directive.stages, "iterations whose operands are in shared memory or on their way"});
  result.constants.push_back({"early_stages", index("stages") - 1, ""});
  result.constants.push_back(
      {"block_copies", index("iteration_k_tiles") * index("block_row_tiles"), "packed tiles of an iteration"});
  std::vector<ArrayDeclaration> staged =
      staged_copies(nest, packed_tile_arrays(), {Affine::of("stages"), Affine::of("block_copies")}, "packed_tile");
  staged.push_back({"StagedB",
                    {Affine::of("stages"), Affine::of("iteration_k_tiles"), Affine::of("k_tile_columns"),
                     Affine::of("tile_columns")},
                    ArrayRole::shared,
                    nest.element(),
                    "k_tile"});
  // Before the sums, as in the memory of the block.
  result.arrays.insert(result.arrays.begin(), staged.begin(), staged.end());
  if (!copies.held.empty()) {
    declare_held_pieces(result);
  }
  result.description.emplace_back(
      "Both operands are copied to shared memory with cp.async, several iterations ahead of their use.");
  return result;
}

}  // namespace esc
