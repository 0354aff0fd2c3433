// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "generator/emit/layer.h"

namespace esc {

/// The most dynamic shared memory of a block that a kernel has on any device without asking for it.
inline constexpr std::uint64_t unprepared_shared_bytes = std::uint64_t{48} * 1024;

/// Whether the layer's kernel can be launched only on a device on which it was prepared.
bool needs_preparing(const Layer& layer);

/// Bytes of dynamic shared memory that the layer's kernel is prepared for: those of its launch or, where layers with
/// packed tiles of other sizes share it, as many as all of its architectures have.
std::uint64_t most_shared_bytes(const Layer& layer);

/// What a packed tile of a bitmap gets of shared memory where the layer's fullest one needs `packed_tile_room`: as much
/// as lets equally many blocks run on a multiprocessor of each architecture, and no kernel need preparing for it, so
/// that the kernel has room for fuller packed tiles of other patterns.
std::int64_t free_packed_tile_room(const LoopNest& nest, std::int64_t packed_tile_room,
                                   const std::vector<int>& architectures);

/// Bytes of dynamic shared memory of a block of the nest, for a layer of these sizes.
std::uint64_t shared_bytes(const LoopNest& nest, const Environment& layer_sizes);

}  // namespace esc
