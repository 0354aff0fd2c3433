// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/ir/evaluate.h"
#include "generator/ir/loop_nest.h"
#include "transformer/gather_format.h"

namespace esc {

/// The sizes of the packed form by the names that nests have for them.
Environment gather_sizes(const transformer::GatherFormat& format);

/// The constants of the packed matrix, and of what a block has of it in shared memory.
std::vector<std::string> gather_constants(const LoopNest& nest, const transformer::GatherFormat& format);

/// Whether rows of B are gathered from shared memory.
bool gathers_rows(const LoopNest& nest);

/// Bytes of a block in shared memory: four K tiles of B, the lists for them, and barriers.
std::uint64_t gathered_bytes(const LoopNest& nest, const Environment& sizes);

}  // namespace esc
