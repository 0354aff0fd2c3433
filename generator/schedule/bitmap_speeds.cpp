// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/bitmap_speeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "generator/support/error.h"

namespace esc {

// Embedded by CMakeLists.txt: sm90-132sm-60mib_bitmap.txt.
extern const std::string_view h200_bitmap_products;

namespace {

/// A product in 16 bits, weights from memory.
struct MeasuredProduct {
  std::int64_t rows;
  std::int64_t columns;
  double zeros;
  long long bcol;
  double over_dense;
  std::string_view layout;
};

constexpr std::array<std::string_view, 2> measured_layouts{"kn", "nk"};

/// As the file has them: a line for each product, in the order of its last comment.
std::vector<MeasuredProduct> read_products(std::string_view text) {
  std::vector<MeasuredProduct> products;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) {
      continue;
    }
    MeasuredProduct product{};
    std::string mask, type, layout;
    double percent = 0, microseconds = 0, dense = 0;
    std::istringstream words(line);
    words >> product.rows >> product.columns >> percent >> mask >> type >> layout >> product.bcol >> microseconds >>
        dense;
    const auto known = std::ranges::find(measured_layouts, layout);
    ESC_CHECK(!words.fail() && microseconds > 0 && known != measured_layouts.end(),
              "a line of measured products: " + line);
    product.layout = *known;
    product.zeros = percent / 100;
    product.over_dense = dense / microseconds;
    products.push_back(product);
  }
  return products;
}

const std::vector<MeasuredProduct>& measured_products() {
  static const std::vector<MeasuredProduct> products = read_products(h200_bitmap_products);
  return products;
}

constexpr std::uint64_t l2_of_h200 = std::uint64_t{60} << 20;

/// Octaves between the numbers of elements, and ten points of sparsity as one more.
double distance(const LayerShape& shape, const MeasuredProduct& product) {
  const double elements = static_cast<double>(product.rows) * static_cast<double>(product.columns);
  return std::abs(std::log2(shape.elements() / elements)) + 10 * std::abs(1 - shape.density() - product.zeros);
}

/// The nearest number of columns by its logarithm; of those that have it the layer that is the most like this one, of
/// these one of about as many rows, and one in its layout.
const MeasuredProduct& nearest_product(const LayerShape& shape) {
  const auto octaves = [](std::int64_t one, std::int64_t other) {
    return std::abs(std::log2(static_cast<double>(one) / static_cast<double>(other)));
  };
  const auto is_nearer = [&](const MeasuredProduct& one, const MeasuredProduct& other) {
    const auto rank = [&](const MeasuredProduct& product) {
      return std::tuple(octaves(product.bcol, shape.bcol), distance(shape, product), octaves(product.rows, shape.rows),
                        product.layout != shape.layout);
    };
    return rank(one) < rank(other);
  };
  return *std::ranges::min_element(measured_products(), is_nearer);
}

}  // namespace

std::optional<BitmapSpeed> bitmap_speed(const LayerShape& shape, const Schedule& schedule) {
  constexpr double farthest = 2;
  if (!std::holds_alternative<BitmapSchedule>(schedule)) {
    return std::nullopt;
  }
  const MeasuredProduct& product = nearest_product(shape);
  const bool is_of_matrices = std::ranges::find(measured_layouts, shape.layout) != measured_layouts.end();
  return BitmapSpeed{.over_dense = product.over_dense,
                     .where = fmt::format("{} x {} with {:.0f} % zeros and {} column{}", product.rows, product.columns,
                                          100 * product.zeros, product.bcol, product.bcol == 1 ? "" : "s"),
                     .device = {"NVIDIA H200", {90, 132, l2_of_h200}},
                     .is_like = is_of_matrices && distance(shape, product) <= farthest};
}

std::string describe(const BitmapSpeed& known) {
  return known.over_dense < 1
             ? fmt::format(
                   "where bitmaps were measured back to back, {} on one {}, the dense product was {:.2f} "
                   "times as fast",
                   known.where, known.device.name, 1 / known.over_dense)
             : fmt::format(
                   "where bitmaps were measured back to back, {} on one {}, they were {:.2f} times as fast as "
                   "the dense product",
                   known.where, known.device.name, known.over_dense);
}

}  // namespace esc
