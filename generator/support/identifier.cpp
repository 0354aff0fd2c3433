// SPDX-License-Identifier: Apache-2.0
#include "generator/support/identifier.h"

#include <algorithm>
#include <cctype>

namespace esc {

bool is_of_identifier(char character) {
  return std::isalnum(static_cast<unsigned char>(character)) != 0 || character == '_';
}

bool is_identifier(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, is_of_identifier);
}

}  // namespace esc
