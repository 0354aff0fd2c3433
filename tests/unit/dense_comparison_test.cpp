// SPDX-License-Identifier: Apache-2.0
// How much faster than a dense product kernels of bitmaps are said to be, beside how much faster they were.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "generator/schedule/compare_with_dense.h"
#include "generator/schedule/packed_form.h"
#include "generator/schedule/scheduler.h"

namespace esc {
namespace {

struct MeasuredProduct {
  LayerShape shape;
  double kernel = 0;  ///< microseconds of a plain launch
  double dense = 0;
};

std::vector<MeasuredProduct> measured_products() {
  std::ifstream file(std::string(ESC_SOURCE_DIR) + "/tests/data/times/sm90-132sm-60mib_bitmap_products.txt");
  std::vector<MeasuredProduct> products;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    MeasuredProduct one;
    LayerShape& shape = one.shape;
    double percent_of_zeros = 0;
    double overlapped = 0;
    std::string mask;
    if (words >> shape.rows >> shape.columns >> percent_of_zeros >> mask >> shape.dtype >> shape.layout >> shape.bcol >>
        overlapped >> one.dense >> one.kernel) {
      shape.nonzeros = std::llround(shape.elements() * (1 - percent_of_zeros / 100));
      shape.longest_row = shape.nonzeros / shape.rows;
      shape.contiguous = shape.layout == "kn";
      shape.cache = CacheState::cold;
      products.push_back(one);
    }
  }
  return products;
}

/// Beside dense, of the bitmap kernel that is expected to be the fastest.
double expected_over_dense(const LayerShape& shape, const TargetDevice& device) {
  const std::string form = packed_form(BitmapSchedule{});
  const Schedule schedule = ranked_schedules(shape, {}, {.device = device.key}, form).front().schedule;
  return compare_with_dense(shape, schedule, device).value().over_dense();
}

TEST(DenseComparison, IsNearWhatWasMeasured) {
  const TargetDevice h200 = device_of_gpu("h200");
  const std::vector<MeasuredProduct> products = measured_products();
  ASSERT_GE(products.size(), 170U);
  double sum = 0;
  for (const MeasuredProduct& one : products) {
    const double error = std::log(expected_over_dense(one.shape, h200) / (one.dense / one.kernel));
    sum += std::abs(error);
    // The dense product of 4096 x 4096 and 8 columns takes 13.1 us in layout kn, in which 11.3 are predicted.
    EXPECT_LE(std::abs(error), 0.18) << fmt::format("{} x {}, density {:.2f}, {}, N = {}", one.shape.rows,
                                                    one.shape.columns, one.shape.density(), one.shape.layout,
                                                    one.shape.bcol);
  }
  EXPECT_LE(sum / static_cast<double>(products.size()), 0.06);
}

TEST(DenseComparison, IsOfDevicesWhoseKernelsWereMeasured) {
  const LayerShape shape{.bcol = 8, .rows = 4096, .columns = 4096, .nonzeros = 4096 * 4096 / 2, .dtype = "f16"};
  LayerShape other = shape;
  other.layout = "nchw";
  const Schedule schedule = BitmapSchedule{};
  EXPECT_EQ(compare_with_dense(shape, schedule, device_of_gpu("h200")).value().device, "H200 SXM");
  EXPECT_FALSE(compare_with_dense(shape, schedule, device_of_gpu("a100")));
  EXPECT_FALSE(compare_with_dense(other, schedule, device_of_gpu("h200"))) << "no dense product is known of it";
}

}  // namespace
}  // namespace esc
