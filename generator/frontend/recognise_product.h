#pragma once

#include <vector>

#include "generator/frontend/read_action.h"
#include "generator/ir/loop_nest.h"

namespace esc::frontend {

/// The loop nest of a sparse-dense product, with the function's own names and loop order. The actions are what the
/// function does, in the order of the text: one update in three loops, perhaps with a local that gathers the sum, and
/// with C set to zero before. Which array and which loop play which role follows from the subscripts alone. Refuses
/// everything else; `function` is where the function's name stands.
LoopNest recognise_product(const std::vector<Action>& actions, clang::SourceLocation function);

}  // namespace esc::frontend
