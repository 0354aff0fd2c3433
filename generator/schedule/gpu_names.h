// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace esc {

/// The GPUs that `device_of_gpu` knows, in alphabetical order.
std::vector<std::string> gpu_names();

}  // namespace esc
