// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace esc {

/// Columns of the lines that programs print for people, at most.
inline constexpr std::size_t page_columns = 100;

/// The words of a text in lines of at most so many columns; a word that is longer has a line of its own. Empty text
/// gives one empty line.
std::vector<std::string> wrapped(std::string_view text, std::size_t columns);

/// "label      text", broken between words at page_columns; further lines begin under the first word.
std::string labelled(std::string_view label, std::string_view text);

/// Bytes as people read them: "512 B", "132 KB", "7.9 MB", "1.2 GB", with 1000 bytes in a KB.
std::string size_text(double bytes);

/// Columns that the text takes on a terminal, where each code point takes one.
std::size_t columns_of(std::string_view text);

}  // namespace esc
