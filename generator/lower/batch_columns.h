// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// unroll_k(k, F): a lane group takes F columns of A per iteration, reads what the packed matrix has of them in wide
/// loads, and asks for all rows of B before it uses the first.
///
///   for (quad = warp_first + group; quad < quads; quad += dealt_quads) for (s..) { k = Columns[first_of_panel][4 *
/// quad + s];
///     load_part(part, B[k], columns); for (u..) for (v..) sums[..] += ..; }
///     -> here = find_quad(first_of_panel, warp_first + group); left = quads - (warp_first + group);
///        for (quad = warp_first; quad < quads; quad += round_quads) { registers current = 0;
///          for (q..) { clear_quad(current[q]);
///            if (q * dealt_quads < left) load_quad(current[q], Columns, Values, first_of_panel, here, q * dealt_quads,
/// ..); }
///          here += round_quads; left += -round_quads;
///          for (q..) multiply_quad(current[q], B, columns, sums); }
///
///   for (c = start; c < length; c += stride) { k = Columns[first + c]; .. }
///     -> step = stride * pairs_at_once;
///        for (c = start; c < length; c += step) { registers current;
///          load_pairs(current, Columns, Values, first, c, stride, length); multiply_pairs(current, B, columns, sums);
/// }
///
/// All lane groups of a warp go through the same number of rounds; one that has no quad left multiplies zeros, which
/// costs less than a branch. Behind the end of a task its last column is repeated, times zero. Stands after vectorize,
/// whose columns all rows of B share. Refuses a nest whose sparse array is neither in regions nor in tasks, loops that
/// are not vectorized, a second batch, factors that are no multiple of a quad's columns, and such outside 1 to 8.
LoopNest batch_columns(const LoopNest& nest, const BatchColumns& directive);

}  // namespace esc
