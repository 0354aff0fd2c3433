// SPDX-License-Identifier: Apache-2.0
#include "generator/report/page.h"

#include <fmt/format.h>

#include "generator/support/escaped.h"

namespace esc {
namespace {

constexpr const char* style = R"(<style>
body { font: 16px/1.5 sans-serif; color: #1a1a1a; background: #ffffff; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #cccccc; }
table { border-collapse: collapse; margin: 1rem 0; font-size: 0.85rem; display: block; overflow-x: auto; }
caption { text-align: left; padding: 0.3rem 0; color: #444444; }
th, td { border-bottom: 1px solid #dddddd; padding: 0.2rem 0.7rem; text-align: left; vertical-align: top; }
td { overflow-wrap: anywhere; min-width: 4rem; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
figure { margin: 1.5rem 0; }
svg { width: 100%; max-width: 52rem; height: auto; }
summary { cursor: pointer; color: #0b559f; }
.patterns { display: flex; flex-wrap: wrap; gap: 1.5rem; }
.patterns figure { margin: 0; width: 12rem; }
.patterns img { width: 12rem; height: 12rem; image-rendering: pixelated; border: 1px solid #cccccc; }
.patterns figcaption { font-size: 0.8rem; overflow-wrap: anywhere; }
</style>
)";

}  // namespace

std::string html_page(const std::string& title, const std::string& body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\"/>\n<title>{}</title>\n{}</head>\n<body>\n<main>\n{}</main>\n</body>\n</html>\n",
      escaped(title), style, body);
}

std::string paragraph(const std::string& text) { return "<p>" + escaped(text) + "</p>\n"; }

std::string heading(int level, const std::string& text) {
  return fmt::format("<h{0}>{1}</h{0}>\n", level, escaped(text));
}

std::string folded(const std::string& what, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(what), content);
}

std::string folded(const std::string& what, const Table& table) { return folded(what, html(table)); }

}  // namespace esc
