// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace esc {

/// A line of a text that says something: without comments (from # on) and spaces around it.
struct TextLine {
  int number = 0;  ///< in the text, from 1
  std::string text;
  bool operator==(const TextLine&) const = default;
};

/// The lines of a text of which anything is left.
std::vector<TextLine> meaningful_lines(const std::string& text);

}  // namespace esc
