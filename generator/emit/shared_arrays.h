// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "generator/ir/loop_nest.h"

namespace esc {

/// Its extents in the memory of one block: without the outermost one of an array of a cluster.
std::span<const Affine> extents_in_block(const ArrayDeclaration& array);

/// Bytes of the arrays that a nest declares in shared memory: sums that warps and blocks leave for each other. What is
/// staged there is not among them.
std::int64_t declared_shared_bytes(const LoopNest& nest);

}  // namespace esc
