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
#include "generator/ir/rewrite.h"
#include "generator/lower/first_operands.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/packed_tile_copies.h"
#include "generator/lower/packed_tiles.h"
#include "generator/lower/refusals.h"
#include "generator/lower/staged_copies.h"
#include "generator/lower/thread_nest.h"
#include "generator/lower/tile_copies.h"
#include "generator/lower/unpack_tiles.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

bool is_packed_tile_array(const LoopNest& nest, const std::string& array) {
  return std::ranges::find(packed_tile_arrays(nest), array) != packed_tile_arrays(nest).end();
}

/// Whether an instruction reads a tile of B.
bool reads_tile(const std::vector<Instruction::Parameter>& parameters) {
  return std::ranges::any_of(parameters, [](const Instruction::Parameter& one) { return one.name == "first_column"; });
}

/// Whether a K step is a whole K tile, of which a half is multiplied after the other.
bool has_whole_steps(const LoopNest& nest) { return nest.constant("tile_rows") == nest.constant("k_tile_columns"); }

/// The instructions that read A and B, on the copies.
Block from_shared_memory(const LoopNest& nest, const Block& block) {
  const Expression first_row = has_whole_steps(nest) ? index("half") * BitmapSchedule::half_tile : Expression(0);
  const std::map<std::string, Expression> of_copies{{"first_row", 0},
                                                    {"first_column", 0},
                                                    {"height", index("tile_rows")},
                                                    {"width", index("tile_columns")},
                                                    {"copy", index("copy")}};
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
                     } else if (part != nullptr && is_packed_tile_array(nest, part->array)) {
                       argument =
                           element(staged_name(part->array), {Affine::of("packed_tile_stage"), Affine::of("copy")});
                     } else if (parameters[at].name == "stage") {
                       argument = index(reads_tile(parameters) ? "tile_stage" : "packed_tile_stage");
                     } else if (parameters[at].name == "row" && reads_tile(parameters)) {
                       argument = first_row + argument;
                     } else if (const auto found = of_copies.find(parameters[at].name); found != of_copies.end()) {
                       argument = found->second;
                     }
                   }
                   return {Node{std::move(changed)}};
                 }});
}

/// The warps that copy and multiply the same tiles of B: a consumer group, which may be one warp or the whole block.
Scope scope_of_tiles(const LoopNest& nest) {
  if (nest.constant("block_row_tiles") == 1) {
    return Scope::warp;
  }
  return waits_in_consumer_groups(nest) ? Scope::consumer_group : Scope::block;
}

/// K steps whose tiles are read, or may be, when the block meets: the one that comes next, and of warpgroups the one in
/// front, which is being multiplied.
int steps_in_use(const LoopNest& nest) { return has_warpgroups(nest) ? 2 : 1; }

/// How many copies have been committed, at least, since a packed tile was asked for. Warpgroups ask for those of the
/// first iterations before all tiles, and wait for the first of them when only tiles have been asked for since; later
/// ones they ask for as soon as their stage has been read, before the last K step of a K tile, and wait for them in the
/// same step of a later one.
Expression commits_behind_packed_tile(const LoopNest& nest, const PipelineTiles& directive) {
  if (!has_warpgroups(nest)) {
    return index("k_tile_steps") * index("early_packed_tiles");
  }
  const std::int64_t k_tile_steps = nest.constant("k_tile_columns") / nest.constant("tile_rows");
  return directive.tiles - steps_in_use(nest) < k_tile_steps * (directive.packed_tiles - 1) + 1
             ? index("early_tiles") - 1
             : index("k_tile_steps") * index("early_packed_tiles");
}

Node meet(const LoopNest& nest) { return Node{Barrier{scope_of_tiles(nest)}}; }

/// What is left of an iteration: it finds, where that has to be done, the words of its packed tile and goes through
/// halves of it, of which each has two K blocks. Those of warpgroups are of bitmaps.
struct Iteration {
  Iteration(const LoopNest& whole_nest, const Node& whole)
      : nest(whole_nest),
        branch(std::get<Branch>(whole.content)),
        halves(std::get<Loop>(branch.then.back().content)),
        blocks(std::get<Loop>(halves.body.back().content)) {}

  const LoopNest& nest;
  const Branch& branch;
  const Loop& halves;
  const Loop& blocks;

  Node there(const Block& block) const { return Node{Branch{branch.condition, from_shared_memory(nest, block), {}}}; }
  Block find() const { return {branch.then.begin(), branch.then.end() - 1}; }
  const Node& find_words() const { return branch.then.front(); }
  const Node& load_bits() const { return halves.body.front(); }
  const Node& find_places() const { return blocks.body.front(); }
  const Node& load_tiles() const { return blocks.body.at(1); }
};

/// What is done by the first K step of a K tile alone.
Block at_first(const LoopNest& nest, const Expression& begins_k_tile, Block block) {
  return has_whole_steps(nest) ? block : Block{Node{Branch{begins_k_tile, std::move(block), {}}}};
}

/// Before a K step what it needs is waited for; after the barrier what later ones need is asked for: a tile, and
/// `packed_tile`.
Block begin_step(const LoopNest& nest, const Block& wait, const Block& packed_tile) {
  Block result = wait;
  append(result, {meet(nest), copy_of_tile(nest, index("step") + index("early_tiles"))});
  append(result, packed_tile);
  append(result, by_boxes(nest, {}, {commit_copies()}));
  return result;
}

Block packed_tile_of_later_iteration(const LoopNest& nest) {
  const Expression ahead = index("iteration") + index("early_packed_tiles");
  return copy_of_packed_tile(nest, ahead, remainder(ahead, index("packed_tile_stages")));
}

/// What the first K step of a K tile waits for besides.
Block find_k_tile(const Iteration& iteration, const Expression& begins_k_tile) {
  Block wait{perform("wait_for_packed_tile", {index("iteration"), index("packed_tile_stage"), index("copy")})};
  append(wait, iteration.find());
  return at_first(iteration.nest, begins_k_tile, std::move(wait));
}

Node define_step(const Expression& number) {
  return define("step", index("iteration") * index("k_tile_steps") + number, ScalarType::u32);
}

/// The K steps of a K tile, in its iteration: a loop over both halves, or one step in which they are one after the
/// other.
Block multiply_halves(const Iteration& iteration) {
  const LoopNest& nest = iteration.nest;
  const Expression begins_k_tile = less(index("half"), 1);
  Block first = begin_step(nest, {perform("wait_for_stage", {index("early_tiles") - 1})},
                           at_first(nest, begins_k_tile, packed_tile_of_later_iteration(nest)));
  first.push_back(define("tile_stage", remainder(index("step"), index("tile_stages"))));
  Block own = find_k_tile(iteration, begins_k_tile);
  if (has_whole_steps(nest)) {
    own.push_back(Node{iteration.halves});
    Block step{define("step", index("iteration"), ScalarType::u32)};
    append(step, first);
    append(step, {iteration.there(own)});
    return step;
  }
  append(own, iteration.halves.body);
  Loop halves = iteration.halves;
  halves.body = {define_step(index("half"))};
  append(halves.body, first);
  append(halves.body, {iteration.there(own)});
  return {Node{std::move(halves)}};
}

// Of warpgroups a K step is a block, and the next one is decoded while it is multiplied.

constexpr int block_tiles = 4;  ///< of 16 columns of A, in a K block
constexpr int k_tile_blocks = 4;

Block wait_for_own_tile(const LoopNest& nest) {
  return by_boxes(nest, {perform("wait_for_tile", {index("step"), index("tile_stage"), index("part")})},
                  {perform("wait_for_stage", {index("early_tiles") - 1}), perform("fence_proxy_async", {})});
}

/// The products of the tiles of a K block.
Node products_of_block() {
  const Node product =
      perform("wgmma", {element("sums"), element("a", {Affine::of("block_of_pair"), Affine::of("t")}),
                        element("StagedB", {Affine::of("tile_stage"), Affine::of("part")}), index("t") * 16, 0,
                        index("tile_rows"), index("tile_columns"), index("tile_stage"), index("part"), index("lane")});
  return unrolled("t", block_tiles, {product});
}

/// Steps that decode block `next` of a half, of the packed tile in stage `packed_tile_stage`.
Block of_block(const Block& block, const Affine& half, const Affine& next) {
  return substitute(substitute(block, "half", half), "block_of_pair", next);
}

/// What is decoded before all iterations, once it has come: the first block of all.
Block decode_first(const LoopNest& nest, const Iteration& iteration) {
  const Expression is_there = is_k_tile(index("first_k_tile"));
  const Block decode{iteration.find_words(), iteration.load_bits(), iteration.find_places(), iteration.load_tiles()};
  return {
      Node{Branch{is_there, {perform("wait_for_packed_tile", {0, 0, index("copy")})}, {}}}, meet(nest),
      Node{Branch{is_there, substitute(of_block(from_shared_memory(nest, decode), 0, 0), "packed_tile_stage", 0), {}}}};
}

/// Once the last block of a packed tile has been decoded, by all lanes, a later one takes its place.
Node refill_stage(const LoopNest& nest, const Expression& number) {
  const Expression is_decoded = equals(number, k_tile_blocks - 2);
  Block refill{Node{Barrier{Scope::warp}}};
  append(refill, copy_of_packed_tile(nest, index("iteration") + index("packed_tile_stages"),
                                     remainder(index("iteration"), index("packed_tile_stages"))));
  return Node{Branch{is_decoded, std::move(refill), {}}};
}

/// The loop over the K steps of a K tile. The next block is decoded while this one is multiplied, into registers
/// of the block before, whose products have to be complete. After the last block, that is decoded once more which is
/// there.
Loop block_steps(const LoopNest& nest, const Iteration& iteration) {
  const Expression number = index("half") * 2 + index("block_of_pair");
  const Expression ends_k_tile = less(k_tile_blocks - 2, number);
  const Affine next_block = Affine(1) - Affine::of("block_of_pair");
  const auto decode = [](const Block& block) {
    return Node{Branch{is_k_tile(k_tile_of(index("decoded_iteration"))), block, {}}};
  };
  const auto next = [&](const Node& node) {
    return of_block(from_shared_memory(nest, {node}), Affine::of("next_half"), next_block).front();
  };
  const auto multiply = [&](const Block& block) { return Node{Branch{iteration.branch.condition, block, {}}}; };

  Block step{
      define_step(number), define("tile_stage", remainder(index("step"), index("tile_stages"))),
      define("decoded_iteration", choose(all_of({ends_k_tile, less(index("iteration") + 1, index("iterations"))}),
                                         index("iteration") + 1, index("iteration"))),
      define("packed_tile_stage", remainder(index("decoded_iteration"), index("packed_tile_stages"))),
      define("next_half", remainder(quotient(number + 1, 2), 2))};
  append(step, begin_step(nest, {multiply(wait_for_own_tile(nest))}, {}));
  append(step, {multiply({perform("warpgroup_arrive", {}), products_of_block(), perform("warpgroup_commit", {})}),
                decode({Node{Branch{ends_k_tile,
                                    {perform("wait_for_packed_tile",
                                             {index("decoded_iteration"), index("packed_tile_stage"), index("copy")}),
                                     next(iteration.find_words())},
                                    {}}},
                        Node{Branch{less(0, index("block_of_pair")), {next(iteration.load_bits())}, {}}},
                        next(iteration.find_places())}),
                perform("warpgroup_wait", {1}), decode({next(iteration.load_tiles())}), refill_stage(nest, number)});

  Loop blocks = iteration.blocks;
  blocks.body = std::move(step);
  Loop halves = iteration.halves;
  halves.body = {Node{std::move(blocks)}};
  return halves;
}

/// The nest with K steps as the directive asks for them. Warpgroups have theirs of one K block.
LoopNest with_steps(const LoopNest& nest, const PipelineTiles& directive) {
  refuse_if(!nest.packed.has_packed_tiles(), directive, "the sparse array is not stored as a bitmap",
            "transform it first: transform(A, bitmap), or transform(A, sparse24_tiles)");
  if (directive.step == BitmapSchedule::half_tile) {
    return nest;
  }
  refuse_if(has_warpgroups(nest), directive, "warpgroups multiply 64 columns of A at a time", "leave out step");
  refuse_if(directive.step != BitmapSchedule::tile_columns_of_a, directive, "a K step is half a K tile or a whole one",
            "write step=128 or step=256");
  LoopNest result = nest;
  std::ranges::find(result.constants, "tile_rows", &NamedConstant::name)->value = directive.step;
  return result;
}

}  // namespace

LoopNest pipeline_tiles(const LoopNest& given, const PipelineTiles& directive) {
  const LoopNest nest = with_steps(given, directive);
  refuse_if(nest.find_array("StagedB") != nullptr, directive, "the tiles are copied already", "pipeline once");
  check_between(directive, "stages", directive.tiles, BitmapSchedule::max_stages);
  check_between(directive, "stages_a", directive.packed_tiles, BitmapSchedule::max_stages);
  const int least_tiles = 1 + steps_in_use(nest);
  refuse_if(directive.tiles < least_tiles || directive.packed_tiles < 2, directive,
            "one stage cannot be copied to while it is read", nearest(directive.tiles < least_tiles ? least_tiles : 2));
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  auto iterations = std::get<Loop>(parts.body[at].content);
  const Node whole_iteration = iterations.body.back();
  const Iteration iteration(nest, whole_iteration);
  if (has_warpgroups(nest)) {
    iterations.body = {iterations.body.front(), Node{block_steps(nest, iteration)}};
    const Block first = decode_first(nest, iteration);
    parts.body[at] = Node{std::move(iterations)};
    insert(parts.body, at, first);
  } else {
    iterations.body = {iterations.body.front(),
                       define("packed_tile_stage", remainder(index("iteration"), index("packed_tile_stages")))};
    append(iterations.body, multiply_halves(iteration));
    parts.body[at] = Node{std::move(iterations)};
  }
  insert(parts.body, at, first_operands(nest));

  LoopNest result = put_together(nest, parts);
  result.consumer_group = scope_of_tiles(nest) == Scope::consumer_group ? "part" : "";
  result.constants.push_back({"k_tile_steps", quotient(index("k_tile_columns"), index("tile_rows")), ""});
  result.constants.push_back({"tile_stages", directive.tiles,
                              "stages: tiles of B of a consumer group that are in shared memory or on their way"});
  result.constants.push_back({"early_tiles", index("tile_stages") - steps_in_use(nest), ""});
  result.constants.push_back(
      {"packed_tile_stages", directive.packed_tiles, "stages_a: packed tiles of A of a warp, likewise"});
  result.constants.push_back({"early_packed_tiles", index("packed_tile_stages") - 1, ""});
  result.constants.push_back({"commits_behind_packed_tile", commits_behind_packed_tile(nest, directive),
                              "of copies, at least, since a packed tile was asked for"});
  if (has_later_packed_tiles(nest)) {
    result.constants.push_back({"early_copies", early_copies, "packed tiles that are asked for before tiles of B"});
  }
  result.constants.push_back(
      {"block_copies", index("iteration_k_tiles") * index("block_row_tiles"), "packed tiles of an iteration"});
  std::vector<ArrayDeclaration> staged = staged_copies(
      nest, packed_tile_arrays(nest), {Affine::of("packed_tile_stages"), Affine::of("block_copies")}, "packed_tile");
  staged.push_back({"StagedB",
                    {Affine::of("tile_stages"), Affine::of("iteration_k_tiles"), Affine::of("tile_rows"),
                     Affine::of("tile_columns")},
                    ArrayRole::shared,
                    nest.element(),
                    "tile"});
  // Before the sums, as in the memory of the block.
  result.arrays.insert(result.arrays.begin(), staged.begin(), staged.end());
  result.arrays.push_back({"packed_tile", {2}, ArrayRole::registers, ScalarType::u32});
  result.description.emplace_back(
      "Both operands are copied to shared memory past the registers, several iterations ahead of their use: tiles of B "
      "by the threads of a consumer group, packed tiles of A by their warps, from compute capability 9.0 on as bulk "
      "copies, which one thread asks for.");
  result.unpacking = {unpack_tiles(result)};
  result.repacking = {repack_tiles(result)};
  return result;
}

}  // namespace esc
