// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

/// The name of an array's copy in shared memory: "StagedValues" of Values.
std::string staged_name(const std::string& array);

/// Declares copies of these arrays of the nest in the shared memory of a block. They have the arrays' extents but for
/// the outer two, which are what the block keeps of them, and are in the record of this name side by side.
std::vector<ArrayDeclaration> staged_copies(const LoopNest& nest, const std::vector<std::string>& arrays,
                                            const std::array<Affine, 2>& outer_extents, const std::string& record);

/// What is done for each of the iterations that are asked for before the first, s. Written out it would be much code
/// that runs once.
Node early_loop(Block body);

/// After all that is asked for at once, which is waited for together.
Node commit_copies();

}  // namespace esc
