// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace esc {

/// What compiled text calls for products of warpgroups (`wgmma`), by name.
std::vector<std::pair<std::string, std::uint64_t>> warpgroup_functions();

}  // namespace esc
