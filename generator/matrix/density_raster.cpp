// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/density_raster.h"

#include <cstdint>

namespace esc {
namespace {

/// Rows, or columns, dealt to cells.
struct Cells {
  std::int64_t lines;
  std::int64_t count;

  std::int64_t of(std::int64_t line) const { return line * count / lines; }
  std::int64_t size(std::int64_t cell) const { return begin(cell + 1) - begin(cell); }

 private:
  std::int64_t begin(std::int64_t cell) const { return (cell * lines + count - 1) / count; }
};

}  // namespace

DensityRaster density_raster(const SparseMatrix& matrix, int rows, int columns) {
  const Cells down{matrix.rows, rows};
  const Cells across{matrix.columns, columns};
  DensityRaster raster{rows, columns, std::vector<double>(static_cast<std::size_t>(down.count * across.count))};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::int64_t first = down.of(row) * across.count;
    const std::int64_t end = matrix.offsets[static_cast<std::size_t>(row) + 1];
    for (std::int64_t at = matrix.offsets[static_cast<std::size_t>(row)]; at < end; ++at) {
      raster.shares[static_cast<std::size_t>(first + across.of(matrix.column_of[static_cast<std::size_t>(at)]))] += 1.0;
    }
  }
  for (std::int64_t y = 0; y < down.count; ++y) {
    for (std::int64_t x = 0; x < across.count; ++x) {
      raster.shares[static_cast<std::size_t>(y * across.count + x)] /=
          static_cast<double>(down.size(y)) * static_cast<double>(across.size(x));
    }
  }
  return raster;
}

}  // namespace esc
