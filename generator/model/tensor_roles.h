// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/model/weight.h"

namespace esc {

/// Gives an obstacle to what looks like a weight and is something else, by its name and by what is beside it: a
/// mask without its values; values without the mask, or whatever a parametrization or a norm of PyTorch makes a weight
/// of; a weight with a mask beside it of which nothing says whether it has been applied; a bias. A kernel of any of
/// them would multiply by another matrix than the model does.
void mark_other_roles(std::vector<Weight>& weights);

}  // namespace esc
