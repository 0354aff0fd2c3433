#pragma once

#include "generator/lower/canonicalize.h"
#include "generator/lower/enumerate.h"
#include "generator/lower/map_panels.h"
#include "generator/lower/map_tiles.h"
#include "generator/lower/merge_patterns.h"
#include "generator/lower/pack_regions.h"
#include "generator/lower/reduce_sums.h"
#include "generator/lower/split_columns.h"
#include "generator/lower/stage_regions.h"
#include "generator/lower/unroll.h"
#include "generator/lower/unroll_steps.h"
#include "generator/pipeline.h"

/// The product after each step of family panel, each made of the one before.
namespace esc::panel_nests {

inline const LoopNest canonical = canonicalize(spmm_nest());
inline const LoopNest enumerated = enumerate(unroll(canonical, {"i", 2}), std::nullopt);
inline const LoopNest merged = merge_patterns(enumerated, {});
inline const LoopNest on_panels = map_panels(merged, {"i", 4, 2});
inline const LoopNest on_tiles = map_tiles(on_panels, {"j", 8, 2});
inline const LoopNest shared_out = split_columns(on_tiles, {"k", 3, 4});
inline const LoopNest reduced = reduce_sums(shared_out, {});
inline const LoopNest packed = pack_regions(reduced, {"A", 4});
inline const LoopNest stepped = unroll_steps(packed, {"k", 2});
inline const LoopNest staged = stage_regions(stepped, {"A"});

}  // namespace esc::panel_nests
