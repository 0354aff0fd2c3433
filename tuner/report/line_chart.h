// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace esc::tuning {

/// A chart of several lines over common places on the horizontal axis; the vertical axis is logarithmic.
struct LineChart {
  struct Series {
    std::string name;
    std::vector<std::optional<double>> values;  ///< one for each place, positive; absent: a gap
  };

  std::string title;
  std::string unit;                 ///< of the values
  std::vector<std::string> places;  ///< labels of the horizontal axis
  std::vector<Series> series;
};

/// The chart as an SVG file. The same chart gives the same bytes.
std::string to_svg(const LineChart& chart);

}  // namespace esc::tuning
