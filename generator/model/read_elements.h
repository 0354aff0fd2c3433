// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// The matrix of a layer's file with elements of this type, read as read_type says and rounded after that. Throws
/// UserError for what cannot be read, and for values beyond the type.
SparseMatrix read_elements(const std::string& file, ScalarType element);

}  // namespace esc
