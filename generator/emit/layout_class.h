// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// How a nest has B and C, as a short name by which schedules are known that were measured for such nests: "kn", "nk"
/// where both are transposed, and for others what runs over each dimension of B and, after a dot, of C: rows of A (m),
/// columns of A (k) or columns of C (n), with the stride of the latter where it has one. Sizes do not matter, nor loops
/// of one iteration, nor what becomes of the sums:
///
///   convolution, NCHW, 3 x 3, stride 2    n_k_2nk_2nk.n_m_n_n
///   the same of one pixel, stride 1       n_k_n_n.n_m_n_n
std::string layout_class(const LoopNest& nest);

}  // namespace esc
