// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "transformer/bitmap_packing.h"
#include "transformer/checked_shape.h"
#include "transformer/half_floats.h"
#include "transformer/pack.h"

namespace esc::transformer {
namespace {

/// Row tiles beside each other: what one counts or writes is its own.
template <typename Work>
void for_each_row_tile(const BitmapFormat& format, const Work& work) {
  tbb::parallel_for(std::uint64_t{0}, format.row_tiles(), work);
}

/// The non-zeros of a row tile, of which each packed tile has its own.
class RowTileNonzeros {
 public:
  RowTileNonzeros(const CsrView& matrix, const BitmapFormat& format, std::uint64_t row_tile)
      : packed_tiles_(format.tiles()) {
    const auto number = static_cast<std::int64_t>(row_tile);
    for (std::uint32_t row = 0; row < format.shape.rows_in(number); ++row) {
      take_row(matrix, static_cast<std::size_t>(format.shape.first_row(number) + row), row);
    }
  }

  const BitmapNonzeros& packed_tile(std::uint64_t tile) const { return packed_tiles_[static_cast<std::size_t>(tile)]; }

 private:
  /// A K block at a time: its number is in a register while its entries are read.
  void take_row(const CsrView& matrix, std::size_t row_of_matrix, std::uint32_t row) {
    const auto end = static_cast<std::size_t>(matrix.offsets[row_of_matrix + 1]);
    for (auto at = static_cast<std::size_t>(matrix.offsets[row_of_matrix]); at < end;) {
      const std::int32_t block = matrix.column_of[at] / static_cast<std::int32_t>(bitmap_block_columns);
      const std::int32_t first = block * static_cast<std::int32_t>(bitmap_block_columns);
      std::uint64_t nonzeros = 0;
      for (; at < end && matrix.column_of[at] - first < static_cast<std::int32_t>(bitmap_block_columns); ++at) {
        nonzeros |= std::uint64_t{matrix.values[at] != 0} << (matrix.column_of[at] - first);
      }
      packed_tiles_[static_cast<std::size_t>(block) / bitmap_blocks].of_row[row][block % bitmap_blocks] = nonzeros;
    }
  }

  std::vector<BitmapNonzeros> packed_tiles_;
};

/// A row tile with its zeros, and the columns that its last K tile lacks.
template <typename Half>
class RowTileElements {
 public:
  RowTileElements(const CsrView& matrix, const BitmapFormat& format, std::uint64_t row_tile)
      : columns_(static_cast<std::size_t>(format.tiles()) * bitmap_tile_columns), elements_(bitmap_rows * columns_) {
    const auto number = static_cast<std::int64_t>(row_tile);
    for (std::uint32_t row = 0; row < format.shape.rows_in(number); ++row) {
      const auto of_matrix = static_cast<std::size_t>(format.shape.first_row(number) + row);
      const auto end = static_cast<std::size_t>(matrix.offsets[of_matrix + 1]);
      for (auto at = static_cast<std::size_t>(matrix.offsets[of_matrix]); at < end; ++at) {
        elements_[row * columns_ + static_cast<std::size_t>(matrix.column_of[at])] = Half(matrix.values[at]);
      }
    }
  }

  void read_packed_tile(std::uint64_t tile, BitmapElements<Half>& elements) const {
    for (std::uint32_t row = 0; row < bitmap_rows; ++row) {
      const Half* const from = elements_.data() + row * columns_ + tile * bitmap_tile_columns;
      std::copy_n(from, bitmap_tile_columns, elements.of_row[row]);
    }
  }

 private:
  std::size_t columns_;
  std::vector<Half> elements_;
};

/// The format, and where its packed tiles begin, with one more for where they end.
struct PlacedPackedTiles {
  BitmapFormat format;
  std::vector<std::uint32_t> begins;
};

PlacedPackedTiles place(const CsrView& matrix, const BitmapCut& cut) {
  const BitmapShape shape = checked_shape(matrix, BitmapCut{.height = cut.height});
  const BitmapFormat frame = describe(shape, {});
  std::vector<PackedTileSize> packed_tiles(static_cast<std::size_t>(frame.packed_tiles()));
  for_each_row_tile(frame, [&](std::uint64_t row_tile) {
    const RowTileNonzeros nonzeros(matrix, frame, row_tile);
    for (std::uint64_t tile = 0; tile < frame.tiles(); ++tile) {
      packed_tiles[static_cast<std::size_t>(row_tile * frame.tiles() + tile)] =
          plan_packed_tile(nonzeros.packed_tile(tile)).size;
    }
  });
  PlacedPackedTiles placed;
  BitmapTally tally;
  for (const PackedTileSize& packed_tile : packed_tiles) {
    placed.begins.push_back(static_cast<std::uint32_t>(tally.pieces));
    tally.add(frame, packed_tile);
  }
  if (tally.pieces > max_bitmap_pieces) {
    throw std::length_error("packed tiles of bitmaps have more bytes than their numbers count");
  }
  placed.begins.push_back(static_cast<std::uint32_t>(tally.pieces));
  placed.format = tally.format_of(shape);
  return placed;
}

template <typename Half>
void write_row_tile(const CsrView& matrix, const PlacedPackedTiles& placed, std::uint64_t row_tile,
                    unsigned char* bytes) {
  const BitmapFormat& format = placed.format;
  const RowTileElements<Half> row_tile_elements(matrix, format, row_tile);
  for (std::uint64_t tile = 0; tile < format.tiles(); ++tile) {
    const std::uint32_t begin = placed.begins[static_cast<std::size_t>(row_tile * format.tiles() + tile)];
    BitmapElements<Half> elements;
    row_tile_elements.read_packed_tile(tile, elements);
    write_begin(format, row_tile, tile, begin, bytes);
    write_packed_tile(format, elements, plan_packed_tile(nonzeros_of(elements)), bytes + format.packed_tile_at(begin));
  }
}

}  // namespace

BitmapFormat plan(const CsrView& matrix, const BitmapCut& cut) { return place(matrix, cut).format; }

Packed<BitmapFormat> pack(const CsrView& matrix, const BitmapCut& cut) {
  const PlacedPackedTiles placed = place(matrix, cut);
  const BitmapFormat& format = placed.format;
  Packed<BitmapFormat> packed(format);
  auto* const bytes = reinterpret_cast<unsigned char*>(packed.bytes.data());
  const auto write = matrix.element == ScalarType::f16 ? write_row_tile<Float16> : write_row_tile<BFloat16>;
  for_each_row_tile(format, [&](std::uint64_t row_tile) { write(matrix, placed, row_tile, bytes); });
  write_begin(format, format.row_tiles(), 0, format.counts.pieces, bytes);
  seal(format, bytes);
  return packed;
}

}  // namespace esc::transformer
