// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// Writes `matrix` in the format that the ending of `path` names: .smtx (the pattern only, values are lost), .mtx
/// (coordinate real general, values read back exactly) or .npy (dense float32 in C order). The file is put into place
/// whole or not at all. Throws UserError for other endings and when the file cannot be written.
void write_matrix(const SparseMatrix& matrix, const std::filesystem::path& path);

}  // namespace esc
