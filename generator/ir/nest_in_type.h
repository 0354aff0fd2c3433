// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "generator/ir/loop_nest.h"

namespace esc {

/// The nest in another type: its arrays have it, and numbers that in which sums are computed. What an epilogue reads is
/// not multiplied with A: in tf32 it stays f32. Indices and tables of constants keep their types.
LoopNest in_type(LoopNest nest, ScalarType element);

/// The nest with elements of this type, if it is written for them: in that very type or, as C has none for tf32, in
/// that which they have in memory.
std::optional<LoopNest> written_for(LoopNest nest, ScalarType element);

}  // namespace esc
