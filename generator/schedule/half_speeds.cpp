// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/half_speeds.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "generator/schedule/element_types.h"
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
  std::string_view layout = "kn";
};

/// Of family stream, plain launches; zeros at random or as Wanda leaves them.
constexpr MeasuredProduct streamed_products[] = {
    {4096, 4096, 0.5, 64, 0.74},  {4096, 4096, 0.5, 128, 0.45},  {4096, 4096, 0.5, 256, 0.30},
    {4096, 4096, 0.6, 64, 0.76},  {4096, 4096, 0.6, 128, 0.44},  {4096, 4096, 0.6, 256, 0.31},
    {4096, 4096, 0.7, 64, 0.82},  {4096, 4096, 0.7, 128, 0.50},  {4096, 4096, 0.7, 256, 0.34},
    {14336, 4096, 0.6, 64, 0.65}, {14336, 4096, 0.6, 128, 0.40}, {14336, 4096, 0.6, 256, 0.28},
    {8192, 8192, 0.6, 64, 0.77},  {8192, 8192, 0.6, 128, 0.41},  {8192, 8192, 0.6, 256, 0.28}};

constexpr std::array<std::string_view, 2> measured_layouts{"kn", "nk"};

/// Of family bitmap, as the file has them: a line for each product, in the order of its last comment.
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

const std::vector<MeasuredProduct>& bitmap_products() {
  static const std::vector<MeasuredProduct> products = read_products(h200_bitmap_products);
  return products;
}

constexpr std::uint64_t l2_of_h200 = std::uint64_t{60} << 20;

bool is_bitmap(const Schedule& schedule) { return std::holds_alternative<BitmapSchedule>(schedule); }

/// Octaves between the numbers of elements, and ten points of sparsity as one more.
double distance(const LayerShape& shape, const MeasuredProduct& product) {
  const double elements = static_cast<double>(product.rows) * static_cast<double>(product.columns);
  return std::abs(std::log2(shape.elements() / elements)) + 10 * std::abs(1 - shape.density() - product.zeros);
}

/// The nearest number of columns by its logarithm; of those that have it the layer that is the most like this one, of
/// these one of about as many rows, and one in its layout.
const MeasuredProduct& nearest(std::span<const MeasuredProduct> products, const LayerShape& shape) {
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
  return *std::ranges::min_element(products, is_nearer);
}

}  // namespace

std::optional<HalfSpeed> half_speed(const LayerShape& shape, const Schedule& schedule) {
  constexpr double farthest = 2;
  const bool packs_bitmap = is_bitmap(schedule);
  if (!is_half_type(shape.dtype) || (!packs_bitmap && shape.bcol <= most_tuned_half_columns)) {
    return std::nullopt;
  }
  const MeasuredProduct& product = packs_bitmap ? nearest(bitmap_products(), shape) : nearest(streamed_products, shape);
  const bool is_like_masks = packs_bitmap ? std::ranges::find(measured_layouts, shape.layout) != measured_layouts.end()
                                          : shape.scattered && shape.layout == product.layout;
  return HalfSpeed{.over_dense = product.over_dense,
                   .where = fmt::format("{} x {} with {:.0f} % zeros and {} column{}", product.rows, product.columns,
                                        100 * product.zeros, product.bcol, product.bcol == 1 ? "" : "s"),
                   .device = {"NVIDIA H200", {90, 132, l2_of_h200}},
                   .is_like = is_like_masks && distance(shape, product) <= farthest};
}

std::string describe(const HalfSpeed& known, const LayerShape& shape, const Schedule& schedule) {
  if (!is_bitmap(schedule)) {
    return fmt::format(
        "this program's schedules in 16 bits were tuned for up to {} columns of B; this kernel takes {} in tiles: "
        "where that was measured, {} on one {}, the dense product was {:.1f} times as fast: use that, or --schedule "
        "bitmap",
        most_tuned_half_columns, shape.bcol, known.where, known.device.name, 1 / known.over_dense);
  }
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
