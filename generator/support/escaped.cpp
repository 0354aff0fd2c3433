// SPDX-License-Identifier: Apache-2.0
#include "generator/support/escaped.h"

#include "generator/support/plain_text.h"

namespace esc {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : plain_text(text, ' ')) {
    switch (character) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += character;
    }
  }
  return result;
}

}  // namespace esc
