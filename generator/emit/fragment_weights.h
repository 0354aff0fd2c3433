// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "transformer/choose_fragments.h"

namespace esc {

/// What the steps and residuals of a packed tile count beside its bytes for the kernel of this nest, which reads the
/// matrix in fragments: it decides how the matrix is cut.
transformer::FragmentWeights fragment_weights(const LoopNest& nest);

}  // namespace esc
