// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/xy_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/support/escaped.h"
#include "tuner/report/series_colours.h"

namespace esc::tuning {
namespace {

// Narrow enough to be read on a telephone; the legend is below the axes.
constexpr double width = 480;
constexpr double left = 58;
constexpr double right = 462;
constexpr double top = 40;
constexpr double bottom = 290;
constexpr double legend_top = 350;
constexpr double legend_line = 18;
constexpr std::array dashes{"none", "8 4", "2 3", "8 3 2 3"};

/// The numbers that can be drawn, of both axes.
bool drawable(const XyChart& chart, const XyChart::Point& point) {
  const auto fits = [](const Axis& axis, double number) {
    return std::isfinite(number) && (!axis.logarithmic || number > 0);
  };
  return fits(chart.horizontal, point.x) && fits(chart.vertical, point.y);
}

AxisScale scale_of(const XyChart& chart, bool horizontal) {
  std::vector<double> numbers;
  for (const XyChart::Series& series : chart.series) {
    for (const XyChart::Point& point : series.points) {
      if (drawable(chart, point)) {
        numbers.push_back(horizontal ? point.x : point.y);
      }
    }
  }
  if (!horizontal && chart.level) {
    numbers.push_back(*chart.level);
  }
  return horizontal ? AxisScale(chart.horizontal, numbers, left, right)
                    : AxisScale(chart.vertical, numbers, bottom, top);
}

/// "0.25", "4", "10000".
std::string mark_text(double number) {
  constexpr double whole_from = 100;
  return number >= whole_from ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
}

std::string axes(const XyChart& chart, const AxisScale& x_scale, const AxisScale& y_scale) {
  std::string text;
  for (const double number : y_scale.marks()) {
    const double y = y_scale.place(number);
    text += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/>\n", left, y,
        right, y);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6, y + 4,
                        mark_text(number));
  }
  for (const double number : x_scale.marks()) {
    const double x = x_scale.place(number);
    text += fmt::format(
        "<line class=\"grid\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/>\n", x, top,
        x, bottom);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x, bottom + 16,
                        mark_text(number));
  }
  if (chart.level) {
    const double y = y_scale.place(*chart.level);
    text += fmt::format(
        "<line class=\"level\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#444444\" "
        "stroke-width=\"1.5\"/>\n",
        left, y, right, y);
  }
  text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (left + right) / 2,
                      bottom + 40, escaped(chart.horizontal.label));
  text += fmt::format("<text transform=\"translate(14 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                      (top + bottom) / 2, escaped(chart.vertical.label));
  return text;
}

/// A circle, a square, a triangle or a diamond.
std::string mark(std::size_t index, double x, double y, const std::string& note) {
  const std::string inside = note.empty() ? "" : "<title>" + escaped(note) + "</title>";
  const std::string look = fmt::format("fill=\"{}\" fill-opacity=\"0.7\"", series_colour(index));
  switch (index % 4) {
    case 0:
      return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3.5\" {}>{}</circle>\n", x, y, look, inside);
    case 1:
      return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"6\" height=\"6\" {}>{}</rect>\n", x - 3, y - 3, look,
                         inside);
    case 2:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l4 7h-8z\" {}>{}</path>\n", x, y - 4, look, inside);
    default:
      return fmt::format("<path d=\"M{:.1f} {:.1f}l4 4l-4 4l-4 -4z\" {}>{}</path>\n", x, y - 4, look, inside);
  }
}

std::string stroke(std::size_t index) {
  return fmt::format("fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"", series_colour(index),
                     dashes[index % dashes.size()]);
}

std::string drawn(const XyChart& chart, std::size_t index, const AxisScale& x_scale, const AxisScale& y_scale) {
  const XyChart::Series& series = chart.series[index];
  std::string marks;
  std::string path;
  for (const XyChart::Point& point : series.points) {
    if (!drawable(chart, point)) {
      continue;
    }
    const double x = x_scale.place(point.x);
    const double y = y_scale.place(point.y);
    if (series.style == XyChart::Style::marks) {
      marks += mark(index, x, y, point.note);
    } else if (path.empty()) {
      path = fmt::format("M{:.1f} {:.1f}", x, y);
    } else {
      path += series.style == XyChart::Style::line ? fmt::format("L{:.1f} {:.1f}", x, y)
                                                   : fmt::format("H{:.1f}V{:.1f}", x, y);
    }
  }
  return path.empty() ? marks : fmt::format("<path d=\"{}\" {}/>\n", path, stroke(index));
}

/// Series that fit two in a line are so.
std::size_t legend_columns(const XyChart& chart) {
  constexpr std::size_t longest = 26;
  return std::ranges::all_of(chart.series, [](const XyChart::Series& series) { return series.name.size() <= longest; })
             ? 2
             : 1;
}

double legend_bottom(const XyChart& chart) {
  const std::size_t columns = legend_columns(chart);
  return legend_top + legend_line * static_cast<double>((chart.series.size() + columns - 1) / columns);
}

std::string legend(const XyChart& chart) {
  const std::size_t columns = legend_columns(chart);
  std::string text;
  for (std::size_t index = 0; index < chart.series.size(); ++index) {
    const double x = left + (right - left) / 2 * static_cast<double>(index % columns);
    const double y = legend_top + legend_line * static_cast<double>(index / columns);
    text += chart.series[index].style == XyChart::Style::marks
                ? mark(index, x + 10, y, "")
                : fmt::format("<path d=\"M{:.1f} {:.1f}h22\" {}/>\n", x, y, stroke(index));
    text +=
        fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x + 28, y + 4, escaped(chart.series[index].name));
  }
  return text;
}

}  // namespace

std::string to_svg(const XyChart& chart) {
  const AxisScale x_scale = scale_of(chart, true);
  const AxisScale y_scale = scale_of(chart, false);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{2}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}</title>\n"
      "<rect class=\"paper\" width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n<text x=\"4\" y=\"20\" "
      "font-size=\"13\">{2}</text>\n",
      width, legend_bottom(chart), escaped(chart.title));
  text += axes(chart, x_scale, y_scale);
  for (std::size_t index = 0; index < chart.series.size(); ++index) {
    text += drawn(chart, index, x_scale, y_scale);
  }
  return text + legend(chart) + "</svg>\n";
}

}  // namespace esc::tuning
