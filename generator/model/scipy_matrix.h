// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/matrix/read_options.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/model/weight.h"

namespace esc {

/// The matrix that SciPy has written in one of its sparse formats. Entries may come in any order; zeros among them are
/// dropped, and one that is there twice is refused. Throws UserError, with the array's name and the byte, for arrays
/// that contradict each other or the shape, and for values that are not finite or not within float32, as all readers
/// do.
SparseMatrix read_scipy_matrix(const Weight& weight, const ReadOptions& options);

}  // namespace esc
