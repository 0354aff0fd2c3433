// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

/// Names of the instructions that a nest performs, each once, in the order of all_instructions.
std::vector<std::string> performed_instructions(const LoopNest& nest);

/// Whether it performs this one.
bool performs(const LoopNest& nest, std::string_view instruction);
bool performs(const Block& block, std::string_view instruction);

}  // namespace esc
