// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/unused_definitions.h"

#include <algorithm>
#include <string>
#include <vector>

#include "generator/ir/instruction.h"
#include "generator/ir/rewrite.h"

namespace esc {
namespace {

/// The index variables that a statement defines and does nothing else.
std::vector<std::string> defined_by(const Node& node) {
  if (const auto* perform = action<Perform>(node)) {
    return looked_up_by(*perform);
  }
  const auto* define = action<Define>(node);
  return define != nullptr && is_index(define->type) ? std::vector<std::string>{define->name}
                                                     : std::vector<std::string>{};
}

}  // namespace

std::vector<std::string> looked_up_by(const Perform& perform) {
  return instruction(perform.instruction).scope == Scope::thread ? perform.results : std::vector<std::string>{};
}

Block without_unused_definitions(const Block& block) {
  Block result = block;
  for (std::size_t at = result.size(); at > 0; --at) {
    const std::vector<std::string> names = defined_by(result[at - 1]);
    const Block behind(result.begin() + static_cast<std::ptrdiff_t>(at), result.end());
    const bool switches =
        std::ranges::any_of(behind, [](const Node& node) { return std::holds_alternative<Switch>(node.content); });
    if (!names.empty() && !switches &&
        std::ranges::none_of(names, [&](const std::string& name) { return mentions(behind, name); })) {
      result.erase(result.begin() + static_cast<std::ptrdiff_t>(at) - 1);
    }
  }
  return result;
}

}  // namespace esc
