// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/matrix/sparse_matrix.h"

namespace esc::gpu {

/// So many of the columns of an aligned group may have a non-zero in a row: 2 of 4, written 2:4, for example.
struct RowStructure {
  int most = 0;
  int of = 0;
};

/// The structure of rows that sparse tensor cores take of elements of the type: 2:4 in 16 bits, 1:2 in 32.
constexpr RowStructure tensor_core_structure(ScalarType element) {
  return is_half(element) ? RowStructure{2, 4} : RowStructure{1, 2};
}

/// Whether every row of the matrix has it.
bool has_structure(const SparseMatrix& matrix, RowStructure structure);

}  // namespace esc::gpu
