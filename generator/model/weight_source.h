// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "generator/matrix/byte_source.h"
#include "generator/matrix/dense_reader.h"
#include "generator/model/weight.h"

namespace esc {

/// All elements of a weight as its type has them, zeros too, whatever tensors they are made of: one row after the
/// other, or one column where the tensor is in Fortran order. Reading throws UserError, with the tensor and the byte,
/// where the parts contradict each other: a mask that is neither 0 nor 1, bits of a bitmask that are not those of the
/// values. Not for weights of SciPy.
std::unique_ptr<ByteSource> open_weight(const Weight& weight);

/// What those elements are.
DenseArray dense_array(const Weight& weight);

}  // namespace esc
