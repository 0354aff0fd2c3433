// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Gives what is copied and placed to warps of their own, as many as multiply, which are an iteration ahead of these:
///
///   for (iteration < iterations)                              if (role < 1) take_registers(..); else
///   leave_registers(..);
///     copy(iteration + early_stages);                    for (iteration < iterations + 1)
///     if (its < rounds) place(PlacedA[part]);   ->    barrier;
///     barrier;                                        if (role < 1) { if (0 < iteration) ...
///     multiply(PlacedA[(iteration - 1) %
/// 2][part]); }
///     if (its < rounds) multiply(PlacedA[part]);      else { copy(iteration + early_stages); if (its < rounds)
/// place(PlacedA[iteration % 2][part]); }
///
/// So both take their time beside each other, and warps that multiply have the registers that those that place do not
/// need. After all steps that change iterations, before pdl(). Throws ScheduleError where no values are placed, or
/// nothing is copied three iterations ahead.
LoopNest warp_specialize(const LoopNest& nest, const WarpSpecialize& directive);

}  // namespace esc
