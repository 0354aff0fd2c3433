// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/ir/instruction_form.h"

namespace esc {

/// Those that place the values of fragments in shared memory and multiply them there.
std::vector<Instruction> placed_instructions();

}  // namespace esc
