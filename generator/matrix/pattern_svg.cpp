// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/pattern_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "generator/matrix/density_raster.h"
#include "generator/support/escaped.h"

namespace esc {
namespace {

constexpr std::int64_t drawn_one_by_one = 256;
constexpr std::int64_t strips = 128;
constexpr int steps = 8;
constexpr std::array<const char*, steps> colours{"#dbe9f6", "#bad6eb", "#89bedc", "#539ecd",
                                                 "#2b7bba", "#0b559f", "#08407c", "#08306b"};
// In pixels: the longer side of the picture, the least the shorter one shrinks to, and the room for the labels.
constexpr std::int64_t longest_side = 512;
constexpr std::int64_t shortest_side = 64;
constexpr std::int64_t margin = 40;
constexpr std::int64_t least_width = 360;  // below it the text would be cut off

/// How many cells rows (or columns) are gathered into.
int cells_of(std::int64_t number) { return static_cast<int>(number <= drawn_one_by_one ? number : strips); }

/// One path per step of darkness: horizontal strokes over runs of cells of that step.
std::string draw_cells(const DensityRaster& raster) {
  const double fullest = raster.densest();
  std::array<std::string, steps> paths;
  const auto step_at = [&](int y, int x) {
    const double share = raster.at(y, x);
    return share == 0.0 ? -1 : static_cast<int>(std::ceil(share / fullest * steps)) - 1;
  };
  for (int y = 0; y < raster.rows; ++y) {
    for (int x = 0; x < raster.columns;) {
      const int step = step_at(y, x);
      int end = x + 1;
      while (end < raster.columns && step_at(y, end) == step) {
        ++end;
      }
      if (step >= 0) {
        fmt::format_to(std::back_inserter(paths[static_cast<std::size_t>(step)]), "M{} {}h{}", x, y, end - x);
      }
      x = end;
    }
  }
  std::string text;
  for (std::size_t step = 0; step < paths.size(); ++step) {
    if (!paths[step].empty()) {
      fmt::format_to(std::back_inserter(text), "<path stroke=\"{}\" d=\"{}\"/>\n", colours[step], paths[step]);
    }
  }
  return text;
}

/// The side that is drawn for `dimension` when the longer one of the matrix is `longer`.
std::int64_t side(std::int64_t dimension, std::int64_t longer) {
  return std::max(shortest_side, longest_side * dimension / longer);
}

}  // namespace

std::string pattern_svg(const SparseMatrix& matrix, std::string_view title) {
  const DensityRaster raster = density_raster(matrix, cells_of(matrix.rows), cells_of(matrix.columns));
  const std::int64_t longer = std::max(matrix.rows, matrix.columns);
  const std::int64_t width = side(matrix.columns, longer);
  const std::int64_t height = side(matrix.rows, longer);
  const std::int64_t full_width = std::max(width + 2 * margin, least_width);
  const std::int64_t full_height = height + 2 * margin + margin / 2;
  const std::int64_t top = margin + margin / 2;

  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "font-family=\"sans-serif\" font-size=\"13\">\n"
      "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      full_width, full_height);
  fmt::format_to(std::back_inserter(svg), "<text x=\"{}\" y=\"20\" font-weight=\"bold\">{}</text>\n", margin,
                 escaped(title));
  fmt::format_to(std::back_inserter(svg), "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">K = {}</text>\n",
                 margin + width / 2, top - 8, matrix.columns);
  fmt::format_to(std::back_inserter(svg),
                 "<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"middle\">M = {}</text>\n", margin - 12,
                 top + height / 2, matrix.rows);
  fmt::format_to(std::back_inserter(svg),
                 "<g transform=\"translate({} {}) scale({:.6f} {:.6f}) translate(0 0.5)\" stroke-width=\"1\" "
                 "shape-rendering=\"crispEdges\">\n",
                 margin, top, static_cast<double>(width) / raster.columns, static_cast<double>(height) / raster.rows);
  svg += draw_cells(raster);
  fmt::format_to(std::back_inserter(svg),
                 "</g>\n<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"#444444\"/>\n",
                 margin, top, width, height);
  fmt::format_to(std::back_inserter(svg),
                 "<text x=\"{}\" y=\"{}\">{:.2f} % zeros; darkest cells: {:.2f} % non-zeros</text>\n</svg>\n", margin,
                 top + height + 20, 100.0 * matrix.sparsity(), 100.0 * raster.densest());
  return svg;
}

}  // namespace esc
