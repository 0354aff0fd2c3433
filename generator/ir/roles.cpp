// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/roles.h"

#include <utility>

#include "generator/ir/build.h"
#include "generator/ir/performed_instructions.h"

namespace esc {

bool has_roles(const LoopNest& nest) { return nest.has_constant("roles"); }

Expression multiplies() { return less(index("role"), 1); }
Expression serves() { return less(0, index("role")); }

Node of_those_who_multiply(Block body) { return Node{Branch{multiplies(), std::move(body), {}}}; }
Node of_those_who_serve(Block body) { return Node{Branch{serves(), std::move(body), {}}}; }

bool meets_at_copies(const LoopNest& nest) { return performs(nest, "release_iteration") || has_producer_warps(nest); }

Expression has_boxes() { return less(0, index("boxed")); }

Block decided(const Block& block, bool boxes) {
  Block result;
  for (const Node& node : block) {
    Node own = node;
    if (auto* branch = std::get_if<Branch>(&own.content)) {
      if (branch->condition == has_boxes()) {
        append(result, decided(boxes ? branch->then : branch->otherwise, boxes));
        continue;
      }
      branch->then = decided(branch->then, boxes);
      branch->otherwise = decided(branch->otherwise, boxes);
    } else if (auto* loop = std::get_if<Loop>(&own.content)) {
      loop->body = decided(loop->body, boxes);
    }
    result.push_back(std::move(own));
  }
  return result;
}

bool has_producer_warps(const LoopNest& nest) { return nest.has_constant("producer_warps"); }

}  // namespace esc
