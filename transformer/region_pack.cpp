// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>

#include "transformer/checked_shape.h"
#include "transformer/pack.h"
#include "transformer/region_classes.h"
#include "transformer/region_packing.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

template <typename Source>
std::vector<RowTileCounts> count_row_tiles(const Source& source, const RegionShape& shape) {
  std::vector<RowTileCounts> counts(static_cast<std::size_t>(shape.row_tiles()));
  tbb::parallel_for(std::int64_t{0}, shape.row_tiles(), [&](std::int64_t row_tile) {
    counts[static_cast<std::size_t>(row_tile)] = count_row_tile(source, shape, row_tile);
  });
  return counts;
}

template <typename Source>
Packed<RegionFormat> pack_source(const Source& source, const RegionFormat& format) {
  Packed<RegionFormat> packed(format);
  RowTilePlaces next;
  std::vector<std::uint64_t> places;
  for (const RowTileCounts& row_tile : count_row_tiles(source, format.shape)) {
    places.push_back(next.take(format, row_tile));
  }
  tbb::parallel_for(std::int64_t{0}, format.shape.row_tiles(), [&](std::int64_t row_tile) {
    pack_row_tile(source, format, row_tile, places[static_cast<std::size_t>(row_tile)], packed.bytes.data());
  });
  seal(format, packed.bytes.data());
  return packed;
}

}  // namespace

RegionFormat plan(const CsrView& matrix, const RegionCut& cut) {
  const RegionShape shape = checked_shape(matrix, cut);
  RegionCounts counts;
  std::vector<std::uint64_t> row_tile_columns;
  for (const RowTileCounts& row_tile : count_row_tiles(rows_of(matrix), shape)) {
    counts.nonzeros += row_tile.nonzeros;
    counts.columns += row_tile.columns;
    row_tile_columns.push_back(row_tile.columns);
  }
  choose_classes(shape, row_tile_columns, counts);
  return describe(shape, counts);
}

Packed<RegionFormat> pack_planned(const CsrView& matrix, const RegionFormat& planned) {
  return with_source(matrix, [&](const auto& source) { return pack_source(source, planned); });
}

Packed<RegionFormat> pack(const CsrView& matrix, const RegionCut& cut) {
  return pack_planned(matrix, plan(matrix, cut));
}

}  // namespace esc::transformer
