// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace esc {

/// Lays out emitted text in the one style of generated code: Google's, 100 columns, includes and comments left as they
/// are. Formatting what is already formatted changes nothing. `file_name` tells the language by its ending (.h, .c,
/// .cpp, .cu). Throws Defect when the brackets of the text do not match: emitted text is ours.
std::string format_source(std::string_view text, const std::string& file_name);

}  // namespace esc
