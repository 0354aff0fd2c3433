// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/ir/k_tile_patches.h"
#include "generator/ir/loop_nest.h"

namespace esc {

// How a kernel copies K tiles of B as patches (ir/k_tile_patches), and finds their elements in shared memory.

/// Device functions for items, columns, taps and channels of B, and for the element at a position. `sizes` has those of
/// the layer.
std::string patch_functions(const LoopNest& nest, const KTilePatches& patches, const Environment& sizes);

/// The device function element_at(K tile, row, column).
std::string places_in_patches();

/// The numbers that these and the instruction `stage_patches` use, as lines of C.
std::vector<std::string> patch_constants(const LoopNest& nest, const KTilePatches& patches);

/// Bytes of a K tile: before the patches are two for each row and each column.
std::int64_t patched_k_tile_bytes(const LoopNest& nest, const KTilePatches& patches);

}  // namespace esc
