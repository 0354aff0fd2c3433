// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// unroll_k(k, F): a lane group takes F columns of A per iteration, reads what the packed matrix has of them in wide
/// loads, and asks for all rows of B before it uses the first.
///
///   for (packet = warp_first + group; packet < packets; packet += cyclic_packets) for (s..) { k =
///   Columns[first_of_row_tile][4 *
/// packet + s];
///     load_part(part, B[k], columns); for (u..) for (v..) sums[..] += ..; }
///     -> here = find_packet(first_of_row_tile, warp_first + group); left = packets - (warp_first + group);
///        for (packet = warp_first; packet < packets; packet += round_packets) { registers current = 0;
///          for (q..) { clear_packet(current[q]);
///            if (q * cyclic_packets < left) load_packet(current[q], Columns, Values, first_of_row_tile, here, q *
///            cyclic_packets,
/// ..); }
///          here += round_packets; left += -round_packets;
///          for (q..) multiply_packet(current[q], B, columns, sums); }
///
///   for (c = start; c < length; c += stride) { k = Columns[first + c]; .. }
///     -> step = stride * pairs_at_once;
///        for (c = start; c < length; c += step) { registers current;
///          load_pairs(current, Columns, Values, first, c, stride, length); multiply_pairs(current, B, columns, sums);
/// }
///
/// All lane groups of a warp go through the same number of rounds; one that has no packet left multiplies zeros, which
/// costs less than a branch. After the end of a task its last column is repeated, times zero. Is after vectorize,
/// whose columns all rows of B share. Refuses a nest whose sparse array is neither in regions nor in tasks, loops that
/// are not vectorized, a second batch, factors that are no multiple of a packet's columns, and such outside 1 to 8.
LoopNest batch_columns(const LoopNest& nest, const BatchColumns& directive);

}  // namespace esc
