// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>

#include <cstring>
#include <vector>

#include "transformer/checked_shape.h"
#include "transformer/fragment_packing.h"
#include "transformer/pack.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

/// What was found in a K tile of a block: its rounds, of which those after the first are here.
struct PackedKTile {
  std::uint64_t nonzeros = 0;
  std::vector<std::vector<unsigned char>> further;
};

/// Writes the first round of a K tile of a block as write_round does, with the slots that were searched for the matrix
/// once.
template <typename Source>
void write_first_round(const Source& source, const FragmentFormat& format, FragmentSearches& searches, BlockKTile& at,
                       unsigned char* packed_tiles) {
  const FragmentShape& shape = format.shape;
  at.complete = true;
  for (std::uint32_t i = 0; i < shape.block_row_tiles; ++i) {
    const auto row_tile = static_cast<std::int64_t>(at.block * shape.block_row_tiles + i);
    unsigned char* const packed_tile = packed_tiles + i * format.packed_tile_bytes();
    KTileElements elements;
    if (row_tile >= shape.row_tiles()) {
      write_packed_tile(format, elements, row_tile, at.k_tile, 0, at.left[i], packed_tile);
      continue;
    }
    read_k_tile(source, shape, row_tile, at.k_tile, elements);
    const PackedTileSlots& slots = searches.find(elements.rows, shape.steps, row_tile, at.k_tile);
    at.left[i] = slots.left;
    std::memset(packed_tile, 0, static_cast<std::size_t>(format.packed_tile_bytes()));
    write_values(format, slots, elements, packed_tile);
    write_columns(format, slots, columns_in(shape, at.k_tile), packed_tile);
    write_residuals(format, elements, at.left[i], packed_tile);
    at.nonzeros += count_nonzeros(elements.rows);
    at.complete = at.complete && count_nonzeros(at.left[i]) == 0;
  }
  at.rounds = 1;
}

/// Packs a K tile of a block, whose first round begins at `packed_tiles`. Dense steps ask for no search.
template <typename Source>
PackedKTile pack_k_tile(const Source& source, const FragmentFormat& format, FragmentSearches& searches,
                        std::uint64_t number, unsigned char* packed_tiles) {
  BlockKTile at{number / format.k_tiles(), number % format.k_tiles()};
  PackedKTile packed;
  if (format.is_dense()) {
    write_round(source, format, at, packed_tiles);
  } else {
    write_first_round(source, format, searches, at, packed_tiles);
  }
  while (!at.complete) {
    packed.further.emplace_back(static_cast<std::size_t>(format.round_packed_tiles() * format.packed_tile_bytes()));
    write_round(source, format, at, packed.further.back().data());
  }
  packed.nonzeros = at.nonzeros;
  return packed;
}

/// Brings all rounds together.
Packed<FragmentFormat> arrange(const FragmentFormat& format, const Packed<FragmentFormat>& first_rounds,
                               const std::vector<PackedKTile>& k_tiles) {
  Packed<FragmentFormat> packed(format);
  auto* const bytes = reinterpret_cast<unsigned char*>(packed.bytes.data());
  const std::size_t round_bytes = static_cast<std::size_t>(format.round_packed_tiles() * format.packed_tile_bytes());
  std::uint64_t round = 0;
  const auto add = [&](std::uint64_t k_tile, const void* packed_tiles) {
    write_k_tile(format, round, k_tile, bytes);
    std::memcpy(bytes + format.packed_tile_at(round, 0), packed_tiles, round_bytes);
    ++round;
  };
  for (std::uint64_t number = 0; number < k_tiles.size(); ++number) {
    const std::uint64_t k_tile = number % format.k_tiles();
    if (k_tile == 0) {
      write_first_round(format, number / format.k_tiles(), round, bytes);
    }
    add(k_tile, first_rounds.bytes.span().data() + first_rounds.format.packed_tile_at(number, 0));
    for (const std::vector<unsigned char>& packed_tiles : k_tiles[number].further) {
      add(k_tile, packed_tiles.data());
    }
  }
  write_first_round(format, format.blocks(), round, bytes);
  return packed;
}

template <typename Source>
Packed<FragmentFormat> pack_source(const Source& source, const FragmentShape& shape, FragmentSearches& searches) {
  const std::uint64_t least_rounds = blocks_of(shape) * k_tiles_of(shape);
  Packed<FragmentFormat> regular(describe(shape, {0, least_rounds}));
  auto* const bytes = reinterpret_cast<unsigned char*>(regular.bytes.data());
  std::vector<PackedKTile> k_tiles(static_cast<std::size_t>(least_rounds));
  tbb::parallel_for(std::uint64_t{0}, least_rounds, [&](std::uint64_t number) {
    k_tiles[number] =
        pack_k_tile(source, regular.format, searches, number, bytes + regular.format.packed_tile_at(number, 0));
  });
  FragmentCounts counts;
  for (const PackedKTile& k_tile : k_tiles) {
    counts.nonzeros += k_tile.nonzeros;
    counts.rounds += 1 + k_tile.further.size();
  }
  const FragmentFormat format = describe(shape, counts);
  Packed<FragmentFormat> packed = format.regular() ? std::move(regular) : arrange(format, regular, k_tiles);
  packed.format = format;
  seal(format, packed.bytes.data());
  return packed;
}

}  // namespace

Packed<FragmentFormat> pack(const CsrView& matrix, const FragmentCut& cut) {
  FragmentSearches searches(checked_shape(matrix, cut));
  return pack(matrix, cut, searches);
}

Packed<FragmentFormat> pack(const CsrView& matrix, const FragmentCut& cut, FragmentSearches& searches) {
  const FragmentShape shape = checked_shape(matrix, cut);
  return pack_source(StoredRows<float, CsrRows<std::int64_t, double>>{rows_of(matrix)}, shape, searches);
}

FragmentFormat plan(const CsrView& matrix, const FragmentCut& cut) { return pack(matrix, cut).format; }

}  // namespace esc::transformer
