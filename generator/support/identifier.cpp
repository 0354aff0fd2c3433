#include "generator/support/identifier.h"

#include <algorithm>
#include <cctype>

namespace esc {

bool is_identifier(std::string_view text) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, allowed);
}

}  // namespace esc
