// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// A place where the layouts of a nest's canonical form, by which B, C and matrix operands are handed to a kernel, say
/// otherwise than the nest's own subscripts and guards; empty where they agree. Without it, an oracle that is handed B
/// as a matrix would share a wrong layout with the kernel. Looks at some thousand elements of each array that has a
/// layout, in all parts of it. `nest` is untransformed.
std::string find_layout_fault(const LoopNest& nest, std::int64_t rows, std::int64_t reduction, std::int64_t n);

}  // namespace esc
