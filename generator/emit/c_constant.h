// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace esc {

/// A constant of a kernel's text on a line of its own, with why it is there after it: "constexpr int warps = 4;  // of
/// a block".
template <typename Value>
std::string c_constant(std::string_view type, std::string_view name, const Value& value, std::string_view why = "") {
  return fmt::format("constexpr {} {} = {};{}{}\n", type, name, value, why.empty() ? "" : "  // ", why);
}

}  // namespace esc
