// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/producer_warps.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/ir/build.h"
#include "generator/ir/performed_instructions.h"
#include "generator/ir/rewrite.h"
#include "generator/ir/roles.h"
#include "generator/lower/packed_tiles.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/bitmap_schedule.h"

namespace esc {
namespace {

// Warps that issue copies: one for tiles of B, one for packed tiles of A.
Node of_tile_producer(Block body) {
  return of_those_who_serve(
      {Node{Branch{has_boxes(), {Node{Branch{less(index("place"), 1), std::move(body), {}}}}, {}}}});
}
/// Each of its lanes issues those of one consumer warp.
Node of_packed_tile_producer(Block body) {
  const Expression has_consumer = all_of({equals(index("place"), 1), less(index("lane"), index("block_copies"))});
  return of_those_who_serve({Node{Branch{has_boxes(), {Node{Branch{has_consumer, std::move(body), {}}}}, {}}}});
}

/// What the nest defines under this name, with other expressions in place of some names.
Expression defined_as(const Block& body, const std::string& name, const std::map<std::string, Expression>& others) {
  return rewrite(
      action<Define>(body.at(find_definition(body, name)))->value, {.expression = [&](const Expression& expression) {
        const auto found =
            std::ranges::find_if(others, [&](const auto& other) { return expression == index(other.first); });
        return found != others.end() ? found->second : expression;
      }});
}

/// The block with what `change` makes of each statement that performs this instruction.
Block change_performs(const Block& block, std::string_view instruction,
                      const std::function<Block(const Statement&)>& change) {
  return rewrite(block, {.statement = [&](const Statement& statement) -> Block {
                   const auto* performed = std::get_if<Perform>(&statement.action);
                   return performed != nullptr && performed->instruction == instruction ? change(statement)
                                                                                        : Block{Node{statement}};
                 }});
}

Block before_performs(const Block& block, std::string_view instruction, const Node& more) {
  return change_performs(block, instruction,
                         [&](const Statement& statement) -> Block { return {more, Node{statement}}; });
}

/// Copies by boxes are complete when their bytes have come, not by what a thread commits.
Block without_commits(const Block& block) {
  return change_performs(block, "commit_copies", [](const Statement&) { return Block{}; });
}

/// What the producer asks for: all consumer groups' tiles, as far ahead as there are stages.
Block of_all_groups(const Block& copies, const Expression& first_k_tile) {
  Block own = substitute(without_commits(copies), "early_tiles", Affine::of("tiles_ahead"));
  own = substitute(substitute(own, "part", Affine::of("group")), "first_k_tile", Affine::of("group_k_tile"));
  insert(own, 0, {define("group_k_tile", first_k_tile)});
  return {sequential_loop("group", 0, Affine::of("iteration_k_tiles"), 1, Role::none, std::move(own))};
}

/// Before a copy to a stage that has been used, its release.
Block after_release_of_tile(const Block& copies) {
  const Expression number = index("step") + index("tiles_ahead");
  const Node wait = perform("wait_for_tile_release", {number, remainder(number, index("tile_stages")), index("group")});
  return before_performs(copies, "copy_tile_box", Node{Branch{less(index("tile_stages") - 1, number), {wait}, {}}});
}

/// What a lane of the producer finds and copies of packed tiles: those of the consumer warp whose number it has.
Block of_consumer_warp(const Block& copies) {
  const Block whole = change_performs(copies, "copy_bitmap_packed_tile", [](const Statement& statement) -> Block {
    Statement by_one = statement;
    std::get<Perform>(by_one.action).instruction = "issue_packed_tile";
    return {Node{std::move(by_one)}};
  });
  const Block named =
      substitute(substitute(whole, "copy", Affine::of("lane")), "first_k_tile", Affine::of("served_k_tile"));
  return substitute(named, "packed_tile_row_tile", Affine::of("served_row_tile"));
}

/// The first K tile and the row tile of the consumer warp whose number a lane has.
Block define_served(const Block& body) {
  const Expression part = quotient(index("lane"), index("block_row_tiles"));
  const Expression row_tile =
      defined_as(body, "row_tile", {{"place", remainder(index("lane"), index("block_row_tiles"))}});
  return {
      define("served_k_tile", defined_as(body, "first_k_tile", {{"part", part}})),
      define("served_row_tile", defined_as(body, "packed_tile_row_tile", {{"row_tile", row_tile}}), ScalarType::u32)};
}

/// What a nest does between two barriers is done by those who multiply, but for definitions, which both roles need, and
/// for copies, which are the producers' where B has boxes.
class Roles {
 public:
  /// `group_k_tile` is the first K tile of consumer group `group`, `first_found` looks up a warp's first packed tile.
  Roles(Expression group_k_tile, Node first_found)
      : group_k_tile_(std::move(group_k_tile)), first_found_(std::move(first_found)) {}

  Block of(const Block& block) const {
    Block result;
    for (const Node& node : block) {
      const auto* loop = std::get_if<Loop>(&node.content);
      const bool is_iteration = loop != nullptr && holds_barrier(loop->body);
      if (is_iteration) {
        Loop both = *loop;
        both.body = of(loop->body);
        result.push_back(Node{std::move(both)});
      } else if (is_common(node)) {
        result.push_back(node);
      } else if (performs({node}, "copy_tile_box")) {
        append(result, copies_of_tiles(node));
      } else if (performs({node}, "copy_bitmap_packed_tile")) {
        append(result, loop != nullptr ? early_packed_tiles(node) : later_packed_tile(node));
      } else {
        add_for_consumers(node, result);
      }
    }
    return result;
  }

 private:
  static bool holds_barrier(const Block& block) {
    return std::ranges::any_of(block, [](const Node& node) {
      const auto* loop = std::get_if<Loop>(&node.content);
      const auto* barrier = std::get_if<Barrier>(&node.content);
      return (barrier != nullptr && barrier->scope != Scope::warp) || (loop != nullptr && holds_barrier(loop->body));
    });
  }

  static bool is_common(const Node& node) {
    const auto* barrier = std::get_if<Barrier>(&node.content);
    return (barrier != nullptr && barrier->scope != Scope::warp) || action<Define>(node) != nullptr ||
           std::holds_alternative<Note>(node.content);
  }

  Block copies_of_tiles(const Node& node) const {
    const bool is_first = std::holds_alternative<Loop>(node.content);  // of stages that nobody has used
    const Block own = of_all_groups(decided({node}, true), group_k_tile_);
    Block result{of_tile_producer(is_first ? own : after_release_of_tile(own))};
    add_for_consumers(Node{Branch{has_boxes(), {}, decided({node}, false)}}, result);
    return result;
  }

  Block early_packed_tiles(const Node& node) const {
    Block result{of_packed_tile_producer(of_consumer_warp({node}))};
    add_for_consumers(Node{Branch{has_boxes(), {}, {first_found_, node}}}, result);
    return result;
  }

  /// Consumers copy a later packed tile in the K step in which its stage has been read. A producer waits for that in
  /// the next one.
  Block later_packed_tile(const Node& node) const {
    const auto& refill = std::get<Branch>(node.content);
    const Block copies(refill.then.begin() + 1, refill.then.end());
    const Expression stage = remainder(index("iteration"), index("packed_tile_stages"));
    const Node wait = perform("wait_for_packed_tile_release", {index("iteration"), stage, index("lane")});
    const Expression number = index("half") * 2 + index("block_of_pair");
    Block result{
        of_packed_tile_producer({Node{Branch{equals(number, index("k_tile_steps") - 1),
                                             before_performs(of_consumer_warp(copies), "issue_packed_tile", wait),
                                             {}}}})};
    const Node release{Branch{all_of({refill.condition, is_k_tile(index("k_tile"))}),
                              {perform("release_packed_tile", {stage, index("copy"), index("lane")})},
                              {}}};
    add_for_consumers(Node{Branch{has_boxes(), {release}, {node}}}, result);
    return result;
  }

  static void add_for_consumers(const Node& node, Block& result) {
    auto* const last = result.empty() ? nullptr : std::get_if<Branch>(&result.back().content);
    if (last != nullptr && last->condition == multiplies()) {
      last->then.push_back(node);
    } else {
      result.push_back(of_those_who_multiply({node}));
    }
  }

  Expression group_k_tile_;
  Node first_found_;
};

/// Behind the products of a K step those of the one before have read their tile. Where a consumer group has no K tile
/// left, nobody waits for a release.
Block with_releases(const Block& block) {
  const Expression has_multiplied = all_of({less(0, index("step")), is_k_tile(index("k_tile"))});
  const Node release =
      perform("release_tile", {remainder(index("step") - 1, index("tile_stages")), index("part"), index("lane")});
  return change_performs(block, "warpgroup_wait", [&](const Statement& statement) -> Block {
    return {Node{statement}, Node{Branch{has_boxes(), {Node{Branch{has_multiplied, {release}, {}}}}, {}}}};
  });
}

/// Where copies are waited for, before the iterations and in them, barriers of the block become those of copies.
Block met_at_copies(const Block& block) {
  const auto meet = [](auto from, auto to) {
    std::ranges::replace(from, to, Node{Barrier{Scope::block}}, Node{Barrier{Scope::consumer_group}});
  };
  Block result = rewrite(block, {.around = [&](const Node& node) -> Node {
                           Node changed = node;
                           if (auto* const loop = std::get_if<Loop>(&changed.content)) {
                             meet(loop->body.begin(), loop->body.end());
                           }
                           return changed;
                         }});
  meet(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(find_place(result, Role::reduction)));
  return result;
}

/// Warps that multiply, and behind them the producers.
void add_producers(ThreadNest& parts) {
  std::erase_if(parts.threads, [](const Loop& loop) { return loop.iterator == "place" || loop.iterator == "part"; });
  parts.add_warps("warp_of_block", "block_warps", Role::none);
  const Expression consumer = remainder(index("warp_of_block"), index("consumer_warps"));
  insert(parts.body, 0,
         {define("role", quotient(index("warp_of_block"), index("consumer_warps"))),
          define("part", quotient(consumer, index("block_row_tiles"))),
          define("place", remainder(index("warp_of_block"), index("block_row_tiles")))});
}

/// Takes the first node that performs this instruction out of a block.
Node take_first(Block& block, std::string_view instruction) {
  const auto found = std::ranges::find_if(block, [&](const Node& node) { return performs({node}, instruction); });
  Node taken = *found;
  block.erase(found);
  return taken;
}

/// The warps of a block are more than those that multiply.
void declare_warps(LoopNest& nest, const ProducerWarps& producers) {
  const Affine consumer_threads = Affine::of("consumer_warps", warp_size);
  for (NamedConstant& one : nest.constants) {
    one.value = rewrite(one.value, {.affine = [&](const Affine& affine) {
                          return affine.substitute("threads_per_block", consumer_threads);
                        }});
  }
  const auto threads = std::ranges::find(nest.constants, "threads_per_block", &NamedConstant::name);
  threads->value = warp_size * index("block_warps");
  nest.constants.insert(
      threads, {{"roles", 2, "consumer warps, and producer warps behind them"},
                {"producer_warps", producers.warps(),
                 producers.exchange_registers() ? "two of them issue copies; consumers take over the registers of all"
                                                : "one issues copies of tiles of B, one those of packed tiles"},
                {"consumer_warps", index("block_row_tiles") * index("iteration_k_tiles"), ""},
                {"block_warps", index("consumer_warps") + index("producer_warps"), ""}});
  nest.constants.push_back({"tiles_ahead", index("tile_stages") - 1, "that are copied before the one in use"});
  if (producers.exchange_registers()) {
    nest.constants.push_back({"consumer_registers", producers.consumer_registers(), "of each consumer thread"});
    nest.constants.push_back({"producer_registers", ProducerWarps::own_registers, "of each producer thread"});
  }
}

}  // namespace

LoopNest producer_warps(const LoopNest& nest, const WarpSpecialize& directive) {
  refuse_if(nest.packed.kind != PackedForm::Kind::bitmap || nest.find_array("StagedB") == nullptr, directive,
            "no tiles of B are copied for a bitmap", "copy them first: transform(A, bitmap, warps=4); pipeline(k, ..)");
  refuse_if(has_roles(nest), directive, "a producer warp copies already", "ask for that once");
  refuse_if(nest.overlaps, directive, "the kernel waits for the previous one already", "specialize warps before pdl()");
  if (!performs(nest, "copy_tile_box")) {
    return nest;
  }
  ThreadNest parts = take_apart(nest, directive);
  const Node first_found = take_first(parts.body, "find_packed_tile");
  const Node boxes = take_first(parts.body, "uses_boxes");
  // Where the first packed tiles are is asked for before barriers are made: it comes from memory.
  const auto opening =
      std::ranges::find_if(parts.body, [](const Node& node) { return performs({node}, "make_stage_barriers"); });
  const auto opened = std::ranges::find(parts.body, Node{Barrier{Scope::block}}) + 1;
  Block common(parts.body.begin(), opening);
  append(common, define_served(parts.body));
  append(common, {boxes, of_packed_tile_producer(of_consumer_warp({first_found}))});
  common.insert(common.end(), opening, opened);
  const Block rest(opened, parts.body.end());
  const ProducerWarps producers(static_cast<int>(nest.constant("threads_per_block")),
                                static_cast<int>(nest.constant("tile_columns")));
  if (producers.exchange_registers()) {
    common.push_back(Node{Branch{multiplies(),
                                 {perform("take_registers", {index("consumer_registers")})},
                                 {perform("leave_registers", {index("producer_registers")})}}});
  }
  const Roles roles(defined_as(parts.body, "first_k_tile", {{"part", index("group")}}), first_found);
  append(common, roles.of(with_releases(met_at_copies(rest))));
  parts.body = std::move(common);
  add_producers(parts);

  LoopNest result = put_together(nest, parts);
  declare_warps(result, producers);
  result.consumer_group = "part";
  result.description.emplace_back(
      "Where tensor copies can move B producer warps issue all copies, as soon as consumer warps release a stage. "
      "These "
      "wait for copies alone, not for each other.");
  return result;
}

}  // namespace esc
