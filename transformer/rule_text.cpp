// SPDX-License-Identifier: Apache-2.0
#include "transformer/rule_text.h"

#include <fmt/format.h>

namespace esc::transformer {

std::string broken_rule(const char* name, std::uint64_t number, const Rule& rule) {
  const std::string kind = rule.power_of_two   ? "a power of two from "
                           : rule.divisor != 1 ? fmt::format("a multiple of {} from ", rule.divisor)
                                               : "";
  const std::string but = rule.except == no_exception ? "" : fmt::format(", but not {}", rule.except);
  return fmt::format("{} is {}; it can be {}{} to {}{}", name, number, kind, rule.lowest, rule.highest, but);
}

}  // namespace esc::transformer
