#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// prefetch(A): what an iteration reads of the packed matrix is asked for one iteration earlier, the first of it in
/// front of the loop.
///
///   for (quad..; quad += quads_at_once) { registers current; for (q..) load_quad(current[q], .., here, q, ..);
///     here += quads_at_once; rest }
///     -> registers next; for (q..) load_quad(next[q], .., here, q, ..);
///        for (quad..; quad += quads_at_once) { registers current; for (q..) current[q] = next[q];
///          here += quads_at_once;
///          if (quad + quads_at_once < quads) for (q..) load_quad(next[q], .., here, q, ..);
///          rest }
///
/// A region has room for one iteration even where it has no steps, so that its first load waits for nothing; a task may
/// be empty, and is asked. Stands after the columns of A are batched.
/// Refuses arrays other than A, columns that are not batched, a second prefetch, and regions in shared memory.
LoopNest prefetch(const LoopNest& nest, const Prefetch& directive);

}  // namespace esc
