// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

/// The block without definitions of index variables that nothing reads.
Block without_unused_definitions(const Block& block);

}  // namespace esc
