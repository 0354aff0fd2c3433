// SPDX-License-Identifier: Apache-2.0
#include "generator/report/answer.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/support/escaped.h"
#include "generator/support/page_text.h"
#include "generator/support/replace_all.h"

namespace esc {
namespace {

/// A reader who does not see the bar has the figure beside it, so that the bar has no text of its own.
std::string bar(double share) {
  return fmt::format(R"(<span class="bar{}" aria-hidden="true"><span style="width:{:.1f}%"></span></span>)",
                     share > 1 ? " over" : "", 100 * std::clamp(share, 0.0, 1.0));
}

std::string unbroken(const std::string& text) {
  constexpr const char* no_break_space = "\u00a0";
  return replace_all(text, " ", no_break_space);
}

}  // namespace

std::string answer(const std::string& sentence, const std::vector<LeadingFigure>& figures) {
  std::string text =
      fmt::format("<div class=\"answer\">\n<p class=\"lead\">{}</p>\n<ul class=\"figures\">\n", escaped(sentence));
  for (const LeadingFigure& figure : figures) {
    text += fmt::format("<li><strong>{}</strong>{}<span>{}</span></li>\n", escaped(figure.value),
                        figure.share ? bar(*figure.share) : "", escaped(figure.meaning));
  }
  return text + "</ul>\n</div>\n";
}

std::string bar_chart(const std::vector<Bar>& bars) {
  std::string text = "<ul class=\"bars\">\n";
  for (const Bar& row : bars) {
    text += fmt::format("<li><span class=\"name\">{}</span>{}<span>{}</span></li>\n", escaped(row.name), bar(row.share),
                        escaped(row.value));
  }
  return text + "</ul>\n";
}

std::string bytes_in_place_of(double bytes, double dense) {
  return fmt::format("{} in place of {}", unbroken(size_text(bytes)), unbroken(size_text(dense)));
}

LeadingFigure bytes_figure(double bytes, double dense) {
  return {fmt::format("{:.2f}", bytes / dense), "of the dense weights' bytes: " + bytes_in_place_of(bytes, dense),
          bytes / dense};
}

Bar bytes_bar(const std::string& name, double bytes, double dense) {
  return {name, bytes / dense, fmt::format("{:.2f}, {}", bytes / dense, bytes_in_place_of(bytes, dense))};
}

}  // namespace esc
