// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// What stands for the packed matrix in the holes of instructions.
std::map<std::string, std::string> packed_matrix_holes(const LoopNest& nest);

}  // namespace esc
