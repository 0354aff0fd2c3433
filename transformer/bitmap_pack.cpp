// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "transformer/bitmap_packing.h"
#include "transformer/checked_shape.h"
#include "transformer/half_floats.h"
#include "transformer/pack.h"
#include "transformer/row_tile_elements.h"

namespace esc::transformer {
namespace {

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
    PackedTileElements<Half> elements;
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
