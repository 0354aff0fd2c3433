#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// unroll(k, U) on tasks: a lane group takes U of its non-zeros per iteration and loads what it needs of B for all of
/// them before it multiplies, so that the loads are under way together.
///
///   for (c = group; c < length; c += 4) { k = Columns[first + c]; if (j < N) c0_0 += Values[first + c] * B[k][j]; }
///     -> for (c = group; c < length; c += 8) { place1 = min(c + 4, length - 1);
///          k0 = Columns[first + c]; k1 = Columns[first + place1];
///          a0 = Values[first + c]; a1 = c + 4 < length ? Values[first + c + 4] : 0;
///          b0_0 = j < N ? B[k0][j] : 0; b1_0 = j < N ? B[k1][j] : 0; c0_0 += a0 * b0_0; c0_0 += a1 * b1_0; }
///
/// Behind the end of a task its last column is repeated, times zero: that needs no tail, and reads nothing that the
/// task does not have. Stands last.
/// Refuses tasks whose sums are not reduced, loops other than that over their non-zeros, a second unrolling, and
/// factors outside 1 to 8.
LoopNest unroll_tasks(const LoopNest& nest, const Unroll& directive);

}  // namespace esc
