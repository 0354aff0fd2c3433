// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/emit/runtime_parameters.h"

namespace esc {

/// What the launcher of a kernel that layers share is told beside what the kernel is told: grids that follow from the
/// matrix. Nothing for one layer's.
std::vector<RuntimeParameter> launch_parameters(const Layer& layer);

/// All values, those of the kernel before, in the order in which the launcher has them in `numbers`.
std::vector<std::uint64_t> parameter_values(const Layer& layer);

/// The statements of a launcher that make that parameter, `bytes`, and its own numbers of what it is called with.
std::string packed_matrix_argument(const Layer& layer);

}  // namespace esc
