// SPDX-License-Identifier: Apache-2.0
#include <tbb/parallel_for.h>

#include <cstdint>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "transformer/bitmap_packing.h"
#include "transformer/checked_shape.h"
#include "transformer/pack.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

/// Panels beside each other: what one counts or writes is its own. Calls work(panel, tile) for each of its units.
template <typename Work>
void for_each_unit(const BitmapFormat& format, const Work& work) {
  tbb::parallel_for(std::uint64_t{0}, format.panels(), [&](std::uint64_t panel) {
    for (std::uint64_t tile = 0; tile < format.tiles(); ++tile) {
      work(panel, tile);
    }
  });
}

/// The format, and where its units begin, with one more for where they end.
struct PlacedUnits {
  BitmapFormat format;
  std::vector<std::uint32_t> begins;
};

PlacedUnits place(const CsrView& matrix, const BitmapCut& cut) {
  BitmapShape shape = checked_shape(matrix, BitmapCut{.height = cut.height});
  PlacedUnits placed{describe(shape, {}), {}};
  const BitmapFormat& format = placed.format;
  std::vector<BitmapTally> panels(static_cast<std::size_t>(format.panels()));
  placed.begins.resize(static_cast<std::size_t>(format.units()) + 1);
  for_each_unit(format, [&](std::uint64_t panel, std::uint64_t tile) {
    BitmapElements<double> elements;
    read_unit(rows_of(matrix), format, panel, tile, elements);
    const BitmapTally unit = tally_of(format, plan_unit(elements));
    panels[static_cast<std::size_t>(panel)].add(unit);
    placed.begins[static_cast<std::size_t>(panel * format.tiles() + tile + 1)] =
        static_cast<std::uint32_t>(unit.pieces);
  });
  BitmapTally tally;
  for (const BitmapTally& panel : panels) {
    tally.add(panel);
  }
  if (tally.pieces > UINT32_MAX) {
    throw std::length_error("units of bitmaps have more bytes than their numbers count");
  }
  for (std::size_t unit = 1; unit < placed.begins.size(); ++unit) {
    placed.begins[unit] += placed.begins[unit - 1];
  }
  shape.most_words = tally.most_words;
  placed.format = describe(shape, {.nonzeros = tally.nonzeros, .pieces = tally.pieces});
  return placed;
}

}  // namespace

BitmapFormat plan(const CsrView& matrix, const BitmapCut& cut) { return place(matrix, cut).format; }

Packed<BitmapFormat> pack(const CsrView& matrix, const BitmapCut& cut) {
  const PlacedUnits placed = place(matrix, cut);
  const BitmapFormat& format = placed.format;
  Packed<BitmapFormat> packed(format);
  auto* const bytes = reinterpret_cast<unsigned char*>(packed.bytes.data());
  with_half_source(matrix, [&](const auto& source) {
    for_each_unit(format, [&](std::uint64_t panel, std::uint64_t tile) {
      const std::uint32_t begin = placed.begins[static_cast<std::size_t>(panel * format.tiles() + tile)];
      BitmapElements<typename std::remove_cvref_t<decltype(source)>::ElementType> elements;
      read_unit(source, format, panel, tile, elements);
      write_begin(format, panel, tile, begin, bytes);
      write_unit(format, elements, plan_unit(elements), bytes + format.unit_at(begin));
    });
  });
  write_begin(format, format.panels(), 0, format.counts.pieces, bytes);
  seal(format, bytes);
  return packed;
}

}  // namespace esc::transformer
