// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace esc {

/// Asynchronous barriers, bulk copies and tensor copies, as compiled text calls them (esc_inline_ptx.h), with their
/// addresses.
std::vector<std::pair<std::string, std::uint64_t>> bulk_copy_functions();

}  // namespace esc
