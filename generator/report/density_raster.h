// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// The pattern of a matrix from afar: of each cell of a grid the share of its elements that are non-zero.
struct DensityRaster {
  int rows = 0;
  int columns = 0;
  std::vector<double> shares;  ///< row after row
};

/// A grid of at most `most` cells on a side; a matrix with fewer rows or columns has a cell for each.
DensityRaster density_raster(const SparseMatrix& matrix, int most);

}  // namespace esc
