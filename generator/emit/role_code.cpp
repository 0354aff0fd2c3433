// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/role_code.h"

#include <algorithm>
#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/rewrite.h"
#include "generator/ir/roles.h"
#include "generator/ir/unused_definitions.h"
#include "generator/lower/thread_nest.h"

namespace esc {
namespace {

/// Whether a node says what warps of the first role do, and what the others do.
bool is_of_roles(const Node& node) {
  const auto* branch = std::get_if<Branch>(&node.content);
  return branch != nullptr && branch->condition == multiplies();
}

bool is_barrier_of_block(const Node& node) {
  const auto* barrier = std::get_if<Barrier>(&node.content);
  return barrier != nullptr && barrier->scope == Scope::block;
}

/// A branch between roles is decided.
Block of_role(const Block& block, bool first) {
  Block result;
  for (const Node& node : block) {
    if (is_barrier_of_block(node) && !first) {
      continue;
    }
    Node own = node;
    if (auto* branch = std::get_if<Branch>(&own.content)) {
      const bool is_others = branch->condition == serves();
      if (is_of_roles(node) || is_others) {
        append(result, of_role(is_others != first ? branch->then : branch->otherwise, first));
        continue;
      }
      branch->then = of_role(branch->then, first);
      branch->otherwise = of_role(branch->otherwise, first);
    } else if (auto* loop = std::get_if<Loop>(&own.content)) {
      loop->body = without_unused_definitions(of_role(loop->body, first));
    }
    result.push_back(std::move(own));
  }
  return result;
}

Block without_meetings(const Block& block) {
  return rewrite(block, {.around = [](const Node& node) -> Node {
                   Node result = node;
                   if (auto* const loop = std::get_if<Loop>(&result.content)) {
                     std::erase(loop->body, Node{Barrier{Scope::consumer_group}});
                   }
                   return result;
                 }});
}

/// Iterations have code of their own where a producer copies tiles of B, in which nobody meets, and where consumers do.
/// Whoever decided within them would pay for both. Before them each warp waits for its own packed tile.
Block with_iterations_by_copies(const Block& block, bool consumers) {
  Block result;
  for (const Node& node : block) {
    if (node == Node{Barrier{Scope::consumer_group}}) {
      continue;
    }
    const auto* loop = std::get_if<Loop>(&node.content);
    const bool iterates = loop != nullptr && loop->role == Role::reduction;
    result.push_back(iterates ? Node{Branch{has_boxes(), without_meetings(decided({node}, true)),
                                            consumers ? decided({node}, false) : Block{}}}
                              : node);
  }
  return result;
}

}  // namespace

bool parts_roles(const Node& node) {
  const auto* loop = std::get_if<Loop>(&node.content);
  return is_of_roles(node) || (loop != nullptr && loop->role == Role::reduction && !is_mapped(loop->mapping));
}

bool meets_behind_iterations(const LoopNest& nest) {
  const Block body = take_apart(nest).body;
  return std::any_of(std::ranges::find_if(body, parts_roles), body.end(), is_barrier_of_block);
}

Block code_of_role(const LoopNest& nest, const Block& parted, bool consumers) {
  const Block own = of_role(parted, consumers);
  return without_unused_definitions(has_producer_warps(nest) ? with_iterations_by_copies(own, consumers) : own);
}

}  // namespace esc
