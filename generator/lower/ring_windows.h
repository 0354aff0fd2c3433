// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// pipeline(k, 4) of gathered rows: windows of B stand in shared memory, four of them in a ring, with the lists for
/// them, from which lanes gather rows of B.
///
///   for (window..) { steps = ListSteps[..][window][..]; for (step..) .. ListValues[..][step].. * B[k][..]; }
///     -> copy the first two windows and their lists;
///        for (window..) { barrier; copy those of window + 2; wait for those of window + 1;
///          multiply_gathered(StagedListSteps[stage], StagedListColumns[stage][set], StagedListValues[stage][set],
///          StagedB, ..); }
///
/// A list names rows of B of the window before, which is there still, and of the one behind, which is there already.
/// Stands behind transform(A, gathered). Refuses another number of stages, and windows that are copied already.
LoopNest ring_windows(const LoopNest& nest, const PipelineWindows& directive);

}  // namespace esc
