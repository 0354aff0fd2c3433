// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// pipeline(k, 4) of gathered rows: windows of B stand in shared memory, four of them in a ring, with the lists of two
/// turns, from which lanes gather rows of B. A further warp asks for both.
///
///   for (window..) { steps = ListSteps[..][window][..]; for (step..) .. ListValues[..][step].. * B[k][..]; }
///     -> for (window..) {
///          if (role is to serve) { wait until turn window - 2 is released; copy its lists and the window behind; }
///          barrier of both;
///          if (role is to multiply) { multiply_gathered(StagedListSteps, .., StagedB, ..); release; } }
///
/// A list names rows of B of the window before, which is there still, and of the one behind, which is there already.
/// The barrier is what the copies' own barriers do: who serves goes on as far as turns are released.
/// Stands behind transform(A, gathered). Refuses another number of stages, and windows that are copied already.
LoopNest ring_windows(const LoopNest& nest, const PipelineWindows& directive);

}  // namespace esc
