// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/schedule_choice.h"

namespace esc {

void mark_changed(ScheduleChoice& choice, std::string_view how) {
  choice.source += how;
  choice.notes.clear();
  choice.measured.reset();
}

bool is_script(std::string_view text) { return text.find('(') != std::string_view::npos; }

ScheduleChoice parse_choice(const std::string& text, const std::string& source) {
  if (!is_script(text)) {
    return {parse_schedule(text), source};
  }
  ScheduleChoice choice;
  choice.source = source;
  choice.script = parse_script(text);
  return choice;
}

std::vector<Directive> directives_of(const ScheduleChoice& choice, bool finishes_sums) {
  if (!choice.script.empty()) {
    return choice.script;
  }
  std::vector<Directive> directives = expand(choice.schedule);
  if (finishes_sums) {
    const bool overlaps = !directives.empty() && std::holds_alternative<Overlap>(directives.back());
    directives.insert(directives.end() - (overlaps ? 1 : 0), PlaceEpilogue{});
  }
  return directives;
}

std::string text_of(const ScheduleChoice& choice) {
  return choice.script.empty() ? print(choice.schedule) : print(choice.script);
}

std::string family_of(const ScheduleChoice& choice) {
  return choice.script.empty() ? family(choice.schedule) : "script";
}

void check_legal(const ScheduleChoice& choice, const ProductColumns& columns) {
  if (choice.script.empty()) {
    check_legal(choice.schedule, columns);
  }
}

}  // namespace esc
