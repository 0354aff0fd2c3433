#pragma once

#include <string_view>

namespace esc {

/// Whether C accepts the text as a name: letters, digits and underscores, no digit first, not empty.
bool is_identifier(std::string_view text);

}  // namespace esc
