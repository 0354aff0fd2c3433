// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/ir/instruction_form.h"

namespace esc {

/// The instruction of this name. Throws Defect when there is none.
const Instruction& instruction(const std::string& name);

/// All of them, those whose texts others need in front.
const std::vector<Instruction>& all_instructions();

}  // namespace esc
