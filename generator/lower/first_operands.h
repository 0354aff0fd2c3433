// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

/// Packed tiles of a block, some 4 KB each, that are on their way before its tiles of B are: as many keep the memory
/// busy while the first of them come, which are latency times a multiprocessor's share of the memory's speed. More
/// would only keep B waiting, because copies are served in order.
inline constexpr int early_copies = 8;

/// Whether some packed tiles are asked for after the first tiles. Tensor copies of tiles take no iteration of the
/// threads' copies.
bool has_later_packed_tiles(const LoopNest& nest);

/// What is before the iterations: barriers, and the operands of the first ones. Whether B allows boxes is asked for
/// after packed tiles, which may be copied before B is there.
Block first_operands(const LoopNest& nest);

}  // namespace esc
