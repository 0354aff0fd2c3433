#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/lower/nest_part.h"

namespace esc {

/// Finds what the loops and arrays of a nest are in the sparse-dense product:
///
///   for (c < n) for (d < k) for (r < m) if (W[r][d] != 0) Out[r][c] += In[d][c] * W[r][d];
///     -> c column, d reduction, r row; W sparse, In dense, Out output; Out[r][c] += W[r][d] * In[d][c]
///
/// All of it follows from the subscripts: whatever roles the nest has are not looked at. The arrays come back in the
/// order sparse, dense, output, operands, and the guard once. What other statements make of the sums becomes the nest's epilogue
/// (find_epilogue), and only the update's loops stay. Throws NestError for nests that are no such product: more or less
/// than one update that gathers, other than three loops around it, arrays that are not three of one type, a transposed
/// matrix, a guard on anything but the sparse factor, one name for two things. Throws Defect for what no input program may
/// become: nodes that are neither loops nor statements as written, elements that two loops do not index alone, other than
/// two factors. Stands in front of all other steps, so that only it knows what a nest must be to be lowered.
LoopNest assign_roles(const LoopNest& nest);

}  // namespace esc
