// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace esc {

/// Policies of the L2 cache and loads with them, as compiled text calls them (esc_inline_ptx.h), with their addresses.
/// A policy changes no value; only its operand is checked.
std::vector<std::pair<std::string, std::uint64_t>> cache_policy_functions();

}  // namespace esc
