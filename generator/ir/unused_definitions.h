// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

/// The index variables that an instruction only looks up, as a thread does by itself.
std::vector<std::string> looked_up_by(const Perform& perform);

/// The block without definitions of index variables that nothing reads.
Block without_unused_definitions(const Block& block);

}  // namespace esc
