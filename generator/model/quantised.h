// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/model/weight.h"

namespace esc {

/// Gives quantised weights an obstacle, and all that belongs to one: scales, zero points, tables. The values of such a
/// layer are in none of its tensors, so that a kernel of any of them would be one of something else. Told by type, by
/// name and by what is in the same module:
///
///     l.weight F8_E4M3, l.weight_scale_inv               fp8
///     l.weight I8, l.weight_scale                        int8, as compressed-tensors, torchao, EETQ have it
///     l.weight_packed, l.qweight, l.W_q, l.codes, ...    packed, beside l.scales, l.qzeros, l.zero, l.codebooks, ...
///     l.weight U8, l.weight.absmax, ...                  bitsandbytes
void mark_quantised(std::vector<Weight>& weights);

}  // namespace esc
