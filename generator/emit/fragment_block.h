// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/ir/loop_nest.h"
#include "transformer/choose_fragments.h"

namespace esc {

/// The row tiles of a block, and what their steps store, of a matrix that is packed in fragments. Of placed values one
/// of more than 32 rows is several, which have their packed tiles together.
transformer::FragmentBlock fragment_block(const PackedForm& form);

}  // namespace esc
