// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/interpret.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/schedule/schedule.h"

namespace esc::tests {

/// The tasks of a matrix as arrays and sizes of the nest after transform(A, tasks, ..).
struct ReferenceTasks {
  Tensor rows;        ///< [task]: row of C
  Tensor splits;      ///< [task]: 1 where the row has further tasks, else 0
  Tensor first;       ///< [task]: its first non-zero
  Tensor lengths;     ///< [task]: how many it has
  Tensor columns;     ///< [non-zero]
  Tensor values;      ///< [non-zero]
  Tensor split_rows;  ///< rows that have several tasks, ascending
  std::int64_t heavy = 0;
};

/// The tasks that `schedule` asks for, written down from their description, without the packer: the pieces of all rows
/// are collected and then sorted by the power of two that bounds their length.
ReferenceTasks reference_tasks(const SparseMatrix& matrix, const RowsSchedule& schedule);

}  // namespace esc::tests
