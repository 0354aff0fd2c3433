// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/emit/packed_access.h"
#include "generator/ir/loop_nest.h"

namespace esc {

/// The cases of a switch, a device function each, and the choice among them.
struct CasesText {
  std::string functions;
  std::string choice;
};
CasesText print_cases(const LoopNest& nest, const Switch& choice, const PackedAccess& packed);

}  // namespace esc
