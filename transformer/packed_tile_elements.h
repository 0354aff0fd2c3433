// SPDX-License-Identifier: Apache-2.0
#pragma once

// The elements of packed tiles of 16-bit elements, whatever their format. As in packed_bytes.h, the text between the
// markers is part of the generated transformers of kernels that read such formats.

#include "transformer/packed_tile_sizes.h"
#include "transformer/tile_sources.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// What a packed tile is made of: its elements, and where its non-zeros are. And what a kernel has no room for.
// ---------------------------------------------------------------------------------------------------------------------

static_assert(packed_block_columns == 64, "non-zeros of a row in a K block are the bits of a number");

/// The elements of a packed tile; zero outside the matrix.
template <typename Element>
struct PackedTileElements {
  Element of_row[packed_tile_rows][packed_tile_columns];
};

template <typename Source, typename Cut, typename Element>
void read_packed_tile(const Source& source, const Shape<Cut>& shape, uint64_t row_tile, uint64_t tile,
                      PackedTileElements<Element>& elements) {
  const int64_t number = static_cast<int64_t>(row_tile);
  const int64_t first = static_cast<int64_t>(tile * packed_tile_columns);
  const int64_t left = shape.columns - first;
  memset(elements.of_row, 0, sizeof elements.of_row);
  read_tile(source, shape.first_row(number), shape.rows_in(number), first,
            left < packed_tile_columns ? static_cast<uint32_t>(left) : packed_tile_columns, elements.of_row);
}

/// The non-zeros of a packed tile: bit c of a number says whether column c of a K block is one.
struct PackedTileNonzeros {
  uint64_t of_row[packed_tile_rows][packed_tile_blocks];
};

/// Bit c says whether column c of a K block is a non-zero.
template <typename Element>
uint64_t nonzeros_of(const Element* row) {
  unsigned char flags[packed_block_columns];
  for (uint32_t c = 0; c < packed_block_columns; ++c) {
    flags[c] = static_cast<bool>(row[c]);
  }
  uint64_t nonzeros = 0;
  for (uint32_t c = 0; c < packed_block_columns; c += 8) {
    uint64_t eight;
    memcpy(&eight, flags + c, sizeof eight);
    nonzeros |= (eight * 0x0102040810204080u >> 56) << c;  // bit 0 of each byte becomes a bit of the highest one
  }
  return nonzeros;
}

template <typename Element>
PackedTileNonzeros nonzeros_of(const PackedTileElements<Element>& elements) {
  PackedTileNonzeros nonzeros;
  for (uint32_t row = 0; row < packed_tile_rows; ++row) {
    for (uint32_t block = 0; block < packed_tile_blocks; ++block) {
      nonzeros.of_row[row][block] = nonzeros_of(elements.of_row[row] + block * packed_block_columns);
    }
  }
  return nonzeros;
}

/// Where the most is asked of a kernel, and how much it has room for.
struct FullestPart {
  int64_t first_row;
  int64_t behind_row;
  int64_t first_column;
  int64_t behind_column;
  uint64_t needed;
  uint64_t room;
  const char* what;  ///< is counted
};

// [packing text ends]
}  // namespace esc::transformer
