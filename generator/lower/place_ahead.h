// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Gives what is copied and placed to warps of their own, as many as multiply, which are a turn ahead of these:
///
///   for (turn < turns)                              if (role < 1) take_registers(..); else leave_registers(..);
///     copy(turn + early_stages);                    for (turn < turns + 1)
///     if (its < rounds) place(PlacedA[part]);   ->    barrier;
///     barrier;                                        if (role < 1) { if (0 < turn) ... multiply(PlacedA[(turn - 1) %
/// 2][part]); }
///     if (its < rounds) multiply(PlacedA[part]);      else { copy(turn + early_stages); if (its < rounds)
/// place(PlacedA[turn % 2][part]); }
///
/// So both take their time beside each other, and warps that multiply have the registers that those that place do not
/// need. Behind all steps that change turns, in front of pdl(). Throws ScheduleError where no values are placed, or
/// nothing is copied three turns ahead.
LoopNest place_ahead(const LoopNest& nest, const PlaceAhead& directive);

}  // namespace esc
