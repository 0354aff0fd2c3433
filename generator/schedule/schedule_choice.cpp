// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/schedule_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/support/error.h"
#include "generator/support/trimmed.h"

namespace esc {
namespace {

/// Whether a library was faster than the schedule where both were measured, in sentences.
std::vector<std::string> library_notes(const MeasuredRatios& known, const std::string& dtype) {
  const std::string said = (known.where.starts_with("this") ? "for " : "in ") + known.where;
  std::vector<std::string> notes;
  if (known.over_exact && *known.over_exact < 1) {
    notes.push_back(
        fmt::format("{}, cuBLAS or cuSPARSE in {} was {:.2f} times as fast as this kernel: use that instead", said,
                    dtype == "f32" ? "float32" : dtype, 1 / *known.over_exact));
  }
  if (known.over_tf32 && *known.over_tf32 < 1) {
    notes.push_back(
        fmt::format("{}, a dense product in TF32 was {:.2f} times as fast as this kernel, with fewer digits", said,
                    1 / *known.over_tf32));
  }
  return notes;
}

}  // namespace

ScheduleChoice settled(ScheduleChoice choice, const MeasuredCase& wanted) {
  ESC_CHECK(choice.script.empty() && wanted.schedule == choice.schedule, "the case is that of the choice");
  choice.measured.reset();
  choice.not_measured =
      choice.evidence ? choice.evidence->why_not(wanted) : "no library was measured beside this schedule";
  if (!choice.evidence) {
    return choice;
  }
  choice.measured = choice.evidence->of(wanted);
  if (!choice.measured && choice.not_measured.empty()) {
    choice.not_measured = "no library was measured beside it";
  }
  if (const std::optional<MeasuredRatios> known = choice.evidence->elsewhere(wanted)) {
    const std::vector<std::string> notes = library_notes(*known, choice.database->dtype);
    choice.notes.insert(choice.notes.begin(), notes.begin(), notes.end());
  }
  return choice;
}

bool is_script(std::string_view text) { return text.find('(') != std::string_view::npos; }

std::vector<std::string> old_words_notes(const std::string& text) {
  std::vector<std::string> notes;
  for (const OldWord& word : is_script(text) ? old_words_in(text) : std::vector<OldWord>()) {
    notes.push_back(
        fmt::format("a schedule's '{}' is an old name of '{}'; the next release does not read it", word.old, word.now));
  }
  return notes;
}

ScheduleChoice parse_choice(const std::string& text, const std::string& source) {
  if (!is_script(text)) {
    return {parse_schedule(trimmed(text)), source};  // a file ends with a line
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
    const auto behind = std::ranges::find_if(directives, [](const Directive& directive) {
      return std::holds_alternative<StoreTiles>(directive) || std::holds_alternative<Overlap>(directive);
    });
    directives.insert(behind, PlaceEpilogue{});
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
