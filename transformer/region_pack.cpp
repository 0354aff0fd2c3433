#include "transformer/region_pack.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include <bit>
#include <stdexcept>

#include "transformer/digests.h"
#include "transformer/region_packing.h"
#include "transformer/view_sources.h"

namespace esc::transformer {
namespace {

void require(bool holds, const char* rule) {
  if (!holds) {
    throw std::invalid_argument(fmt::format("regions cannot be cut so: {}", rule));
  }
}

template <typename View>
RegionShape checked_shape(const View& matrix, const RegionOptions& options) {
  check(matrix);
  const std::uint32_t warp_groups = options.groups * options.warp_panels;
  require(options.height >= 1 && options.height <= max_height, "a panel has 1 to 8 rows");
  require(options.warps >= 1, "at least one warp works on a panel");
  require(std::has_single_bit(warp_groups) && warp_groups <= max_warp_panels,
          "the lane groups of a warp are a power of two, at most 32");
  require(options.block_panels >= 1 && options.block_panels % options.warp_panels == 0,
          "a block has whole warps of panels");
  require(options.multiple >= quad_steps && options.multiple % quad_steps == 0, "steps come in quads");
  return {matrix.rows,         matrix.columns,      options.height,   options.warps,    options.groups,
          options.warp_panels, options.block_panels, options.multiple, ScalarType::f32};
}

template <typename Source>
RegionCounts count(const Source& source, const RegionShape& shape) {
  return tbb::parallel_reduce(
      tbb::blocked_range<std::int64_t>(0, shape.panels()), RegionCounts{},
      [&](const tbb::blocked_range<std::int64_t>& panels, RegionCounts sum) {
        for (std::int64_t panel = panels.begin(); panel != panels.end(); ++panel) {
          sum = sum + count_panel(source, shape, panel);
        }
        return sum;
      },
      [](const RegionCounts& a, const RegionCounts& b) { return a + b; });
}

template <typename View>
RegionFormat plan(const View& matrix, const RegionOptions& options) {
  const RegionShape shape = checked_shape(matrix, options);
  return describe(shape, count(source_of(matrix), shape));
}

template <typename View>
PackedRegions pack_planned(const View& matrix, const RegionFormat& format) {
  const auto source = source_of(matrix);
  PackedRegions packed{format, AlignedBytes(static_cast<std::size_t>(format.bytes))};
  tbb::parallel_for(std::int64_t{0}, format.shape.panel_sets(),
                    [&](std::int64_t set) { pack_set(source, format, set, packed.bytes.data()); });
  seal(format, packed.bytes.data());
  return packed;
}

}  // namespace

RegionFormat plan_regions(const CsrView& matrix, const RegionOptions& options) { return plan(matrix, options); }

PackedRegions pack_planned_regions(const CsrView& matrix, const RegionFormat& planned) { return pack_planned(matrix, planned); }
PackedRegions pack_regions(const DenseView& matrix, const RegionOptions& options) {
  return pack_planned(matrix, plan(matrix, options));
}
PackedRegions pack_regions(const CsrView& matrix, const RegionOptions& options) {
  return pack_planned(matrix, plan(matrix, options));
}

std::vector<PatternDigest> pattern_digests(const CsrView& matrix, const RegionShape& shape) {
  return digest_all(source_of(matrix), shape);
}

}  // namespace esc::transformer
