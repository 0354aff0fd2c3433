#pragma once

#include <string>
#include <vector>

#include "generator/schedule/schedule.h"

namespace esc::bench {

/// The lines of a text that say something: without comments (from # on), spaces around them, and empty ones.
struct TextLine {
  int number = 0;  ///< in the text, from 1
  std::string text;
  bool operator==(const TextLine&) const = default;
};
std::vector<TextLine> meaningful_lines(const std::string& text);

/// The schedules of a text that has one per line, each once, in the order of their first occurrence. Throws UserError
/// with file and line for what is no schedule.
std::vector<Schedule> parse_space(const std::string& text, const std::string& file);

/// The same schedules, each once, in the order of their first occurrence.
std::vector<Schedule> without_repetitions(const std::vector<Schedule>& schedules);

}  // namespace esc::bench
