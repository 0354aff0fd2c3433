// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace esc {

/// What compiled text calls for the barrier of a cluster and for stores into other blocks' shared memory, by name.
std::vector<std::pair<std::string, std::uint64_t>> cluster_functions();

}  // namespace esc
