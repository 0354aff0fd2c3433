#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// batch(k, F): a lane group takes F columns of A per iteration, reads what the packed matrix has of them in wide loads,
/// and asks for all rows of B before it uses the first.
///
///   for (step..) { k = Columns[region][step][g]; load_part(part, B[k], columns); for (u..) for (v..) sums[..] += ..; }
///     -> quads = count_quads(Steps, region); here = first_quad(region);
///        for (quad = 0; quad < quads; quad += quads_at_once) { registers current;
///          for (q..) load_quad(current[q], Columns, Values, region, here, q, g);
///          here += quads_at_once;
///          for (q..) multiply_quad(current[q], B, columns, sums); }
///
///   for (c = start; c < length; c += stride) { k = Columns[first + c]; .. }
///     -> step = stride * pairs_at_once;
///        for (c = start; c < length; c += step) { registers current;
///          load_pairs(current, Columns, Values, first, c, stride, length); multiply_pairs(current, B, columns, sums); }
///
/// Regions hold whole quads of steps, a multiple of F; behind the end of a task its last column is repeated, times zero:
/// neither needs a tail. Stands after vectorize, whose columns all rows of B share.
/// Refuses a nest whose sparse array is neither in regions nor in tasks, loops that are not vectorized, a second batch,
/// and factors that the steps of a region are no multiple of or that are outside 1 to 8.
LoopNest batch_columns(const LoopNest& nest, const BatchColumns& directive);

}  // namespace esc
