// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/ir/window_patches.h"

namespace esc {

// How a kernel copies windows of B as patches (ir/window_patches), and finds their elements in shared memory.

/// Device functions for items, columns, taps and channels of B, and for the element at a position. `sizes` has those of
/// the layer.
std::string patch_functions(const LoopNest& nest, const WindowPatches& patches, const Environment& sizes);

/// The device function element_at(window, row, column).
std::string places_in_patches();

/// The numbers that these and the instruction `stage_patches` use, as lines of C.
std::vector<std::string> patch_constants(const LoopNest& nest, const WindowPatches& patches);

/// Bytes of a window: in front of the patches stand two for each row and each column.
std::int64_t patched_window_bytes(const LoopNest& nest, const WindowPatches& patches);

}  // namespace esc
