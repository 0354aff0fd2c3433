// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/ir/loop_nest.h"

namespace esc {

/// Bytes of the arrays that a nest declares in shared memory: sums that warps and blocks leave for each other. What is
/// staged there is not among them.
std::int64_t declared_shared_bytes(const LoopNest& nest);

}  // namespace esc
