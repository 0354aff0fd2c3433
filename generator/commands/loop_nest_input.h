// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "generator/commands/nest_source.h"
#include "generator/ir/loop_nest.h"

namespace esc {

/// The loop nest that the source names. The shipped ones have elements of any type; a file says its own, and a
/// UserError is thrown where another one is asked for, as where a file is given and an epilogue or a layout too.
LoopNest read_loop_nest(const NestSource& source, std::optional<ScalarType> element = std::nullopt);

}  // namespace esc
