// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace esc {

/// The functions of the CUDA runtime that emitted text may call, with their addresses. They validate as CUDA does and
/// return its error codes; launches and fills are done at once, in stream order.
std::vector<std::pair<std::string, std::uint64_t>> cuda_api_functions();

}  // namespace esc
