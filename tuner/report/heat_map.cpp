// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/heat_map.h"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <set>

#include "generator/support/escaped.h"

namespace esc::tuning {
namespace {

constexpr double cell_width = 56;
constexpr double cell_height = 42;
constexpr double left = 60;
constexpr double top = 78;
constexpr double room = 44;  // below the cells, for the legend
constexpr double least_width = 480;

/// Up to which value a cell has this colour.
struct Shade {
  double most;
  const char* colour;
  const char* ink;
};
constexpr std::array shades{Shade{1.05, "#08306b", "#ffffff"}, Shade{1.15, "#2171b5", "#ffffff"},
                            Shade{1.3, "#6baed6", "#000000"}, Shade{1.6, "#bdd7e7", "#000000"},
                            Shade{1e300, "#f4f8fc", "#000000"}};

const Shade& shade_of(double value) {
  for (const Shade& shade : shades) {
    if (value <= shade.most) {
      return shade;
    }
  }
  return shades.back();
}

std::string cell(double x, double y, const HeatMap::Cell& content) {
  const Shade& shade = shade_of(content.value);
  return fmt::format(
      "<rect x=\"{0:.0f}\" y=\"{1:.0f}\" width=\"{2:.0f}\" height=\"{3:.0f}\" fill=\"{4}\" stroke=\"#ffffff\"/>\n"
      "<text x=\"{5:.0f}\" y=\"{6:.0f}\" text-anchor=\"middle\" fill=\"{7}\">{8:.2f}</text>\n"
      "<text x=\"{5:.0f}\" y=\"{9:.0f}\" text-anchor=\"middle\" font-size=\"11\" fill=\"{7}\">{10}</text>\n",
      x, y, cell_width, cell_height, shade.colour, x + cell_width / 2, y + 18, shade.ink, content.value, y + 34,
      escaped(content.caption));
}

std::string legend(double y) {
  std::string text;
  double x = left;
  for (std::size_t index = 0; index < shades.size(); ++index) {
    const std::string range = index + 1 < shades.size() ? fmt::format("up to {:g}", shades[index].most)
                                                        : fmt::format("above {:g}", shades[index - 1].most);
    text += fmt::format(
        "<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"14\" height=\"14\" fill=\"{}\" stroke=\"#888888\"/>\n"
        "<text x=\"{:.0f}\" y=\"{:.0f}\" font-size=\"11\">{}</text>\n",
        x, y, shades[index].colour, x + 18, y + 11, range);
    x += 82;
  }
  return text;
}

}  // namespace

std::string to_svg(const HeatMap& map) {
  std::set<int> rows;
  std::set<int> columns;
  for (const auto& [place, content] : map.cells) {
    rows.insert(place.first);
    columns.insert(place.second);
  }
  const double bottom = top + cell_height * static_cast<double>(rows.size());
  const double width = std::max(least_width, left + cell_width * static_cast<double>(columns.size()) + 20);
  const auto x_of = [&](int column) {
    return left + cell_width * static_cast<double>(std::distance(columns.begin(), columns.find(column)));
  };
  const auto y_of = [&](int row) {
    return top + cell_height * static_cast<double>(std::distance(rows.begin(), rows.find(row)));
  };
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{2}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n<title>{2}</title>\n"
      "<rect class=\"paper\" width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"white\"/>\n<text x=\"10\" y=\"22\" "
      "font-size=\"14\">{2}</text>\n",
      width, bottom + room, escaped(map.title));
  text += fmt::format("<text x=\"{:.0f}\" y=\"48\">{}</text>\n", left, escaped(map.column_label));
  text += fmt::format("<text x=\"10\" y=\"{:.0f}\">{}</text>\n", top - 8, escaped(map.row_label));
  for (const int column : columns) {
    text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{}</text>\n",
                        x_of(column) + cell_width / 2, top - 8, column);
  }
  for (const int row : rows) {
    text += fmt::format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">{}</text>\n", left - 10,
                        y_of(row) + cell_height / 2 + 4, row);
  }
  for (const auto& [place, content] : map.cells) {
    text += cell(x_of(place.second), y_of(place.first), content);
  }
  return text + legend(bottom + 14) + "</svg>\n";
}

}  // namespace esc::tuning
