// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

/// The nest in another type: its arrays have it, and numbers that in which sums are computed.
LoopNest in_type(LoopNest nest, ScalarType element);

}  // namespace esc
