// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/text_template.h"

#include <set>

#include "generator/support/error.h"

namespace esc {

std::string fill(std::string_view text_template, const std::map<std::string, std::string>& values) {
  constexpr std::string_view mark = "@@";
  std::string filled;
  std::set<std::string> used;
  for (std::string_view rest = text_template;;) {
    const std::size_t begin = rest.find(mark);
    filled += rest.substr(0, begin);
    if (begin == rest.npos) {
      break;
    }
    rest.remove_prefix(begin + mark.size());
    const std::size_t end = rest.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    ESC_CHECK(end != rest.npos && end != 0 && rest.substr(end).starts_with(mark),
              "a hole of a text template is not closed: @@" + std::string(rest.substr(0, 40)));
    const std::string name(rest.substr(0, end));
    const auto value = values.find(name);
    ESC_CHECK(value != values.end(), "a text template has the hole " + name + ", for which there is no value");
    filled += value->second;
    used.insert(name);
    rest.remove_prefix(end + mark.size());
  }
  for (const auto& [name, value] : values) {
    ESC_CHECK(used.contains(name), "a text template has no hole " + name + ", for which there is a value");
  }
  return filled;
}

}  // namespace esc
