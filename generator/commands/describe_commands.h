// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/commands/command.h"

namespace esc {

/// Adds the commands with which a program describes itself: completion for shells, and man, which no help shows.
void add_describing_commands(CLI::App& program, const CommonOptions& common, Action& action);

}  // namespace esc
