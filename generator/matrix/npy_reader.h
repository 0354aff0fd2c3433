// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/matrix/byte_source.h"
#include "generator/matrix/read_options.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// Reads a NumPy file of an array of two dimensions: versions 1.0 to 3.0, little-endian float16, float32 or float64
/// (rounded to float32), in C or Fortran order; or of four in C order, F x C x R x S, which is read as it lies: F rows
/// of C*R*S. Zeros are left out. The file is read twice, so that no more memory is taken than the sparse matrix needs.
/// Throws UserError with the byte when the file breaks a rule, or a value is not finite or not within float32.
SparseMatrix read_npy(ByteSource& source, const ReadOptions& options = {});

}  // namespace esc
