// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/model/tensor.h"
#include "generator/model/weight.h"

namespace esc {

/// The weights that some tensors are, in the order of their names, numbers as numbers: pairs of values and mask are one
/// (masked_names.h), tensors of experts a weight each (experts.h), and what is none has an obstacle (quantised.h,
/// tensor_roles.h). Throws UserError, with the tensor's name and the byte, for parts that do not fit together and for
/// two weights of one name.
std::vector<Weight> assemble_weights(std::vector<StoredTensor> tensors);

}  // namespace esc
