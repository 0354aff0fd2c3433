// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/performed_instructions.h"

#include <algorithm>
#include <set>

#include "generator/ir/instruction.h"
#include "generator/ir/rewrite.h"

namespace esc {

std::vector<std::string> performed_instructions(const LoopNest& nest) {
  std::set<std::string> used;
  rewrite(nest.body, {.statement = [&](const Statement& statement) -> Block {
            if (const auto* perform = std::get_if<Perform>(&statement.action)) {
              used.insert(perform->instruction);
            }
            return {};
          }});
  std::vector<std::string> names;
  for (const Instruction& one : all_instructions()) {
    if (used.contains(one.name)) {
      names.push_back(one.name);
    }
  }
  return names;
}

bool performs(const LoopNest& nest, std::string_view instruction) { return performs(nest.body, instruction); }

bool performs(const Block& block, std::string_view instruction) {
  bool found = false;
  rewrite(block, {.statement = [&](const Statement& statement) -> Block {
            const auto* performed = std::get_if<Perform>(&statement.action);
            found = found || (performed != nullptr && performed->instruction == instruction);
            return {};
          }});
  return found;
}

}  // namespace esc
