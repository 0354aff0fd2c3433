// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>

namespace esc::tuning {

/// A picture of numbers in rows and columns.
struct HeatMap {
  struct Cell {
    double value = 1;     ///< at least 1, the lower the better: what the colour says
    std::string caption;  ///< second line in the cell; may be empty
  };

  std::string title;
  std::string row_label;
  std::string column_label;
  std::map<std::pair<int, int>, Cell> cells;  ///< by the row's and the column's number; others stay empty
};

/// The map as an SVG element, with the value in each cell. The same map gives the same bytes.
std::string to_svg(const HeatMap& map);

}  // namespace esc::tuning
