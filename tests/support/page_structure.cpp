// SPDX-License-Identifier: Apache-2.0
#include "tests/support/page_structure.h"

#include <cmath>
#include <regex>

namespace esc::test {
namespace {

using Problems = std::vector<std::string>;

std::vector<std::smatch> matches(const std::string& text, const std::regex& pattern) {
  return {std::sregex_iterator(text.begin(), text.end(), pattern), std::sregex_iterator()};
}

void expect_parts(const std::string& page, Problems& problems) {
  for (const char* const part : {"<meta name=\"viewport\" content=\"width=device-width", "prefers-color-scheme: dark",
                                 "color-scheme: light dark"}) {
    if (page.find(part) == page.npos) {
      problems.push_back(std::string("has no ") + part);
    }
  }
  for (const char* const part : {"<script", "href=", "src=\"http", "@import", "url("}) {
    if (page.find(part) != page.npos) {
      problems.push_back(std::string("has a ") + part);
    }
  }
}

void expect_answer_first(const std::string& page, Problems& problems) {
  const std::size_t answer = page.find("<div class=\"answer\">");
  if (answer == page.npos) {
    problems.emplace_back("has no answer");
  } else if (answer > page.find("<table") || answer > page.find("<svg") || answer > page.find("<h2")) {
    problems.emplace_back("has something before its answer");
  }
}

/// Tables scroll in frames of their own, and nothing else has a width that a narrow window does not.
void expect_narrow(const std::string& page, Problems& problems) {
  const auto tables = matches(page, std::regex("<table"));
  if (tables.size() != matches(page, std::regex("<div class=\"scroll\"><table")).size()) {
    problems.emplace_back("has a table that does not scroll");
  }
  if (std::regex_search(page, std::regex("<(svg|img|table|td|th|div|figure)( [^>]*)? width="))) {
    problems.emplace_back("has an element with a width of its own");
  }
  for (const std::smatch& width : matches(page, std::regex("[;{ \"](?:min-)?width: ?([0-9.]+)(px|rem)"))) {
    constexpr double pixels_of_rem = 16;
    constexpr double narrow = 400;
    if (std::stod(width[1]) * (width[2] == "rem" ? pixels_of_rem : 1) > narrow) {
      problems.push_back("has a fixed" + width.str());
    }
  }
}

/// A bar is as long as the figure beside it says, and full where that is above 1.
void expect_agreement(const std::string& bar, double percent, double figure, Problems& problems) {
  constexpr double rounding = 0.55;  // of a figure with two digits and a width with one
  if (std::abs(percent - 100 * std::min(figure, 1.0)) > rounding) {
    problems.push_back("has a bar that its figure denies: " + bar);
  }
}

void expect_bars(const std::string& page, Problems& problems) {
  const std::string bar = "<span class=\"bar[^>]*><span style=\"width:([0-9.]+)%\"></span></span>";
  const auto leading = matches(page, std::regex("<strong>([0-9.]+)</strong>" + bar));
  const auto listed = matches(page, std::regex(bar + "<span>([0-9.]+), "));
  for (const std::smatch& found : leading) {
    expect_agreement(found.str(), std::stod(found[2]), std::stod(found[1]), problems);
  }
  for (const std::smatch& found : listed) {
    expect_agreement(found.str(), std::stod(found[1]), std::stod(found[2]), problems);
  }
  if (leading.size() + listed.size() != matches(page, std::regex(bar)).size()) {
    problems.emplace_back("has a bar without a figure");
  }
}

}  // namespace

std::vector<std::string> page_problems(const std::string& page) {
  Problems problems;
  expect_parts(page, problems);
  expect_answer_first(page, problems);
  expect_narrow(page, problems);
  expect_bars(page, problems);
  return problems;
}

}  // namespace esc::test
