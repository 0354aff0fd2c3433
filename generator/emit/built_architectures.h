// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace esc {

/// Whether a kernel's text uses features that a compute capability alone has, where it is compiled for these.
bool asks_for_own_features(const std::string& kernel_text);

/// What CMake builds kernels for these compute capabilities for, "80;90": with features of their own code for these, and an intermediate form for later ones.
std::string built_architectures(const std::vector<int>& capabilities, bool own_features);

}  // namespace esc
