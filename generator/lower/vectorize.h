// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// vectorize(j): what a lane moves of consecutive columns it moves at once.
///
///   for (c..) { k = ..; for (u..) for (v..) if (j + v < N) sums[..] += .. * B[k][j + v]; }
///   .. for (w..) if (row < M && at + w < N) C[row][at + w] = sums[e + w];
///     -> registers columns; clamp_columns(columns, j, N);
///        for (c..) { k = ..; registers part; load_part(part, B[k], columns);
///          for (u..) for (v..) sums[..] += .. * part[v]; }
///        .. if (row < M) store_columns(C[row][at], sums[e], stored_width, at < N ? N - at : 0);
///
/// Columns of B after its end are read at a column that is there, and not stored: the loads need no condition. The
/// kernel has two variants, one for rows of B and C that are not aligned. Is after the sums are in registers, for
/// their stores are what it widens, and before the columns of A are batched, which share one row of columns.
/// Refuses loops other than the mapped columns, and sums that are not in registers.
LoopNest vectorize(const LoopNest& nest, const Vectorize& directive);

}  // namespace esc
