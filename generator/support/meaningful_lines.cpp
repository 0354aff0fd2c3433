// SPDX-License-Identifier: Apache-2.0
#include "generator/support/meaningful_lines.h"

#include <algorithm>

namespace esc {

std::vector<TextLine> meaningful_lines(const std::string& text) {
  constexpr const char* spaces = " \t\r";
  std::vector<TextLine> lines;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    const std::size_t first = line.find_first_not_of(spaces);
    if (first != std::string::npos) {
      lines.push_back({number, line.substr(first, line.find_last_not_of(spaces) - first + 1)});
    }
  }
  return lines;
}

}  // namespace esc
