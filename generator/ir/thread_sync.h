// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

/// Whether threads wait for each other, or act together, somewhere in the node.
bool holds_sync(const Node& node);

}  // namespace esc
