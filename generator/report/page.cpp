// SPDX-License-Identifier: Apache-2.0
#include "generator/report/page.h"

#include <fmt/format.h>

#include "generator/support/escaped.h"

namespace esc {
namespace {

// Wide content scrolls inside a frame of its own, so that the page is as wide as the window. Charts say their colours
// themselves, because they are also files; in a page its colours take their place.
constexpr const char* style = R"(<style>
:root { color-scheme: light dark; --ink: #1a1a1a; --soft: #555555; --paper: #ffffff; --card: #f5f7f9; --line: #d5dade;
  --link: #0b559f; --fill: #0072b2; --over: #c04a00; --track: #dfe5ea; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --soft: #a9b0b7; --paper: #14171a; --card: #1e2328; --line: #3a4149; --link: #7fb8ee;
    --fill: #4aa3dd; --over: #f08a4b; --track: #343b43; }
  svg [fill-opacity], svg [stroke-dasharray] { filter: brightness(1.4); }
}
* { box-sizing: border-box; }
body { font: 16px/1.5 sans-serif; color: var(--ink); background: var(--paper); max-width: 72rem; margin: 0 auto;
  padding: 1rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.5rem 0 1rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.5rem 0 1rem; padding-bottom: 0.3rem; border-bottom: 1px solid var(--line);
  overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 1.8rem 0 0.6rem; }
p { max-width: 44rem; overflow-wrap: anywhere; }
.lead { font-size: 1.15rem; margin: 0 0 1rem; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 15rem), 1fr)); gap: 0.75rem;
  list-style: none; margin: 0; padding: 0; }
.figures li { background: var(--card); border-radius: 0.5rem; padding: 0.8rem 1rem; }
.figures strong { display: block; font-size: 2rem; line-height: 1.2; }
.figures li > span:last-child { color: var(--soft); font-size: 0.9rem; overflow-wrap: anywhere; }
.bar { display: block; height: 0.6rem; margin: 0.3rem 0; border-radius: 0.3rem; background: var(--track);
  overflow: hidden; }
.bar > span { display: block; height: 100%; background: var(--fill); }
.bar.over > span { background: var(--over); }
.bars { list-style: none; margin: 1rem 0; padding: 0; font-size: 0.9rem; }
.bars li { display: grid; grid-template-columns: 1fr; padding: 0.35rem 0; }
.bars .name { overflow-wrap: anywhere; }
.bars li > span:last-child { color: var(--soft); font-variant-numeric: tabular-nums; }
@media (min-width: 48rem) {
  .bars li { grid-template-columns: 20rem 1fr 17rem; gap: 1rem; align-items: center; }
}
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; font-size: 0.85rem; }
caption { position: sticky; left: 0; width: min(100%, 100vw - 2rem); text-align: left; padding: 0.3rem 0;
  color: var(--soft); }
th, td { border-bottom: 1px solid var(--line); padding: 0.25rem 0.6rem; text-align: left; vertical-align: top; }
th { max-width: 9rem; }
th:first-child, td:first-child { position: sticky; left: 0; padding-left: 0; background: var(--paper); }
td { min-width: 3.5rem; max-width: 30rem; overflow-wrap: anywhere; }
td:not(.number) { min-width: 9rem; }
th.number, td.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
figure { margin: 1rem 0; }
.charts { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 26rem), 1fr)); gap: 0 2rem; }
.charts > figure { min-width: 0; }
svg { display: block; width: 100%; max-width: 40rem; height: auto; }
svg text:not([fill]) { fill: var(--ink); }
svg .paper { fill: var(--paper); }
svg .grid { stroke: var(--line); }
svg .level { stroke: var(--ink); }
details { margin: 0.5rem 0; }
summary { cursor: pointer; color: var(--link); }
.patterns { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 10rem), 1fr)); gap: 1rem; }
.patterns figure { margin: 0; }
.patterns img { display: block; width: 100%; max-width: 14rem; aspect-ratio: 1; image-rendering: pixelated;
  border: 1px solid var(--line); }
.patterns figcaption { font-size: 0.8rem; padding-top: 0.3rem; overflow-wrap: anywhere; }
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
