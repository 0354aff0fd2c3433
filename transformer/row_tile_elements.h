// SPDX-License-Identifier: Apache-2.0
#pragma once

// Row tiles of a matrix with their zeros, for the packers of 16-bit elements.

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transformer/matrix_view.h"
#include "transformer/packed_tile_elements.h"

namespace esc::transformer {

/// Row tiles beside each other: what one counts or writes is its own.
template <typename Format, typename Work>
void for_each_row_tile(const Format& format, const Work& work) {
  tbb::parallel_for(std::uint64_t{0}, format.row_tiles(), work);
}

/// The non-zeros of a row tile, of which each packed tile has its own.
class RowTileNonzeros {
 public:
  template <typename Format>
  RowTileNonzeros(const CsrView& matrix, const Format& format, std::uint64_t row_tile) : packed_tiles_(format.tiles()) {
    const auto number = static_cast<std::int64_t>(row_tile);
    for (std::uint32_t row = 0; row < format.shape.rows_in(number); ++row) {
      take_row(matrix, static_cast<std::size_t>(format.shape.first_row(number) + row), row);
    }
  }

  const PackedTileNonzeros& packed_tile(std::uint64_t tile) const {
    return packed_tiles_[static_cast<std::size_t>(tile)];
  }

 private:
  /// A K block at a time: its number is in a register while its entries are read.
  void take_row(const CsrView& matrix, std::size_t row_of_matrix, std::uint32_t row) {
    const auto end = static_cast<std::size_t>(matrix.offsets[row_of_matrix + 1]);
    for (auto at = static_cast<std::size_t>(matrix.offsets[row_of_matrix]); at < end;) {
      const std::int32_t block = matrix.column_of[at] / static_cast<std::int32_t>(packed_block_columns);
      const std::int32_t first = block * static_cast<std::int32_t>(packed_block_columns);
      std::uint64_t nonzeros = 0;
      for (; at < end && matrix.column_of[at] - first < static_cast<std::int32_t>(packed_block_columns); ++at) {
        nonzeros |= std::uint64_t{matrix.values[at] != 0} << (matrix.column_of[at] - first);
      }
      packed_tiles_[static_cast<std::size_t>(block) / packed_tile_blocks].of_row[row][block % packed_tile_blocks] =
          nonzeros;
    }
  }

  std::vector<PackedTileNonzeros> packed_tiles_;
};

/// A row tile with its zeros, and the columns that its last K tile lacks.
template <typename Half>
class RowTileElements {
 public:
  template <typename Format>
  RowTileElements(const CsrView& matrix, const Format& format, std::uint64_t row_tile)
      : columns_(static_cast<std::size_t>(format.tiles()) * packed_tile_columns),
        elements_(packed_tile_rows * columns_) {
    const auto number = static_cast<std::int64_t>(row_tile);
    for (std::uint32_t row = 0; row < format.shape.rows_in(number); ++row) {
      const auto of_matrix = static_cast<std::size_t>(format.shape.first_row(number) + row);
      const auto end = static_cast<std::size_t>(matrix.offsets[of_matrix + 1]);
      for (auto at = static_cast<std::size_t>(matrix.offsets[of_matrix]); at < end; ++at) {
        elements_[row * columns_ + static_cast<std::size_t>(matrix.column_of[at])] = Half(matrix.values[at]);
      }
    }
  }

  void read_packed_tile(std::uint64_t tile, PackedTileElements<Half>& elements) const {
    for (std::uint32_t row = 0; row < packed_tile_rows; ++row) {
      const Half* const from = elements_.data() + row * columns_ + tile * packed_tile_columns;
      std::copy_n(from, packed_tile_columns, elements.of_row[row]);
    }
  }

 private:
  std::size_t columns_;
  std::vector<Half> elements_;
};

}  // namespace esc::transformer
