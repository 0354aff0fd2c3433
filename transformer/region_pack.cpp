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
std::vector<PanelCounts> count_panels(const Source& source, const RegionShape& shape) {
  std::vector<PanelCounts> counts(static_cast<std::size_t>(shape.panels()));
  tbb::parallel_for(std::int64_t{0}, shape.panels(), [&](std::int64_t panel) {
    counts[static_cast<std::size_t>(panel)] = count_panel(source, shape, panel);
  });
  return counts;
}

template <typename Source>
Packed<RegionFormat> pack_source(const Source& source, const RegionFormat& format) {
  Packed<RegionFormat> packed(format);
  PanelPlaces next;
  std::vector<std::uint64_t> places;
  for (const PanelCounts& panel : count_panels(source, format.shape)) {
    places.push_back(next.take(format, panel));
  }
  tbb::parallel_for(std::int64_t{0}, format.shape.panels(), [&](std::int64_t panel) {
    pack_panel(source, format, panel, places[static_cast<std::size_t>(panel)], packed.bytes.data());
  });
  seal(format, packed.bytes.data());
  return packed;
}

}  // namespace

RegionFormat plan(const CsrView& matrix, const RegionCut& cut) {
  const RegionShape shape = checked_shape(matrix, cut);
  RegionCounts counts;
  std::vector<std::uint64_t> panel_columns;
  for (const PanelCounts& panel : count_panels(rows_of(matrix), shape)) {
    counts.nonzeros += panel.nonzeros;
    counts.columns += panel.columns;
    panel_columns.push_back(panel.columns);
  }
  choose_classes(shape, panel_columns, counts);
  return describe(shape, counts);
}

Packed<RegionFormat> pack_planned(const CsrView& matrix, const RegionFormat& planned) {
  return with_source(matrix, [&](const auto& source) { return pack_source(source, planned); });
}

Packed<RegionFormat> pack(const CsrView& matrix, const RegionCut& cut) {
  return pack_planned(matrix, plan(matrix, cut));
}

}  // namespace esc::transformer
