// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/schedule_text.h"

namespace esc {

std::string compact(const Schedule& schedule) {
  std::string text = print(schedule);
  std::erase(text, ' ');
  return text;
}

std::string in_todays_keys(const std::string& text) {
  return text.find(':') == text.npos ? text : print(parse_schedule(text));
}

}  // namespace esc
