// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace esc::tests {

/// What this machine lacks to compile bundles and run them on a GPU; empty where it has all.
std::string missing_for_gpu_tests();

}  // namespace esc::tests
