// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

/// The nest of a linear layer with a row of X and of Y for each token: Y[t][i] += W[i][k] * X[t][k] where W[i][k] != 0.
/// Of float32 what the front end makes of the shipped templates/linear_nk.c.
LoopNest linear_nk_nest(ScalarType element = ScalarType::f32);

}  // namespace esc
