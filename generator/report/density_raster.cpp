// SPDX-License-Identifier: Apache-2.0
#include "generator/report/density_raster.h"

#include <algorithm>
#include <cstddef>

namespace esc {
namespace {

/// The first of `all` that is in a cell, of `cells` which have about as many each.
std::int64_t first_of(int cell, int cells, std::int64_t all) { return (all * cell + cells - 1) / cells; }

/// The cell that has it.
std::int64_t cell_of(std::int64_t index, int cells, std::int64_t all) { return index * cells / all; }

}  // namespace

DensityRaster density_raster(const SparseMatrix& matrix, int most) {
  DensityRaster raster{static_cast<int>(std::min<std::int64_t>(matrix.rows, most)),
                       static_cast<int>(std::min<std::int64_t>(matrix.columns, most)),
                       {}};
  raster.shares.resize(static_cast<std::size_t>(raster.rows) * static_cast<std::size_t>(raster.columns));
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::int64_t cell_row = cell_of(row, raster.rows, matrix.rows);
    const auto end = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]);
    for (auto at = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]); at < end; ++at) {
      raster.shares[static_cast<std::size_t>(cell_row * raster.columns +
                                             cell_of(matrix.column_of[at], raster.columns, matrix.columns))] += 1;
    }
  }
  for (int row = 0; row < raster.rows; ++row) {
    for (int column = 0; column < raster.columns; ++column) {
      const std::int64_t height = first_of(row + 1, raster.rows, matrix.rows) - first_of(row, raster.rows, matrix.rows);
      const std::int64_t width =
          first_of(column + 1, raster.columns, matrix.columns) - first_of(column, raster.columns, matrix.columns);
      raster.shares[static_cast<std::size_t>(row * raster.columns + column)] /= static_cast<double>(height * width);
    }
  }
  return raster;
}

}  // namespace esc
