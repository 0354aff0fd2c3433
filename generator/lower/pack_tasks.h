// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// transform(A, tasks, light=H): the pieces of all rows become a list of tasks, sorted so that those of more than H
/// non-zeros, the `heavy` first ones, are in front; the non-zeros are stored in the order of the tasks.
///
///   for (i...) for (piece...) { count = ..; end = ..;
///     for (j) for (c = L * piece; c < end; c++) { k = columns(i, any of 0b1)[c]; C[i][j] += A[i][k] * B[k][j]; } }
///     -> for (task = 0; task < tasks; task++) { i = Rows[task]; first = First[task]; length = Lengths[task];
///          for (j) for (c = 0; c < length; c++) { k = Columns[first + c]; C[i][j] += Values[first + c] * B[k][j]; } }
///
/// Every row has a task: an empty one where it has no non-zero, so that its elements of C are set, and several where it
/// was cut. Is after the cut and before the mapping, which gives heavy and light tasks different threads: their
/// order is what makes that two loops and not a choice in each thread.
/// Refuses arrays other than the sparse one, an H outside 1 to 512, and rows that are not cut.
LoopNest pack_tasks(const LoopNest& nest, const PackTasks& directive);

}  // namespace esc
