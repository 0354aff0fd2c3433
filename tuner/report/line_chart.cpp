// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/support/escaped.h"
#include "tuner/report/axis_scale.h"
#include "tuner/report/series_colours.h"

namespace esc::tuning {
namespace {

constexpr double width = 760;
constexpr double height = 460;
constexpr double left = 84;
constexpr double right = 190;
constexpr double top = 44;
constexpr double bottom = 116;

AxisScale scale_of(const LineChart& chart) {
  std::vector<double> values;
  for (const LineChart::Series& series : chart.series) {
    for (const std::optional<double>& value : series.values) {
      if (value) {
        values.push_back(*value);
      }
    }
  }
  return {{.label = chart.unit, .logarithmic = true, .base = 2}, values, height - bottom, top};
}

double x_of(const LineChart& chart, std::size_t place) {
  const double step = (width - left - right) / static_cast<double>(std::max<std::size_t>(1, chart.places.size()));
  return left + (static_cast<double>(place) + 0.5) * step;
}

std::string axes(const LineChart& chart, const AxisScale& scale) {
  std::string text;
  for (const double value : scale.marks()) {
    const double y = scale.place(value);
    text += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#cccccc\"/>\n", left, y,
                        width - right, y);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6, y + 4, value);
  }
  for (std::size_t place = 0; place < chart.places.size(); ++place) {
    const double x = x_of(chart, place);
    text += fmt::format(
        "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"end\" transform=\"rotate(-30 {0:.1f} {1:.1f})\">{2}</text>\n",
        x, height - bottom + 16, escaped(chart.places[place]));
  }
  return text;
}

std::string line(const LineChart& chart, const AxisScale& scale, std::size_t index) {
  const LineChart::Series& series = chart.series[index];
  const char* colour = series_colour(index);
  std::string path;
  std::string marks;
  bool joined = false;
  for (std::size_t place = 0; place < series.values.size(); ++place) {
    const std::optional<double>& value = series.values[place];
    if (value) {
      const double x = x_of(chart, place);
      path += fmt::format("{}{:.1f} {:.1f} ", joined ? "L" : "M", x, scale.place(*value));
      marks +=
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, scale.place(*value), colour);
    }
    joined = value.has_value();
  }
  const double y = top + 18.0 * static_cast<double>(index);
  return fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n", path, colour) + marks +
         fmt::format(
             "<line x1=\"{0:.1f}\" y1=\"{2:.1f}\" x2=\"{1:.1f}\" y2=\"{2:.1f}\" stroke=\"{3}\" stroke-width=\"2\"/>\n",
             width - right + 12, width - right + 32, y, colour) +
         fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", width - right + 38, y + 4, escaped(series.name));
}

}  // namespace

std::string to_svg(const LineChart& chart) {
  const AxisScale scale = scale_of(chart);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"12\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n"
      "<text x=\"{2:.1f}\" y=\"22\" font-size=\"14\">{3} ({4})</text>\n",
      width, height, left, escaped(chart.title), escaped(chart.unit));
  text += axes(chart, scale);
  for (std::size_t index = 0; index < chart.series.size(); ++index) {
    text += line(chart, scale, index);
  }
  return text + "</svg>\n";
}

}  // namespace esc::tuning
