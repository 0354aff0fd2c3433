// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/frontend/parse_loop_nest.h"

namespace esc {

/// What `parse_loop_nest` makes of a text that nobody has looked at. A process that has no rights but to read files
/// parses it, within limits of time, memory and stack, and prints the nest; this process reads that print, which
/// includes nothing and is short; parameters whose sizes are given are numbers in it. Throws UserError as
/// `parse_loop_nest` does, also where the text is too much for the limits.
LoopNest read_confined_nest(const std::string& text, const std::string& file_name, NestHeaders headers,
                            const GivenSizes& sizes = {});

}  // namespace esc
