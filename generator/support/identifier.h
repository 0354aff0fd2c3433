// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace esc {

/// Whether names in C may have the character: a letter, a digit or an underscore.
bool is_of_identifier(char character);

/// Whether C accepts the text as a name: letters, digits and underscores, no digit first, not empty.
bool is_identifier(std::string_view text);

}  // namespace esc
