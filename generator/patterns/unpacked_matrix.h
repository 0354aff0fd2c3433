// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/matrix/sparse_matrix.h"
#include "transformer/unpack.h"

namespace esc {

/// What was unpacked of a bundle with these elements. A packed file says what its values are in memory: those of tf32
/// are float32's, of which each must be a number of tf32. Where the file has others the matrix has the file's type.
SparseMatrix unpacked_matrix(transformer::CsrMatrix unpacked, ScalarType element);

}  // namespace esc
