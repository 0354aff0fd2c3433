#pragma once

#include <optional>
#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// The loop nest of a C file, or of the shipped templates/spmm.c when `file` is empty. That one has elements of any type; a
/// file says its own, and a UserError is thrown where another one is asked for.
LoopNest read_loop_nest(const std::string& file, std::optional<ScalarType> element = std::nullopt);

}  // namespace esc
