// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace esc {

/// What host code has of the CUDA driver (include/cuda.h, include/cudaTypedefs.h), with addresses: tensor maps.
std::vector<std::pair<std::string, std::uint64_t>> driver_api_functions();

}  // namespace esc
