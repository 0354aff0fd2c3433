// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "transformer/fragment_format.h"

namespace esc {

/// The sizes of the packed matrix by the names that nests and launches have for them.
Environment fragment_sizes(const transformer::FragmentFormat& format);

/// How a kernel that multiplies fragments finds them, from the one description of the format: what is in the holes
/// of the instructions that copy and multiply packed tiles.
std::map<std::string, std::string> fragment_holes(const LoopNest& nest, const transformer::FragmentFormat& format);

/// The constants of the packed matrix that these instructions use, as lines of C.
std::vector<std::string> fragment_constants(const LoopNest& nest, const transformer::FragmentFormat& format);

/// Columns of a row of a K tile in shared memory: of boxes of float32 some more than a tile has.
std::int64_t columns_of_k_tile_row(const LoopNest& nest);

/// Whether K tiles of B come as boxes, for which the kernel has a tensor map as its last argument.
bool copies_boxes(const LoopNest& nest);

/// Whether products are made of parts of their factors, or of factors that are rounded.
bool splits_products(const LoopNest& nest);
bool rounds_factors(const LoopNest& nest);

/// Whether warps place what they multiply in shared memory.
bool places_values(const LoopNest& nest);

/// Whether sums that are handed over are after the copies of K tiles and packed tiles: those of a cluster, except where
/// values are placed. Others take the places of operands, once all have been read.
bool sums_stand_behind_k_tiles(const LoopNest& nest);

/// Whether the kernel's text is another one before compute capability 9.0 beyond how launches overlap.
bool copies_in_bulk(const LoopNest& nest);

/// Whether a block of the nest copies K tiles to shared memory, and how many bytes of it operands, barriers and what
/// takes their places have for a packed matrix of these fragment_sizes.
bool stages_k_tiles(const LoopNest& nest);
std::uint64_t staged_k_tile_bytes(const LoopNest& nest, const Environment& sizes);

}  // namespace esc
