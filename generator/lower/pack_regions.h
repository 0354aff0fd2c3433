// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Columns that are loaded together.
inline constexpr int packet_columns = 4;

/// transform(A, regions): the row tiles of the sparse array are stored as packets of columns;
/// transformer/region_format.h says how. Which row tile has a tile slot is looked up, where its packets begin and how
/// many it has follows from the tile slot.
///
///   row_tile = tile_slot; .. count = size(columns(i, any of 0b11)); for (c = G * part + group; c < count; c += W * G)
///   {
///     k = columns(i, any of 0b11)[c]; for (u..) for (v..) if (i + u < M && j + v < N) sums[..] += A[i + u][k] * B[k][j
/// + v]; }
///     -> row_tile = row_tile_at(Numbers, tile_slot); .. packets, first_of_row_tile = find_row_tile(Packets,
///     set_of_grid, tile_slot);
///        for (packet = warp_first + group; packet < packets; packet += cyclic_packets) for (s = 0; s < 4; s++) {
///          k = Columns[first_of_row_tile][4 * packet + s];
///          for (u..) for (v..) if (j + v < N) sums[..] += Values[first_of_row_tile][4 * packet + s][u] * B[k][j + v];
///          }
///
/// Packets are dealt in turn to all lane groups that share a row tile. What is filled up, and rows beyond M, have zeros
/// for values, so that neither needs a condition. Is after the sums are in registers, which leaves one loop over
/// columns and no other access to A.
/// Refuses arrays other than the sparse one, and a nest whose sums are not in registers.
LoopNest pack_regions(const LoopNest& nest, const PackRegions& directive);

}  // namespace esc
