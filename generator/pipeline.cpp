// SPDX-License-Identifier: Apache-2.0
#include "generator/pipeline.h"

#include <functional>
#include <utility>

#include "generator/lower/accumulate_sums.h"
#include "generator/lower/assign_row_tiles.h"
#include "generator/lower/assign_tasks.h"
#include "generator/lower/batch_columns.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/cluster_iterations.h"
#include "generator/lower/coarsen.h"
#include "generator/lower/compact.h"
#include "generator/lower/copy_in_bulk.h"
#include "generator/lower/cut_rows.h"
#include "generator/lower/enumerate.h"
#include "generator/lower/fragment_columns.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/map_blocks.h"
#include "generator/lower/map_threads.h"
#include "generator/lower/merge_patterns.h"
#include "generator/lower/overlap.h"
#include "generator/lower/pack_bitmap.h"
#include "generator/lower/pack_fragments.h"
#include "generator/lower/pack_gathered.h"
#include "generator/lower/pack_placed.h"
#include "generator/lower/pack_regions.h"
#include "generator/lower/pack_sparse24.h"
#include "generator/lower/pack_tasks.h"
#include "generator/lower/pipeline_k_tiles.h"
#include "generator/lower/pipeline_tiles.h"
#include "generator/lower/place_epilogue.h"
#include "generator/lower/prefetch.h"
#include "generator/lower/producer_warps.h"
#include "generator/lower/ring_k_tiles.h"
#include "generator/lower/share_sums.h"
#include "generator/lower/shuffle_sums.h"
#include "generator/lower/split_columns.h"
#include "generator/lower/stage_regions.h"
#include "generator/lower/store_tiles.h"
#include "generator/lower/tile_columns.h"
#include "generator/lower/transform_data.h"
#include "generator/lower/unroll.h"
#include "generator/lower/vectorize.h"
#include "generator/lower/warp_specialize.h"

namespace esc {
namespace {

using Patterns = std::optional<std::vector<Pattern>>;
using Visit = std::function<void(const std::string&, const LoopNest&)>;

/// What each directive does to a nest.
struct Step {
  const LoopNest& nest;
  const Patterns& patterns;

  LoopNest operator()(const Unroll& directive) const { return unroll(nest, directive); }
  LoopNest operator()(const Enumerate&) const { return enumerate(nest, patterns); }
  LoopNest operator()(const MapGrid& directive) const { return map_blocks(nest, directive); }
  LoopNest operator()(const MapLanes& directive) const { return map_threads(nest, directive); }
  LoopNest operator()(const Coarsen& directive) const { return coarsen(nest, directive); }
  LoopNest operator()(const Transform& directive) const { return transform_data(nest, directive); }
  LoopNest operator()(const Compact&) const { return compact(nest); }
  LoopNest operator()(const MergePatterns& directive) const { return merge_patterns(nest, directive); }
  LoopNest operator()(const AssignRowTiles& directive) const { return assign_row_tiles(nest, directive); }
  LoopNest operator()(const TileColumns& directive) const { return tile_columns(nest, directive); }
  LoopNest operator()(const SplitColumns& directive) const { return split_columns(nest, directive); }
  LoopNest operator()(const AccumulateSums& directive) const { return accumulate_sums(nest, directive); }
  LoopNest operator()(const ShuffleSums& directive) const { return shuffle_sums(nest, directive); }
  LoopNest operator()(const ShareSums& directive) const { return share_sums(nest, directive); }
  LoopNest operator()(const PackRegions& directive) const { return pack_regions(nest, directive); }
  LoopNest operator()(const Vectorize& directive) const { return vectorize(nest, directive); }
  LoopNest operator()(const BatchColumns& directive) const { return batch_columns(nest, directive); }
  LoopNest operator()(const Prefetch& directive) const { return prefetch(nest, directive); }
  LoopNest operator()(const StageRegions& directive) const { return stage_regions(nest, directive); }
  LoopNest operator()(const Overlap& directive) const { return overlap(nest, directive); }
  LoopNest operator()(const CutRows& directive) const { return cut_rows(nest, directive); }
  LoopNest operator()(const PackTasks& directive) const { return pack_tasks(nest, directive); }
  LoopNest operator()(const AssignTasks& directive) const { return assign_tasks(nest, directive); }
  LoopNest operator()(const PlaceEpilogue& directive) const { return place_epilogue(nest, directive); }
  LoopNest operator()(const Mainloop& directive) const { return mainloop(nest, directive); }
  LoopNest operator()(const FragmentColumns& directive) const { return fragment_columns(nest, directive); }
  LoopNest operator()(const PackFragments& directive) const { return pack_fragments(nest, directive); }
  LoopNest operator()(const PackDense& directive) const { return pack_dense(nest, directive); }
  LoopNest operator()(const PackListed& directive) const { return pack_listed(nest, directive); }
  LoopNest operator()(const PackPlaced& directive) const { return pack_placed(nest, directive); }
  LoopNest operator()(const PipelineKTiles& directive) const {
    return nest.packed.kind == PackedForm::Kind::gathered ? ring_k_tiles(nest, directive)
                                                          : pipeline_k_tiles(nest, directive);
  }
  LoopNest operator()(const CopyInBulk& directive) const { return copy_in_bulk(nest, directive); }
  LoopNest operator()(const CopyPackedTiles& directive) const { return copy_packed_tiles_in_bulk(nest, directive); }
  LoopNest operator()(const ClusterIterations& directive) const { return cluster_iterations(nest, directive); }
  LoopNest operator()(const WarpSpecialize& directive) const {
    return directive.array == "B" ? producer_warps(nest, directive) : warp_specialize(nest, directive);
  }
  LoopNest operator()(const PackGathered& directive) const { return pack_gathered(nest, directive); }
  LoopNest operator()(const PackBitmap& directive) const { return pack_bitmap(nest, directive); }
  LoopNest operator()(const PackSparse24& directive) const { return pack_sparse24(nest, directive); }
  LoopNest operator()(const PipelineTiles& directive) const { return pipeline_tiles(nest, directive); }
  LoopNest operator()(const StoreTiles& directive) const { return store_tiles(nest, directive); }
};

LoopNest run(const LoopNest& nest, const std::vector<Directive>& directives, const Patterns& patterns,
             const Visit& visit) {
  if (nest.written.empty()) {
    visit("input", nest);
  } else {
    visit("input", nest.written.front());
    visit("dense subscripts", nest);
  }
  LoopNest form = canonicalize(nest);
  visit("canonicalize", form);
  for (const Directive& directive : directives) {
    if (form.overlaps && !std::holds_alternative<Overlap>(directive)) {
      throw ScheduleError(directive, "the kernel already overlaps with the one before, at places that this would move",
                          "give pdl() last");
    }
    form = std::visit(Step{form, patterns}, directive);
    visit(print(directive), form);
  }
  return form;
}

}  // namespace

std::vector<LoweredStep> lower_by_steps(const LoopNest& nest, const std::vector<Directive>& directives,
                                        const Patterns& patterns) {
  std::vector<LoweredStep> steps;
  run(nest, directives, patterns,
      [&](const std::string& name, const LoopNest& form) { steps.push_back({name, form}); });
  return steps;
}

LoopNest lower(const LoopNest& nest, const std::vector<Directive>& directives, const Patterns& patterns) {
  return run(nest, directives, patterns, [](const std::string&, const LoopNest&) {});
}

}  // namespace esc
