// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/ir/instruction_form.h"

namespace esc {

/// The instructions of kernels that gather rows of B from shared memory.
std::vector<Instruction> gather_instructions();

}  // namespace esc
