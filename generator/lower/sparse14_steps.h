// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Has fragments store less: a step in whose columns no row has more than one non-zero of each four stores that one, in
/// place of two. The statements of the nest stay what they are, as they know columns, rows and values alone; which
/// steps these are is found when the matrix is packed.
///
/// After transform(A, sparse24). Throws ScheduleError where elements have 32 bits, of which the tensor core takes one
/// of two, which is stored as it is.
LoopNest sparse14_steps(const LoopNest& nest, const Sparse14Steps& directive);

}  // namespace esc
