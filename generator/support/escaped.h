// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace esc {

/// The text as it may be between tags and in attributes of HTML and SVG. Control characters, which cannot be in
/// XML at all, and marks that turn the direction of reading become blanks.
std::string escaped(std::string_view text);

}  // namespace esc
