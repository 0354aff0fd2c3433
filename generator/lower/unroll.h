// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// unroll(i, UFi): the row loop advances by UFi and every statement inside is repeated for i, i+1, .. i+UFi-1; a group
/// of UFi rows is a row tile (paper, 3.2.1).
///
///   for (i...; i++) .. if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];
///     -> for (i...; i += 2) .. if (A[i][k] != 0) C[i][j] += ..; if (i + 1 < M && A[i + 1][k] != 0) C[i + 1][j] += ..;
///
/// Repeated statements touch different rows of C, so the order among them is free. The bound in the guard is what lets
/// M be no multiple of UFi. Is before enumeration, which reads the repeated guards.
/// Refuses a loop that is not the row loop of the nest, is already unrolled, enumerated or mapped, and factors outside
/// 1 to 8.
LoopNest unroll(const LoopNest& nest, const Unroll& directive);

}  // namespace esc
