// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generator/ir/evaluate.h"
#include "generator/ir/loop_nest.h"
#include "transformer/bitmap_format.h"

namespace esc {

/// The sizes of the packed form by the names that nests have for them. `unit_room` is what a unit has of shared memory.
Environment bitmap_sizes(const transformer::BitmapFormat& format);

/// The constants of the packed matrix, and of what a block has of both operands in shared memory.
std::vector<std::string> bitmap_constants(const LoopNest& nest, const transformer::BitmapFormat& format);

/// What the instructions' texts are filled with.
std::map<std::string, std::string> bitmap_holes(const LoopNest& nest);

/// Whether A is stored as a bitmap.
bool has_bitmap(const LoopNest& nest);

/// Bytes of a block in shared memory in front of its units, and how many of these there are.
std::int64_t bytes_before_units(const LoopNest& nest);
std::int64_t staged_units(const LoopNest& nest);

}  // namespace esc
