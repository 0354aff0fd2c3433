// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "generator/emit/generate.h"

namespace esc::tests {

/// Writes the bundles of the layers, whose names differ, into `folder`, and compiles each to NAME.so there, and the
/// predecessor beside them.
void compile_layers(const std::vector<const GeneratedLayer*>& layers, const std::filesystem::path& folder);

}  // namespace esc::tests
