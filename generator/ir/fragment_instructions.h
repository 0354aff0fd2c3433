// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/ir/instruction_form.h"

namespace esc {

/// Those that copy and multiply fragments of the sparse tensor core.
std::vector<Instruction> fragment_instructions();

}  // namespace esc
