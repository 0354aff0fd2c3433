// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// stage(A): a warp copies its quads of its panels to shared memory before it reads them, past the registers, so that
/// all of them are under way together.
///
///   here = find_quad(first_of_panel, ..); left = ..; for (quad..) { registers current;
///     for (q..) { clear_quad(current[q]); if (..) load_quad(current[q], Columns, .., here, q * dealt_quads, ..); }
///     here += round_quads; left += -round_quads; rest }
///     -> here = stage_quads(Columns, Values, .., warp, ..); wait_for_copies(); barrier of the warp;
///        for (quad..) { registers current;
///          for (q..) load_quad(current[q], StagedColumns, .., here, q * sharing_groups, ..);
///          here += staged_round; rest }
///
/// Where rows of B do not have their columns one behind the other, load_dealt_quad gives lane groups beside each other
/// columns of A beside each other, which are elements of B beside each other.
/// Rounds that are not full are filled up with zeros, so that nothing is asked in the loop. Every warp reads what it
/// copied itself: the lanes of a warp wait for each other, not the warps of a block. Stands after the columns of A are
/// batched, because it says where quads are read from and not what is read.
/// Refuses arrays that are not stored in regions or not batched, and staging what is prefetched or staged.
LoopNest stage_regions(const LoopNest& nest, const StageRegions& directive);

}  // namespace esc
