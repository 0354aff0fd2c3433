// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"

namespace esc::tests {

/// A matrix of the fixed list, with what is awkward about it.
struct NamedMatrix {
  std::string name;
  SparseMatrix matrix;
};

/// Matrices with one row, one column, sizes that no factor divides, empty and full rows, and more columns than 16 bits
/// count. The rows repeat few different columns, so that row tiles of any height have few patterns and the texts made
/// for them stay short.
std::vector<NamedMatrix> awkward_shapes();

}  // namespace esc::tests
