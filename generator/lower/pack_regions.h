// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Columns that are loaded together.
inline constexpr int quad_columns = 4;

/// transform(A, regions): the panels of the sparse array are stored as quads of columns; transformer/region_format.h
/// says how. Which panel has a seat is looked up, where its quads begin and how many it has follows from the seat.
///
///   panel = seat; .. count = size(columns(i, any of 0b11)); for (c = G * part + group; c < count; c += W * G) {
///     k = columns(i, any of 0b11)[c]; for (u..) for (v..) if (i + u < M && j + v < N) sums[..] += A[i + u][k] * B[k][j
/// + v]; }
///     -> panel = panel_at(Numbers, seat); .. quads, first_of_panel = find_panel(Quads, set_of_grid, seat);
///        for (quad = warp_first + group; quad < quads; quad += dealt_quads) for (s = 0; s < 4; s++) {
///          k = Columns[first_of_panel][4 * quad + s];
///          for (u..) for (v..) if (j + v < N) sums[..] += Values[first_of_panel][4 * quad + s][u] * B[k][j + v]; }
///
/// Quads are dealt in turn to all lane groups that share a panel. What is filled up, and rows beyond M, have zeros for
/// values, so that neither needs a condition. Stands after the sums are in registers, which leaves one loop over
/// columns and no other access to A.
/// Refuses arrays other than the sparse one, and a nest whose sums are not in registers.
LoopNest pack_regions(const LoopNest& nest, const PackRegions& directive);

}  // namespace esc
