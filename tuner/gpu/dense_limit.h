// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>

#include "generator/matrix/sparse_matrix.h"

namespace esc::gpu {

/// Why no dense copy of a matrix is made for who computes with one; empty where it is made.
inline std::string dense_problem(const SparseMatrix& matrix) {
  constexpr double most_bytes = 4e9;
  const double bytes =
      bytes_of(matrix.element) * static_cast<double>(matrix.rows) * static_cast<double>(matrix.columns);
  return bytes > most_bytes ? fmt::format("A as a dense matrix would take {:.1f} GB", bytes / 1e9) : "";
}

}  // namespace esc::gpu
