#include "transformer/region_pack.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <bit>
#include <stdexcept>

#include "transformer/digests.h"
#include "transformer/region_classes.h"
#include "transformer/region_packing.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

constexpr std::uint32_t max_warp_panels = 32;  // lane groups of a warp

void require(bool holds, const char* rule) {
  if (!holds) {
    throw std::invalid_argument(fmt::format("regions cannot be cut so: {}", rule));
  }
}

template <typename View>
RegionShape checked_shape(const View& matrix, const RegionOptions& options) {
  check(matrix);
  require(options.height >= 1 && options.height <= max_height, "a panel has 1 to 8 rows");
  require(std::has_single_bit(options.warp_panels) && options.warp_panels <= max_warp_panels,
          "the panels of a warp are a power of two, at most 32");
  require(options.block_panels >= 1 && options.block_panels % options.warp_panels == 0,
          "a block has whole warps of panels");
  return {matrix.rows, matrix.columns, options.height, options.warp_panels, options.block_panels, matrix.element};
}

template <typename Source>
std::vector<PanelCounts> count_panels(const Source& source, const RegionShape& shape) {
  std::vector<PanelCounts> counts(static_cast<std::size_t>(shape.panels()));
  tbb::parallel_for(std::int64_t{0}, shape.panels(), [&](std::int64_t panel) {
    counts[static_cast<std::size_t>(panel)] = count_panel(source, shape, panel);
  });
  return counts;
}

template <typename View>
RegionFormat plan(const View& matrix, const RegionOptions& options) {
  const RegionShape shape = checked_shape(matrix, options);
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

template <typename Source>
PackedRegions pack_source(const Source& source, const RegionFormat& format) {
  PackedRegions packed{format, AlignedBytes(static_cast<std::size_t>(format.bytes))};
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

template <typename View>
PackedRegions pack_planned(const View& matrix, const RegionFormat& format) {
  return with_source(matrix, [&](const auto& source) { return pack_source(source, format); });
}

}  // namespace

RegionFormat plan_regions(const CsrView& matrix, const RegionOptions& options) { return plan(matrix, options); }

PackedRegions pack_planned_regions(const CsrView& matrix, const RegionFormat& planned) {
  return pack_planned(matrix, planned);
}
PackedRegions pack_regions(const DenseView& matrix, const RegionOptions& options) {
  return pack_planned(matrix, plan(matrix, options));
}
PackedRegions pack_regions(const CsrView& matrix, const RegionOptions& options) {
  return pack_planned(matrix, plan(matrix, options));
}

std::vector<PatternDigest> pattern_digests(const CsrView& matrix, const RegionShape& shape) {
  return digest_all(rows_of(matrix), shape);
}

}  // namespace esc::transformer
