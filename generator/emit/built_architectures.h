// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

/// Whether a kernel's text uses features that a compute capability alone has, where it is compiled for these.
bool asks_for_own_features(std::string_view kernel_text);
/// The same of the instructions that a nest performs.
bool asks_for_own_features(const LoopNest& nest);

/// What CMake builds kernels for these compute capabilities for, "80;90": with features of their own code for these,
/// and an intermediate form for later ones.
std::string built_architectures(const std::vector<int>& capabilities, bool own_features);

}  // namespace esc
