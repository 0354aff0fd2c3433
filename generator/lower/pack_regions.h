#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// transform(A, regions, F): the sparse array is stored as one region for each warp, in the order in which its lane
/// groups read it. Region sets * W * block + W * set + warp belongs to warp number `warp` of the W that share the
/// panels of a set.
///
///   count = size(columns(i, any of 0b11)); for (c = G * warp + group; c < count; c += W * G) {
///     k = columns(i, any of 0b11)[c]; if (i + 1 < M && j < N) c1_0 += A[i + 1][k] * B[k][j]; }
///     -> region = ..; steps = Steps[region]; for (step = 0; step < steps; step++) {
///          k = Columns[region][step][G * panel + group];
///          if (j < N) c1_0 += Values[region][step][G * panel + group][1] * B[k][j]; }
///
/// All lane groups of a region have the same number of steps, a multiple of F: what is filled up, and rows beyond M,
/// have zeros for values, so that neither needs a condition; columns that are filled up repeat the group's last one.
/// Stands after the reduction, which leaves one loop over columns and no other access to A.
/// Refuses arrays other than the sparse one, F outside 1 to 8, and a nest whose sums are not reduced.
LoopNest pack_regions(const LoopNest& nest, const PackRegions& directive);

/// Whether the sparse array is stored in regions.
bool has_regions(const LoopNest& nest);

}  // namespace esc
