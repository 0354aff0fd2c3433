// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// stage(A): a warp copies its packets of its row tiles to shared memory before it reads them, past the registers, so
/// that all of them are under way together.
///
///   here = find_packet(first_of_row_tile, ..); left = ..; for (packet..) { registers current;
///     for (q..) { clear_packet(current[q]); if (..) load_packet(current[q], Columns, .., here, q * cyclic_packets,
///     ..); } here += round_packets; left += -round_packets; rest }
///     -> here = stage_packets(Columns, Values, .., warp, ..); wait_for_copies(); barrier of the warp;
///        for (packet..) { registers current;
///          for (q..) load_packet(current[q], StagedColumns, .., here, q * sharing_groups, ..);
///          here += staged_round; rest }
///
/// Where rows of B do not have their columns one after the other, load_cyclic_packet gives lane groups beside each
/// other columns of A beside each other, which are elements of B beside each other.
/// Rounds that are not full are filled up with zeros, so that nothing is asked in the loop. Every warp reads what it
/// copied itself: the lanes of a warp wait for each other, not the warps of a block. Is after the columns of A are
/// batched, because it says where packets are read from and not what is read.
/// Refuses arrays that are not stored in regions or not batched, and staging what is prefetched or staged.
LoopNest stage_regions(const LoopNest& nest, const StageRegions& directive);

}  // namespace esc
