// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// A picture of where the non-zeros of a matrix are, as SVG text. Up to 256 rows (or columns) are drawn one by one;
/// more are gathered into 128 strips. A cell is the darker, in eight steps, the more of it are non-zeros, compared to
/// the fullest cell. The same matrix and title give the same text.
std::string pattern_svg(const SparseMatrix& matrix, std::string_view title);

}  // namespace esc
