// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/layer_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "generator/schedule/element_types.h"

namespace esc {
namespace {

/// A layer's place among the classes: logarithms to base 2.
struct Place {
  double rows = 0;
  double columns = 0;
  double mean_row = 0;
  double longest_row = 0;
};

Place place_of(const LayerShape& shape) {
  const auto rows = static_cast<double>(shape.rows);
  const double mean = std::max<double>(1, static_cast<double>(shape.nonzeros)) / rows;
  const double longest = std::max({1.0, mean, static_cast<double>(shape.longest_row)});
  return {std::log2(rows), std::log2(static_cast<double>(shape.columns)), std::log2(mean), std::log2(longest)};
}

Place middle_of(const LayerClass& layers) {
  return {layers.rows / 2.0, layers.columns / 2.0, layers.mean_row / 2.0, layers.longest_row / 2.0};
}

double distance(const Place& a, const Place& b) {
  return std::abs(a.rows - b.rows) + 0.5 * std::abs(a.columns - b.columns) + std::abs(a.mean_row - b.mean_row) +
         std::abs(a.longest_row - b.longest_row);
}

int half_steps(double logarithm) { return static_cast<int>(std::lround(2 * logarithm)); }

std::string size_of(double logarithm) {
  const double size = std::exp2(logarithm);
  return size < 10 ? fmt::format("{:.2g}", size) : fmt::format("{:.0f}", size);
}

}  // namespace

std::string print(CacheState state) { return state == CacheState::warm ? "warm" : "cold"; }

CacheState usual_cache(std::string_view dtype) { return is_half_type(dtype) ? CacheState::cold : CacheState::warm; }

bool follows_power_law(const LayerShape& shape) { return shape.row_variation >= 1; }

LayerClass class_of(const LayerShape& shape) {
  const Place place = place_of(shape);
  return {shape.bcol, half_steps(place.rows), half_steps(place.columns), half_steps(place.mean_row),
          half_steps(place.longest_row)};
}

std::string describe(const LayerClass& layers) {
  const Place middle = middle_of(layers);
  return fmt::format("{} columns of B, about {} x {}, rows of {} non-zeros on average and {} at most", layers.bcol,
                     size_of(middle.rows), size_of(middle.columns), size_of(middle.mean_row),
                     size_of(middle.longest_row));
}

double class_distance(const LayerShape& shape, const LayerClass& layers) {
  return distance(place_of(shape), middle_of(layers));
}

double class_distance(const LayerClass& a, const LayerClass& b) { return distance(middle_of(a), middle_of(b)); }

}  // namespace esc
