// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// The pattern of a matrix from afar: of each cell of a grid the share of its elements that are non-zero.
struct DensityRaster {
  int rows = 0;
  int columns = 0;
  std::vector<double> shares;  ///< row after row

  double at(int row, int column) const {
    return shares[static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column)];
  }
  double densest() const { return *std::ranges::max_element(shares); }
};

/// A grid of so many cells, from 1 on and at most as many as the matrix has rows and columns; each has about as many of
/// them.
DensityRaster density_raster(const SparseMatrix& matrix, int rows, int columns);

}  // namespace esc
