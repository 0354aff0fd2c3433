// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/sizes.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string_view>

#include "generator/schedule/settings.h"
#include "generator/support/error.h"
#include "generator/support/identifier.h"

namespace esc {

void add_size(Environment& sizes, const std::string& name, std::int64_t number) {
  const std::string place = fmt::format("--size {}={}", name, number);
  if (!is_identifier(name)) {
    throw UserError(place, fmt::format("'{}' is no name of a parameter", name),
                    "write it as in stride=2, or several as in stride=2,pad=1");
  }
  if (number < 0 || number > most_size) {
    throw UserError(place, fmt::format("is outside 0 to {}", most_size),
                    "give the number that the parameter has in every call");
  }
  if (!sizes.emplace(name, number).second) {
    throw UserError(place, fmt::format("gives {} a second number", name), "give each parameter once");
  }
}

Environment parse_sizes(const std::vector<std::string>& texts) {
  Environment sizes;
  for (const std::string& text : texts) {
    for (const std::string_view part : split(text, ',')) {
      const std::size_t sign = part.find('=');
      const std::string_view digits = sign == std::string_view::npos ? std::string_view() : part.substr(sign + 1);
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
      if (error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
        throw UserError("--size " + text, fmt::format("has '{}' where a name with a whole number is needed", part),
                        "write it as in stride=2, or several as in stride=2,pad=1");
      }
      // A number beyond 64 bits is one that is out of range.
      add_size(sizes, std::string(part.substr(0, sign)),
               error == std::errc::result_out_of_range ? std::numeric_limits<std::int64_t>::max() : number);
    }
  }
  return sizes;
}

}  // namespace esc
