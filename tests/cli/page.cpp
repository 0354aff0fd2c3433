// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/page.h"

#include <algorithm>
#include <regex>
#include <span>
#include <sstream>

namespace esc::cli {
namespace {

constexpr const char* elision = "...";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// Whether the lines are those shown, of which some are left out.
bool match(std::span<const std::string> shown, std::span<const std::string> printed) {
  if (shown.empty()) {
    return printed.empty();
  }
  if (shown.front() == elision) {
    return match(shown.subspan(1), printed) || (!printed.empty() && match(shown, printed.subspan(1)));
  }
  return !printed.empty() && shown.front() == printed.front() && match(shown.subspan(1), printed.subspan(1));
}

/// `verify` draws its calls anew each time, and with them the worst error that it finds.
std::vector<std::string> without_drawn_errors(std::vector<std::string> lines) {
  static const std::regex drawn(R"((worst relative error )[-+.e0-9]+ \(at most [-+.e0-9]+\))");
  for (std::string& line : lines) {
    line = std::regex_replace(line, drawn, "$1...");
  }
  return lines;
}

}  // namespace

std::vector<PageCommand> commands_of(const std::string& page) {
  const std::string indent = "    ";
  const std::string programs = "build/release/bin/";
  std::vector<PageCommand> commands;
  bool is_fenced = false;
  bool is_output = false;
  const std::vector<std::string> lines = lines_of(page);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    is_fenced = is_fenced != lines[at].starts_with("```");
    if (is_fenced || !lines[at].starts_with(indent)) {
      is_output = false;
      continue;
    }
    std::string line = lines[at].substr(indent.size());
    if (is_output && !line.starts_with("$ ")) {
      commands.back().output.push_back(line);
      continue;
    }
    is_output = line.starts_with("$ ");
    line = is_output ? line.substr(2) : line;
    line = line.starts_with(programs) ? line.substr(programs.size()) : line;
    commands.push_back({line, line.ends_with("    # on a GPU"), is_output, {}, at + 1});
  }
  return commands;
}

bool shows(const PageCommand& command, const std::string& printed) {
  return match(without_drawn_errors(command.output), without_drawn_errors(lines_of(printed)));
}

std::string with_outputs(const std::string& page, const std::vector<PageCommand>& commands,
                         const std::vector<std::string>& printed) {
  std::vector<std::string> lines = lines_of(page);
  for (std::size_t number = commands.size(); number-- > 0;) {
    const PageCommand& command = commands[number];
    if (!command.shows_output || shows(command, printed[number]) ||
        std::ranges::find(command.output, elision) != command.output.end()) {
      continue;
    }
    const auto begin = lines.begin() + static_cast<std::ptrdiff_t>(command.line);
    lines.erase(begin, begin + static_cast<std::ptrdiff_t>(command.output.size()));
    std::vector<std::string> now = lines_of(printed[number]);
    std::ranges::for_each(now, [](std::string& line) { line.insert(0, "    "); });
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(command.line), now.begin(), now.end());
  }
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  return text;
}

}  // namespace esc::cli
