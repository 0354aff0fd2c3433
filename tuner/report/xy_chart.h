// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/report/axis_scale.h"

namespace esc::tuning {

/// A picture of points over two axes.
struct XyChart {
  enum class Style { marks, line, steps };

  struct Point {
    double x = 0;
    double y = 0;
    std::string note = {};  ///< shown where a reader points at it
  };
  struct Series {
    std::string name;
    Style style = Style::marks;
    std::vector<Point> points;
  };

  std::string title;
  Axis horizontal;
  Axis vertical;
  std::vector<Series> series;
  std::optional<double> level;  ///< a horizontal line that says where a limit is, as 1 for speed-ups
};

/// The chart as an SVG element for an HTML page or a file. The same chart gives the same bytes; one without points is
/// drawn as empty axes. Series differ by shape or dashes as well as by colour.
std::string to_svg(const XyChart& chart);

}  // namespace esc::tuning
