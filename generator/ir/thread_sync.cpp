// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/thread_sync.h"

#include <algorithm>

#include "generator/ir/instruction.h"
#include "generator/ir/rewrite.h"

namespace esc {
namespace {

bool holds_sync(const Block& block) {
  return std::ranges::any_of(block, [](const Node& node) { return esc::holds_sync(node); });
}

}  // namespace

bool holds_sync(const Node& node) {
  if (std::holds_alternative<Barrier>(node.content)) {
    return true;
  }
  if (const auto* perform = action<Perform>(node)) {
    return instruction(perform->instruction).scope != Scope::thread;
  }
  if (const auto* loop = std::get_if<Loop>(&node.content)) {
    return holds_sync(loop->body);
  }
  if (const auto* branch = std::get_if<Branch>(&node.content)) {
    return holds_sync(branch->then) || holds_sync(branch->otherwise);
  }
  return false;
}

}  // namespace esc
