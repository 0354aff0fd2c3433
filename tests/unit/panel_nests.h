// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/lower/accumulate_sums.h"
#include "generator/lower/assign_row_tiles.h"
#include "generator/lower/batch_columns.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/enumerate.h"
#include "generator/lower/merge_patterns.h"
#include "generator/lower/overlap.h"
#include "generator/lower/pack_regions.h"
#include "generator/lower/prefetch.h"
#include "generator/lower/share_sums.h"
#include "generator/lower/shuffle_sums.h"
#include "generator/lower/split_columns.h"
#include "generator/lower/stage_regions.h"
#include "generator/lower/tile_columns.h"
#include "generator/lower/unroll.h"
#include "generator/lower/vectorize.h"
#include "generator/pipeline.h"

/// The product after each step of family panel, each made of the one before.
namespace esc::panel_nests {

inline const LoopNest canonical = canonicalize(spmm_nest());
inline const LoopNest enumerated = enumerate(unroll(canonical, {"i", 2}), std::nullopt);
inline const LoopNest merged = merge_patterns(enumerated, {});
inline const LoopNest owned = assign_row_tiles(merged, {"i", 4, 2});
inline const LoopNest tiled = tile_columns(owned, {"j", 8, 2});
inline const LoopNest dealt = split_columns(tiled, {"k", 3, 4});
inline const LoopNest accumulated = accumulate_sums(dealt, {});
inline const LoopNest shuffled = shuffle_sums(accumulated, {});
inline const LoopNest shared = share_sums(shuffled, {});
inline const LoopNest packed = pack_regions(shared, {"A"});
inline const LoopNest vectorized = vectorize(packed, {"j"});
inline const LoopNest batched = batch_columns(vectorized, {"k", 8});
inline const LoopNest prefetched = prefetch(batched, {"A"});
inline const LoopNest staged = stage_regions(batched, {"A"});
inline const LoopNest overlapped = overlap(prefetched, {});

}  // namespace esc::panel_nests
