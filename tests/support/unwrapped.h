// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <regex>
#include <string>

namespace esc::tests {

/// A text for people with one blank in place of each break of lines and each indent: where lines break is not tested.
inline std::string unwrapped(const std::string& text) { return std::regex_replace(text, std::regex("\\s+"), " "); }

}  // namespace esc::tests
