// SPDX-License-Identifier: Apache-2.0
// What kernels of bitmaps are expected to take, beside what they took.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "generator/schedule/bitmap_schedules.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/scheduler.h"

namespace esc {
namespace {

constexpr double measured_density = 0.4;

struct MeasuredKernel {
  LayerShape shape;
  BitmapSchedule schedule;
  double microseconds = 0;
};

std::vector<MeasuredKernel> measured_kernels() {
  std::ifstream file(std::string(ESC_SOURCE_DIR) + "/tests/data/times/sm90-132sm_f16_bitmap.txt");
  std::vector<MeasuredKernel> kernels;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    MeasuredKernel one;
    std::string schedule;
    if (words >> one.shape.rows >> one.shape.columns >> one.shape.bcol >> schedule >> one.microseconds) {
      one.schedule = std::get<BitmapSchedule>(parse_schedule(schedule));
      one.shape.nonzeros =
          static_cast<std::int64_t>(static_cast<double>(one.shape.rows * one.shape.columns) * measured_density);
      kernels.push_back(one);
    }
  }
  return kernels;
}

/// Whether the model knows such.
bool is_known(const BitmapSchedule& schedule) {
  return !schedule.has_warpgroups() || (schedule.stages >= 4 && schedule.cluster <= 2);
}

double ratio(const MeasuredKernel& one) {
  return expected_time(one.schedule, one.shape, KernelTarget{}) / one.microseconds;
}

TEST(BitmapTime, IsThatOfMeasuredKernelsOfWarpgroups) {
  double squares = 0;
  int count = 0;
  for (const MeasuredKernel& one : measured_kernels()) {
    if (one.schedule.has_warpgroups() && is_known(one.schedule)) {
      squares += std::pow(std::log(ratio(one)), 2);
      ++count;
      EXPECT_NEAR(ratio(one), 1, 0.2) << print(one.schedule) << ", " << one.shape.rows << " x " << one.shape.columns
                                      << ", bCol " << one.shape.bcol;
    }
  }
  EXPECT_GE(count, 60);
  EXPECT_LE(std::sqrt(squares / count), 0.05);
}

/// The first of the schedules of a product that was measured.
MeasuredKernel chosen_of(const std::vector<MeasuredKernel>& kernels) {
  for (const ScheduleChoice& choice : bitmap_schedules(kernels.front().shape, KernelTarget{})) {
    const auto found = std::ranges::find(kernels, std::get<BitmapSchedule>(choice.schedule), &MeasuredKernel::schedule);
    if (found != kernels.end()) {
      return *found;
    }
  }
  ADD_FAILURE() << "no schedule of this product was measured";
  return kernels.front();
}

TEST(BitmapTime, ChoosesOfMeasuredKernelsOneThatIsHardlySlowerThanTheFastest) {
  using Product = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  std::map<Product, std::vector<MeasuredKernel>> products;
  for (const MeasuredKernel& one : measured_kernels()) {
    products[Product{one.shape.rows, one.shape.columns, one.shape.bcol}].push_back(one);
  }
  EXPECT_GE(products.size(), 18U);
  for (const auto& [product, kernels] : products) {
    const MeasuredKernel chosen = chosen_of(kernels);
    const MeasuredKernel fastest = *std::ranges::min_element(kernels, {}, &MeasuredKernel::microseconds);
    EXPECT_LE(chosen.microseconds, 1.08 * fastest.microseconds)
        << fmt::format("{} x {}, bCol {}: {} and not {}", std::get<0>(product), std::get<1>(product),
                       std::get<2>(product), print(chosen.schedule), print(fastest.schedule));
  }
}

TEST(BitmapSchedules, HaveWarpgroupsForManyColumnsOfSm90Alone) {
  const LayerShape shape{.bcol = 1024, .rows = 4096, .columns = 4096, .nonzeros = 4096 * 4096 * 2 / 5};
  const auto fastest = [&](const KernelTarget& target) {
    return std::get<BitmapSchedule>(bitmap_schedules(shape, target).front().schedule);
  };
  EXPECT_TRUE(fastest(KernelTarget{}).has_warpgroups());
  EXPECT_FALSE(fastest(KernelTarget{.oldest_architecture = 80}).has_warpgroups());
  EXPECT_FALSE(fastest(KernelTarget{.newest_architecture = 120}).has_warpgroups());
  EXPECT_FALSE(
      std::get<BitmapSchedule>(
          bitmap_schedules({.bcol = 8, .rows = 4096, .columns = 4096, .nonzeros = shape.nonzeros}, KernelTarget{})
              .front()
              .schedule)
          .has_warpgroups());
}

TEST(PreferredBitmaps, AreForWhatStreamsMultiplyMoreSlowly) {
  const auto of = [](const LayerShape& shape) { return preferred_bitmaps(shape, KernelTarget{}); };
  LayerShape shape{.bcol = 64, .rows = 4096, .columns = 4096, .nonzeros = 4096 * 4096 * 2 / 5, .dtype = "f16"};
  ASSERT_FALSE(of(shape).empty());
  EXPECT_EQ(choose_schedule(shape, DeviceKey{90, 132, std::uint64_t{60} << 20}).schedule, of(shape).front().schedule);
  const auto without = [&](auto change) {
    LayerShape changed = shape;
    change(changed);
    return of(changed).empty();
  };
  EXPECT_TRUE(without([](LayerShape& one) { one.bcol = 32; }));
  for (const long long bcol : {1, 8, 32, 64}) {
    EXPECT_FALSE(without([&](LayerShape& one) { one.layout = "nk", one.bcol = bcol; })) << bcol;
  }
  EXPECT_TRUE(without([](LayerShape& one) { one.dtype = "f32"; }));
  EXPECT_TRUE(without([](LayerShape& one) { one.nonzeros /= 2; })) << "80 % zeros";
  EXPECT_TRUE(without([](LayerShape& one) {
    one.rows = 512;
    one.nonzeros /= 8;
  }));
  EXPECT_TRUE(without([](LayerShape& one) { one.layout = "conv2d"; }));
}

}  // namespace
}  // namespace esc
