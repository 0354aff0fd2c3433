// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/ir/loop_nest.h"
#include "transformer/choose_fragments.h"

namespace esc {

/// Units that a panel of a block has in a window, one behind the other: a unit has 32 rows at most.
std::int64_t panel_units(const PackedForm& form);

/// The panels of a block, and what their steps store, of a matrix that is packed in fragments: a panel for each unit.
transformer::FragmentBlock fragment_block(const PackedForm& form);

}  // namespace esc
