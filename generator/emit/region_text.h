#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "transformer/region_format.h"

namespace esc {

/// How a kernel that reads regions finds them, from the one description of the format: what stands in the holes of the
/// instructions that read panels.
std::map<std::string, std::string> region_holes(const transformer::RegionFormat& format);

/// The constants of the packed matrix that these instructions use, as lines of C.
std::vector<std::string> region_constants(const LoopNest& nest, const transformer::RegionFormat& format);

/// Whether a block of the nest has a copy of its quads in shared memory, and how many bytes that takes when the longest
/// panel has so many quads and columns are stored in so many bytes each.
bool stages_quads(const LoopNest& nest);
std::uint64_t staged_bytes(const LoopNest& nest, std::int64_t longest_panel, std::int64_t column_bytes);

}  // namespace esc
