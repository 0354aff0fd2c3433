#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// transform(A, regions, F): the sparse array is stored as one region for each warp, in the order in which its lane
/// groups read it. Region (block_sets * block + set) * panel_warps + part belongs to warp number `part` of those that
/// share the panels of a set.
///
///   count = size(columns(i, any of 0b11)); for (c = G * part + group; c < count; c += W * G) {
///     k = columns(i, any of 0b11)[c]; for (u..) for (v..) if (i + u < M && j + v < N) sums[..] += A[i + u][k] * B[k][j + v]; }
///     -> region = find_region(..); steps = count_steps(Steps, region); for (step = 0; step < steps; step++) {
///          k = Columns[region][step][group_of_warp];
///          for (u..) for (v..) if (j + v < N) sums[..] += Values[region][step][group_of_warp][u] * B[k][j + v]; }
///
/// All lane groups of a region have the same number of steps, a multiple of F: what is filled up, and rows beyond M,
/// have zeros for values, so that neither needs a condition; columns that are filled up repeat the group's last one.
/// Stands after the sums are in registers, which leaves one loop over columns and no other access to A.
/// Refuses arrays other than the sparse one, F other than 4 and 8, and a nest whose sums are not in registers.
LoopNest pack_regions(const LoopNest& nest, const PackRegions& directive);

}  // namespace esc
