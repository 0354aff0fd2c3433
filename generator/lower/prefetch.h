// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// prefetch(A): what an iteration reads of the packed matrix is asked for one iteration earlier, the first of it in
/// front of the loop.
///
///   for (packet..) { registers current = 0; for (q..) { clear_packet(current[q]); if (..) load_packet(current[q], ..);
///   }
///     here += round_packets; left += -round_packets; rest }
///     -> registers next = 0; for (q..) { if (..) load_packet(next[q], ..); }
///        for (packet..) { here += round_packets; left += -round_packets; registers current;
///          for (q..) { current[q] = next[q]; clear_packet(next[q]); if (..) load_packet(next[q], ..); }
///          rest }
///
///   for (c = start; c < length; c += step) { registers current; load_pairs(current, .., c, ..); rest }
///     -> registers next = 0; if (start < length) load_pairs(next, .., start, ..);
///        for (c..) { registers current; current = next; if (c + step < length) load_pairs(next, .., c + step, ..);
/// rest }
///
/// Is after the columns of A are batched.
/// Refuses arrays other than A, columns that are not batched, a second prefetch, and regions in shared memory.
LoopNest prefetch(const LoopNest& nest, const Prefetch& directive);

}  // namespace esc
