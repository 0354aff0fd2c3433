// SPDX-License-Identifier: Apache-2.0
#include "generator/lower/cluster_iterations.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/instruction.h"
#include "generator/ir/rewrite.h"
#include "generator/ir/roles.h"
#include "generator/lower/cluster_sums.h"
#include "generator/lower/lane_sums.h"
#include "generator/lower/refusals.h"
#include "generator/lower/thread_nest.h"
#include "generator/lower/unpack_tiles.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

/// The iteration of all blocks of the cluster together that is a block's own iteration.
Expression iteration_of_cluster(const Expression& own) { return own * index("cluster_blocks") + index("rank"); }

/// Whoever asks which K tiles an iteration has is told the iteration of the cluster.
Block with_iterations_of_cluster(const Block& block) {
  return rewrite(
      block, {.statement = [](const Statement& statement) -> Block {
        Statement changed = statement;
        if (auto* defined = std::get_if<Define>(&changed.action)) {
          if (defined->name == "its") {
            defined->value = iteration_of_cluster(index("iteration")) * index("iteration_k_tiles") + index("part");
          } else if (defined->name == "iterations") {
            const Expression k_tiles = index("iteration_k_tiles") * index("cluster_blocks");
            defined->value = quotient(index("rounds") + k_tiles - 1, k_tiles);
          }
        } else if (auto* performed = std::get_if<Perform>(&changed.action)) {
          const std::vector<Instruction::Parameter>& parameters = instruction(performed->instruction).parameters;
          for (std::size_t at = 0; at < parameters.size(); ++at) {
            if (parameters[at].name == "iteration") {
              performed->arguments[at] = iteration_of_cluster(performed->arguments[at]);
            }
          }
        }
        return {Node{std::move(changed)}};
      }});
}

/// Of bitmaps the blocks of a cluster take K tiles beside each other.
Block with_k_tiles_of_cluster(const Block& block) {
  return rewrite(block, {.statement = [](const Statement& statement) -> Block {
                   const auto* defined = std::get_if<Define>(&statement.action);
                   const bool is_first_k_tile = defined != nullptr && defined->name == "first_k_tile";
                   return {is_first_k_tile
                               ? define("first_k_tile", index("rank") * index("iteration_k_tiles") + index("part"))
                               : Node{statement}};
                 }});
}

/// An iteration of theirs has the K tiles of all blocks.
void widen_iterations(LoopNest& nest, int blocks) {
  const auto widened = std::ranges::find(nest.constants, "k_tiles_of_iteration", &NamedConstant::name);
  widened->value = index("iteration_k_tiles") * index("cluster_blocks");
  std::rotate(widened, std::next(widened), nest.constants.end());  // after what it is made of
  std::ranges::find(nest.derived_sizes, "iterations", &DerivedSize::name)->divisor *= blocks;
}

/// Removes the barrier of the block after which sums take the places of operands, and what is said of it. Those of a
/// cluster are after these, which is faster than to wait until all of its blocks have read theirs.
void remove_read_barrier(Block& body, std::size_t place_of_lane) {
  const auto place = std::next(body.begin(), static_cast<std::ptrdiff_t>(place_of_lane));
  body.erase(std::prev(place, 2), place);
}

/// What the first warp of each row tile does in the end: adds the sums of others, where there are any, and stores.
Block finish_of(const Node& last) {
  const auto* branch = std::get_if<Branch>(&last.content);
  return branch == nullptr ? Block{last} : branch->then;
}

}  // namespace

LoopNest cluster_iterations(const LoopNest& nest, const ClusterIterations& directive) {
  refuse_if(nest.find_array("StagedB") == nullptr, directive, "nothing is copied ahead of its use",
            "copy it first: pipeline(k, 4)");
  refuse_if(nest.find_array("cluster_sums") != nullptr, directive, "the iterations are dealt to a cluster already",
            "deal them once");
  refuse_if(has_roles(nest), directive, "warps of their own place values ahead of these iterations",
            "deal the iterations before warp_specialize()");
  refuse_if(nest.overlaps, directive, "the kernel waits for the previous one already",
            "deal the iterations before pdl()");
  check_between(directive, "blocks", directive.blocks, StreamSchedule::max_cluster);
  refuse_if(directive.blocks < 2, directive, "a cluster of one block shares nothing", nearest(2));
  ThreadNest parts = take_apart(nest, directive);
  const bool has_packed_tiles = nest.packed.has_packed_tiles();
  parts.body = has_packed_tiles ? with_k_tiles_of_cluster(parts.body) : with_iterations_of_cluster(parts.body);
  Block finish = finish_of(parts.body.back());
  const Node store = finish.back();
  finish.pop_back();
  append(finish, store_to_owners(nest, directive.blocks));
  const bool takes_places = has_packed_tiles || has_own_columns(nest);  // of operands
  parts.body.pop_back();
  const std::size_t place = find_definition(parts.body, "place_of_lane");
  const bool has_place = place < parts.body.size();
  if (has_place && takes_places) {
    parts.body.pop_back();  // the barrier of the block, which that of the cluster is, too
  } else if (has_place) {
    remove_read_barrier(parts.body, place);
  }
  append(parts.body, define_place_for_owners(nest, directive.blocks, has_place));
  if (takes_places) {
    append(parts.body, {Node{Note{"From here on the operands of all blocks of the cluster have been read, so that sums "
                                  "may take their places."}},
                        Node{Barrier{Scope::cluster}}});
  }
  append(parts.body,
         {Node{Branch{less(number_of_warp(nest), 1), std::move(finish), {}}}, Node{Barrier{Scope::cluster}},
          Node{Branch{owns_sums(nest, directive.blocks), add_as_owner(nest, directive.blocks, store), {}}}});
  if (!takes_places) {
    insert(
        parts.body, find_place(parts.body, Role::reduction),
        {Node{Note{"From here on all blocks of the cluster have begun, so that their shared memory may be written."}},
         Node{Barrier{Scope::cluster}}});
  }
  parts.grid.push_back(mapped_loop(Mapping::cluster, "rank", Affine::of("cluster_blocks"), Role::reduction));

  LoopNest result = put_together(nest, parts);
  result.constants.push_back(
      {"cluster_blocks", directive.blocks, "cluster: blocks that share the K tiles of their row tiles"});
  declare_cluster_sums(result, directive.blocks);
  if (has_packed_tiles) {
    widen_iterations(result, directive.blocks);
    result.unpacking = {unpack_tiles(result)};
    result.repacking = {repack_tiles(result)};
  }
  result.description.emplace_back(
      deals_sums(nest, directive.blocks)
          ? "The blocks of a cluster share the K tiles of their row tiles. In the end each adds up and stores a part "
            "of the columns, which the others have left their sums of in its shared memory."
          : "The blocks of a cluster share the K tiles of their row tiles. In the end they "
            "leave their sums in the shared "
            "memory of the first one, which adds them up.");
  return result;
}

}  // namespace esc
