// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "generator/support/error.h"

namespace esc::bench {

/// Runs a program that measures on a GPU, and says on standard error, after its name, what ends it; its exit status.
int run_gpu_program(const std::string& name, const std::function<ExitStatus()>& run);

}  // namespace esc::bench
