#include "tuner/report/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/support/escaped.h"
#include "tuner/report/series_colours.h"

namespace esc::tuning {
namespace {

constexpr double width = 760;
constexpr double height = 460;
constexpr double left = 84;
constexpr double right = 190;
constexpr double top = 44;
constexpr double bottom = 116;

/// Where values stand on the vertical axis: between powers of two around all of them.
class Scale {
 public:
  explicit Scale(const LineChart& chart) {
    for (const LineChart::Series& series : chart.series) {
      for (const std::optional<double>& value : series.values) {
        if (value) {
          low_ = std::min(low_, std::floor(std::log2(*value)));
          high_ = std::max(high_, std::ceil(std::log2(*value)));
        }
      }
    }
    if (low_ >= high_) {
      low_ = 0;
      high_ = 1;
    }
  }

  double low() const { return low_; }
  double high() const { return high_; }
  double y(double value) const {
    return height - bottom - (std::log2(value) - low_) / (high_ - low_) * (height - top - bottom);
  }

 private:
  double low_ = 1e9;
  double high_ = -1e9;
};

double x_of(const LineChart& chart, std::size_t place) {
  const double step = (width - left - right) / static_cast<double>(std::max<std::size_t>(1, chart.places.size()));
  return left + (static_cast<double>(place) + 0.5) * step;
}

std::string axes(const LineChart& chart, const Scale& scale) {
  std::string text;
  for (double power = scale.low(); power <= scale.high(); ++power) {
    const double y = scale.y(std::exp2(power));
    text += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#cccccc\"/>\n", left, y,
                        width - right, y);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6, y + 4,
                        std::exp2(power));
  }
  for (std::size_t place = 0; place < chart.places.size(); ++place) {
    const double x = x_of(chart, place);
    text += fmt::format(
        "<text x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"end\" transform=\"rotate(-30 {0:.1f} {1:.1f})\">{2}</text>\n",
        x, height - bottom + 16, escaped(chart.places[place]));
  }
  return text;
}

std::string line(const LineChart& chart, const Scale& scale, std::size_t index) {
  const LineChart::Series& series = chart.series[index];
  const char* colour = series_colour(index);
  std::string path;
  std::string marks;
  bool joined = false;
  for (std::size_t place = 0; place < series.values.size(); ++place) {
    const std::optional<double>& value = series.values[place];
    if (value) {
      const double x = x_of(chart, place);
      path += fmt::format("{}{:.1f} {:.1f} ", joined ? "L" : "M", x, scale.y(*value));
      marks += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\"/>\n", x, scale.y(*value), colour);
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
  const Scale scale(chart);
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
