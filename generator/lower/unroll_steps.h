#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// unroll(k, UFk) on regions: a lane group takes UFk columns of A per iteration and loads every element of B that it
/// needs before it multiplies, so that the loads are under way together.
///
///   for (step = 0; step < steps; step++) { k = Columns[region][step][group];
///     if (j < N) c0_0 += Values[region][step][group][0] * B[k][j]; .. }
///     -> for (step = 0; step < steps; step += 2) { k0 = Columns[region][step][group]; k1 = ..[step + 1]..;
///          b0_0 = j < N ? B[k0][j] : 0; .. b1_0 = ..; c0_0 += Values[region][step][group][0] * b0_0; .. }
///
/// Scalar b<s>_<v> is the element for step s and column j + v. There is no tail: regions hold a multiple of UFk steps.
/// Stands after the data transformation, which fills the lists up.
/// Refuses a nest without regions, loops other than the one over columns of A, and factors that the steps are no
/// multiple of.
LoopNest unroll_steps(const LoopNest& nest, const Unroll& directive);

}  // namespace esc
