// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/wide_halves.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "generator/schedule/element_types.h"

namespace esc {
namespace {

/// One layer in float16 with zeros at random or as Wanda leaves them, layout kn, plain launches, weights from memory.
struct WideLayer {
  std::int64_t rows;
  std::int64_t columns;
  double zeros;
  std::array<double, 3> over_dense;  ///< with 64, 128 and 256 columns of B
};

constexpr std::array<long long, 3> measured_columns{64, 128, 256};
constexpr WideLayer wide_layers[] = {{4096, 4096, 0.5, {0.74, 0.45, 0.30}},
                                     {4096, 4096, 0.6, {0.76, 0.44, 0.31}},
                                     {4096, 4096, 0.7, {0.82, 0.50, 0.34}},
                                     {14336, 4096, 0.6, {0.65, 0.40, 0.28}},
                                     {8192, 8192, 0.6, {0.77, 0.41, 0.28}}};

constexpr std::uint64_t l2_of_h200 = std::uint64_t{60} << 20;

/// Octaves between the numbers of elements, and ten points of sparsity as one more.
double distance(const LayerShape& shape, const WideLayer& layer) {
  const double elements = static_cast<double>(layer.rows) * static_cast<double>(layer.columns);
  return std::abs(std::log2(shape.elements() / elements)) + 10 * std::abs(1 - shape.density() - layer.zeros);
}

/// The number of columns that was measured and is the nearest by its logarithm.
std::size_t nearest_columns(long long bcol) {
  const auto distance_to = [&](long long columns) {
    return std::abs(std::log2(static_cast<double>(columns) / static_cast<double>(bcol)));
  };
  const auto nearest = std::ranges::min_element(measured_columns, {}, distance_to);
  return static_cast<std::size_t>(nearest - measured_columns.begin());
}

}  // namespace

std::optional<WideHalf> wide_half(const LayerShape& shape) {
  constexpr double farthest = 2;
  if (!is_half_type(shape.dtype) || shape.bcol <= most_tuned_half_columns) {
    return std::nullopt;
  }
  const auto distance_to = [&](const WideLayer& layer) { return distance(shape, layer); };
  const WideLayer& layer = *std::ranges::min_element(wide_layers, {}, distance_to);
  const std::size_t at = nearest_columns(shape.bcol);
  return WideHalf{.over_dense = layer.over_dense[at],
                  .where = fmt::format("{} x {} with {:.0f} % zeros and {} columns", layer.rows, layer.columns,
                                       100 * layer.zeros, measured_columns[at]),
                  .device = {"NVIDIA H200", {90, 132, l2_of_h200}},
                  .is_like = shape.scattered && shape.layout == "kn" && distance(shape, layer) <= farthest};
}

std::string describe(const WideHalf& known, const LayerShape& shape) {
  return fmt::format(
      "this program's schedules in 16 bits were tuned for up to {} columns of B; this kernel takes {} in tiles: where "
      "that was "
      "measured, {} on one {}, the dense product was {:.1f} times as fast: use that",
      most_tuned_half_columns, shape.bcol, known.where, known.device.name, 1 / known.over_dense);
}

}  // namespace esc
