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

bool performs(const LoopNest& nest, std::string_view instruction) {
  const std::vector<std::string> performed = performed_instructions(nest);
  return std::ranges::find(performed, instruction) != performed.end();
}

}  // namespace esc
