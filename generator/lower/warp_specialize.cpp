// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/warp_specialize.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/instruction.h"
#include "generator/ir/performed_instructions.h"
#include "generator/ir/rewrite.h"
#include "generator/ir/roles.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

bool is_barrier(const Node& node) { return std::holds_alternative<Barrier>(node.content); }

/// Which of two buffers has the values of an iteration.
Node define_buffer() { return define("buffer", remainder(index("iteration"), index("buffers"))); }

/// Places and multiplies what is in it.
Block with_buffer_of_iteration(const Block& block) {
  return rewrite(
      block, {.statement = [&](const Statement& statement) -> Block {
        Statement changed = statement;
        if (auto* performed = std::get_if<Perform>(&changed.action)) {
          const std::vector<Instruction::Parameter>& parameters = instruction(performed->instruction).parameters;
          for (std::size_t at = 0; at < parameters.size(); ++at) {
            Expression& argument = performed->arguments[at];
            if (parameters[at].name == "buffer") {
              argument = index("buffer");
            } else if (const Access* access = argument.access(); access != nullptr && access->array == "PlacedA") {
              argument = element("PlacedA", {Affine::of("buffer"), Affine::of("part")});
            }
          }
        }
        return {Node{std::move(changed)}};
      }});
}

/// What an iteration did one after the other: what is common to both roles, what one copies, what it places, and what
/// the other one multiplies.
struct Iteration {
  Block defined;
  Block in_front;
  Block copied;
  Node placed;
  Node multiplied;
};

Iteration take_iteration_apart(const Block& body) {
  Iteration iteration;
  const auto barrier = std::ranges::find_if(body, is_barrier);
  iteration.in_front.assign(body.begin(), barrier);
  std::vector<Node> branches;
  for (auto node = barrier + 1; node != body.end(); ++node) {
    const auto* defined = action<Define>(*node);
    if (std::holds_alternative<Branch>(node->content)) {
      branches.push_back(*node);
    } else if (defined != nullptr && (defined->name == "its" || defined->name == "stage")) {
      iteration.defined.push_back(*node);
    } else if (!is_barrier(*node)) {
      iteration.copied.push_back(*node);
    }
  }
  ESC_CHECK(branches.size() == 2, "values are placed, and multiplied");
  iteration.placed = branches.front();
  iteration.multiplied = branches.back();
  return iteration;
}

/// In a turn the values of the one before are multiplied. Their copies are there: who has placed them has waited for
/// these, and met who multiplies since.
Block multiply_iteration_before(const Iteration& iteration) {
  Block body = iteration.defined;
  body.push_back(define_buffer());
  body.push_back(iteration.multiplied);
  return {Node{Branch{less(0, index("iteration")),
                      substitute(with_buffer_of_iteration(body), "iteration", Affine::of("iteration") - 1),
                      {}}}};
}

Block place_iteration(const Iteration& iteration) {
  Block body = iteration.copied;
  append(body, iteration.defined);
  body.push_back(define_buffer());
  body.push_back(iteration.placed);
  return with_buffer_of_iteration(body);
}

Loop iterations_of_roles(Loop iterations) {
  const Iteration iteration = take_iteration_apart(iterations.body);
  iterations.body = {of_those_who_serve(iteration.in_front), Node{Barrier{Scope::consumer_group}},
                     Node{Branch{multiplies(), multiply_iteration_before(iteration), place_iteration(iteration)}}};
  iterations.upper = iterations.upper + 1;
  return iterations;
}

void check_placed(const LoopNest& nest, const WarpSpecialize& directive) {
  refuse_if(directive.array != "A" || nest.find_array("PlacedA") == nullptr, directive,
            "no values of the sparse array are decompressed", "decompress them first: transform(A, decompress)");
  refuse_if(nest.find_array("StagedB") == nullptr, directive, "nothing is copied ahead of its use",
            "copy it first: pipeline(k, 4)");
  refuse_if(has_roles(nest), directive, "the values are placed ahead already", "ask for that once");
  refuse_if(!performs(nest, "make_barriers"), directive,
            "the copies have no barriers, at which those who place wait for them",
            "let them come in bulk first: copy(tma)");
  const std::int64_t warps = nest.constant("threads_per_block") / warp_size;
  refuse_if(
      warps > StreamSchedule::max_consumer_warps, directive,
      fmt::format(
          "{} warps that multiply and as many that place leave too few registers for a product of the tensor core",
          warps),
      fmt::format("choose row_tiles and warps so that their product is {} at most",
                  StreamSchedule::max_consumer_warps));
  refuse_if(nest.constant("stages") < StreamSchedule::least_stages_ahead, directive,
            fmt::format("copies of {} stages are not an iteration ahead of who places an iteration ahead",
                        nest.constant("stages")),
            fmt::format("write pipeline(k, {})", StreamSchedule::least_stages_ahead));
}

NamedConstant& constant(LoopNest& nest, const std::string& name) {
  return *std::ranges::find(nest.constants, name, &NamedConstant::name);
}

}  // namespace

LoopNest warp_specialize(const LoopNest& nest, const WarpSpecialize& directive) {
  check_placed(nest, directive);
  ThreadNest parts = take_apart(nest, directive);
  const std::size_t at = find_place(parts.body, Role::reduction);
  for (std::size_t node = 0; node < at; ++node) {
    const bool copies = std::holds_alternative<Loop>(parts.body[node].content);
    parts.body[node] = copies ? of_those_who_serve({parts.body[node]}) : parts.body[node];
  }
  for (std::size_t node = at + 1; node < parts.body.size(); ++node) {
    const bool is_common = is_barrier(parts.body[node]) || action<Define>(parts.body[node]) != nullptr ||
                           std::holds_alternative<Note>(parts.body[node].content);
    parts.body[node] = is_common ? parts.body[node] : of_those_who_multiply({parts.body[node]});
  }
  parts.body[at] = Node{iterations_of_roles(std::get<Loop>(parts.body[at].content))};
  parts.add_warps("role", "roles", Role::none);

  LoopNest result = nest;
  result.constants.insert(result.constants.begin(),
                          {"roles", 2, "consumer warps multiply; as many producer warps copy and decompress for them"});
  constant(result, "threads_per_block").value = constant(result, "threads_per_block").value * index("roles");
  constant(result, "consumer_group_threads").value =
      quotient(index("threads_per_block"), index("roles") * index("iteration_k_tiles"));
  constant(result, "early_stages").value = index("stages") - 2;
  result.constants.push_back(
      {"buffers", 2, "decompressed K tiles of a consumer group: one is multiplied while the next one is written"});
  const auto threads = static_cast<int>(result.constant("threads_per_block"));
  const int registers = StreamSchedule::multiplying_registers(threads);
  refuse_if(result.constant("block_rows") > StreamSchedule::most_placed_rows(registers), directive,
            fmt::format(
                "a block has {} rows, and with as many warps again that place lanes have registers for the sums of {}",
                result.constant("block_rows"), StreamSchedule::most_placed_rows(registers)),
            "choose fewer rows, or fewer warps");
  if (StreamSchedule::exchanges_registers(threads)) {
    result.constants.push_back({"multiplying_registers", registers, "of each consumer thread"});
    result.constants.push_back({"placing_registers", StreamSchedule::placing_registers, "of each producer thread"});
    insert(parts.body, at,
           {Node{Branch{multiplies(),
                        {perform("take_registers", {index("multiplying_registers")})},
                        {perform("leave_registers", {index("placing_registers")})}}}});
  }
  ArrayDeclaration& placed = *std::ranges::find(result.arrays, "PlacedA", &ArrayDeclaration::name);
  placed.extents.insert(placed.extents.begin(), Affine::of("buffers"));
  result.consumer_group = "part";
  result.description.emplace_back(
      "Half of the warps are producers: they copy and decompress values one iteration ahead. The consumers, the other "
      "half, multiply what was decompressed in the iteration before.");
  return put_together(result, parts);
}

}  // namespace esc
