// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// prefetch(A): what an iteration reads of the packed matrix is asked for one iteration earlier, the first of it in
/// front of the loop.
///
///   for (quad..) { registers current = 0; for (q..) { clear_quad(current[q]); if (..) load_quad(current[q], ..); }
///     here += round_quads; left += -round_quads; rest }
///     -> registers next = 0; for (q..) { if (..) load_quad(next[q], ..); }
///        for (quad..) { here += round_quads; left += -round_quads; registers current;
///          for (q..) { current[q] = next[q]; clear_quad(next[q]); if (..) load_quad(next[q], ..); }
///          rest }
///
///   for (c = start; c < length; c += step) { registers current; load_pairs(current, .., c, ..); rest }
///     -> registers next = 0; if (start < length) load_pairs(next, .., start, ..);
///        for (c..) { registers current; current = next; if (c + step < length) load_pairs(next, .., c + step, ..);
/// rest }
///
/// Stands after the columns of A are batched.
/// Refuses arrays other than A, columns that are not batched, a second prefetch, and regions in shared memory.
LoopNest prefetch(const LoopNest& nest, const Prefetch& directive);

}  // namespace esc
