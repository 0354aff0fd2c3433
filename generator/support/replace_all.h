// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace esc {

/// The text with `to` for every `from`, which is not empty; what has been put in is not looked at again.
std::string replace_all(std::string text, std::string_view from, std::string_view to);

}  // namespace esc
