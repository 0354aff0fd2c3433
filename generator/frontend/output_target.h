#pragma once

#include <cstddef>
#include <vector>

#include "generator/frontend/read_action.h"

namespace esc::frontend {

/// The element of the output that the update at actions[update], in three loops, adds to in the end: its own target or,
/// where it gathers in a local, the element that the local is stored to. Accepts every other action that leaves the
/// result the same, which is C set to zero before anything is added to it, and refuses the rest.
MatrixElement output_target(const std::vector<Action>& actions, std::size_t update);

}  // namespace esc::frontend
