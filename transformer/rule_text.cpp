// SPDX-License-Identifier: Apache-2.0
#include "transformer/rule_text.h"

#include <fmt/format.h>

namespace esc::transformer {

std::string broken_rule(const char* name, std::uint64_t number, const Rule& rule) {
  if (rule.lowest == rule.highest) {
    return fmt::format("{} is {}; it can only be {}", name, number, rule.lowest);
  }
  const std::string kind = rule.power_of_two   ? "a power of two from "
                           : rule.divisor != 1 ? fmt::format("a multiple of {} from ", rule.divisor)
                                               : "";
  return fmt::format("{} is {}; it can be {}{} to {}", name, number, kind, rule.lowest, rule.highest);
}

}  // namespace esc::transformer
