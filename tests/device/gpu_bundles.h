#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generator/emit/generate.h"

namespace esc::tests {

/// What this machine lacks to compile bundles and run them on a GPU; empty where it has all.
std::string missing_for_gpu_tests();

/// Writes the bundles of the layers, whose names differ, into `folder`, and compiles each to NAME.so there, and the predecessor beside them.
void compile_layers(const std::vector<const GeneratedLayer*>& layers, const std::filesystem::path& folder);

}  // namespace esc::tests
