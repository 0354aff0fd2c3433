#include "tests/bench/esc_bench_space.h"

#include <fmt/format.h>

#include <set>

#include "generator/support/error.h"

namespace esc::bench {

std::vector<TextLine> meaningful_lines(const std::string& text) {
  constexpr const char* spaces = " \t\r";
  std::vector<TextLine> lines;
  int number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    const std::size_t first = line.find_first_not_of(spaces);
    if (first != std::string::npos) {
      lines.push_back({number, line.substr(first, line.find_last_not_of(spaces) - first + 1)});
    }
  }
  return lines;
}

std::vector<Schedule> parse_space(const std::string& text, const std::string& file) {
  std::vector<Schedule> schedules;
  for (const TextLine& line : meaningful_lines(text)) {
    try {
      schedules.push_back(parse_schedule(line.text));
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}:{}: {}", file, line.number, error.place()), error.rule(), error.remedy());
    }
  }
  return without_repetitions(schedules);
}

std::vector<Schedule> without_repetitions(const std::vector<Schedule>& schedules) {
  std::set<std::string> seen;
  std::vector<Schedule> result;
  for (const Schedule& schedule : schedules) {
    if (seen.insert(print(schedule)).second) {
      result.push_back(schedule);
    }
  }
  return result;
}

}  // namespace esc::bench
