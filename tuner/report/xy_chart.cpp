#include "tuner/report/xy_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "generator/support/escaped.h"
#include "tuner/report/series_colours.h"

namespace esc::tuning {
namespace {

constexpr double width = 840;
constexpr double height = 420;
constexpr double left = 72;
constexpr double right = 270;
constexpr double top = 44;
constexpr double bottom = 56;
constexpr std::array dashes{"none", "8 4", "2 3", "8 3 2 3"};

/// An axis with the range that holds all numbers and ends at marks.
class Scale {
 public:
  Scale(const Axis& axis, const std::vector<double>& numbers, double from, double to)
      : axis_(axis), from_(from), to_(to) {
    double least = std::numeric_limits<double>::infinity();
    double most = -least;
    for (const double number : numbers) {
      least = std::min(least, transformed(number));
      most = std::max(most, transformed(number));
    }
    if (least > most) {
      least = most = 0;
    }
    step_ = axis_.logarithmic ? 1 : readable_step(most - least);
    low_ = std::floor(least / step_) * step_;
    high_ = std::max(std::ceil(most / step_) * step_, low_ + step_);
  }

  double place(double number) const { return from_ + (transformed(number) - low_) / (high_ - low_) * (to_ - from_); }

  std::vector<double> marks() const {
    std::vector<double> numbers;
    const auto count = static_cast<int>(std::lround((high_ - low_) / step_));
    for (int mark = 0; mark <= count; ++mark) {
      const double number = low_ + mark * step_;
      numbers.push_back(axis_.logarithmic ? std::pow(axis_.base, number) : number);
    }
    return numbers;
  }

 private:
  double transformed(double number) const {
    return axis_.logarithmic ? std::log(number) / std::log(axis_.base) : number;
  }

  /// 1, 2 or 5 times a power of ten, so that there are four to ten marks.
  static double readable_step(double range) {
    if (range <= 0) {
      return 1;
    }
    constexpr double most_marks = 9;
    const double power = std::pow(10, std::floor(std::log10(range / most_marks)));
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (range / (factor * power) <= most_marks) {
        return factor * power;
      }
    }
    return 10 * power;
  }

  Axis axis_;
  double from_;
  double to_;
  double step_ = 1;
  double low_ = 0;
  double high_ = 1;
};

/// The numbers that can be drawn, of both axes.
bool drawable(const XyChart& chart, const XyChart::Point& point) {
  const auto fits = [](const Axis& axis, double number) {
    return std::isfinite(number) && (!axis.logarithmic || number > 0);
  };
  return fits(chart.horizontal, point.x) && fits(chart.vertical, point.y);
}

Scale scale_of(const XyChart& chart, bool horizontal) {
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
  return horizontal ? Scale(chart.horizontal, numbers, left, width - right)
                    : Scale(chart.vertical, numbers, height - bottom, top);
}

/// "0.25", "4", "10000".
std::string mark_text(double number) {
  constexpr double whole_from = 100;
  return number >= whole_from ? fmt::format("{:.0f}", number) : fmt::format("{:.4g}", number);
}

std::string axes(const XyChart& chart, const Scale& x_scale, const Scale& y_scale) {
  std::string text;
  for (const double number : y_scale.marks()) {
    const double y = y_scale.place(number);
    text += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#dddddd\"/>\n", left, y,
                        width - right, y);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", left - 6, y + 4,
                        mark_text(number));
  }
  for (const double number : x_scale.marks()) {
    const double x = x_scale.place(number);
    text += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#eeeeee\"/>\n", x, top,
                        x, height - bottom);
    text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", x, height - bottom + 16,
                        mark_text(number));
  }
  if (chart.level) {
    const double y = y_scale.place(*chart.level);
    text += fmt::format(
        "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"#444444\" stroke-width=\"1.5\"/>\n",
        left, y, width - right, y);
  }
  text += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>\n", (left + width - right) / 2,
                      height - bottom + 40, escaped(chart.horizontal.label));
  text += fmt::format("<text transform=\"translate(18 {:.1f}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n",
                      (top + height - bottom) / 2, escaped(chart.vertical.label));
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

std::string drawn(const XyChart& chart, std::size_t index, const Scale& x_scale, const Scale& y_scale) {
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

std::string legend(const XyChart& chart) {
  std::string text;
  for (std::size_t index = 0; index < chart.series.size(); ++index) {
    const double y = top + 8 + 18.0 * static_cast<double>(index);
    const double x = width - right + 14;
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
  const Scale x_scale = scale_of(chart, true);
  const Scale y_scale = scale_of(chart, false);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" aria-label=\"{2}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<title>{2}</title>\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n<text x=\"{3}\" y=\"22\" font-size=\"14\">{2}</text>\n",
      width, height, escaped(chart.title), left);
  text += axes(chart, x_scale, y_scale);
  for (std::size_t index = 0; index < chart.series.size(); ++index) {
    text += drawn(chart, index, x_scale, y_scale);
  }
  return text + legend(chart) + "</svg>\n";
}

}  // namespace esc::tuning
