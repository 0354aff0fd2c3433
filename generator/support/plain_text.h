// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace esc {

/// Whether the text is what it looks like and keeps to its line, wherever it is written: UTF-8 without control
/// characters, ends of lines, marks that turn the direction of reading, and whatever else does not show.
bool is_plain_text(std::string_view text);

/// The text with a character of its own in place of each of those; bytes that are not UTF-8 become U+FFFD.
std::string plain_text(std::string_view text, char replacement = '?');

/// The same where the text may have several lines: their ends and tabs are kept.
std::string plain_lines(std::string_view text);

/// The text as it may be inside a comment of C, C++ or CMake: plain, and without what would begin or end a comment,
/// join two lines or be a trigraph.
std::string comment_text(std::string_view text);

}  // namespace esc
