// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace esc {

/// What the stand-ins of inline PTX (include/esc_inline_ptx.h) call, with addresses.
std::vector<std::pair<std::string, std::uint64_t>> matrix_functions();

}  // namespace esc
