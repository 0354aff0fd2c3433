// SPDX-License-Identifier: Apache-2.0
// What kernels of bitmaps are expected to take, beside what they took.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "generator/schedule/bitmap_space.h"
#include "generator/schedule/cost_model.h"
#include "generator/schedule/packed_form.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/scheduler.h"
#include "generator/schedule/target.h"

namespace esc {
namespace {

struct MeasuredKernel {
  LayerShape shape;
  BitmapSchedule schedule;
  double microseconds = 0;
};

/// Those of a file, of matrices of this density.
std::vector<MeasuredKernel> measured_kernels(const std::string& name = "sm90-132sm_f16_bitmap", double density = 0.4) {
  std::ifstream file(std::string(ESC_SOURCE_DIR) + "/tests/data/times/" + name + ".txt");
  std::vector<MeasuredKernel> kernels;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    MeasuredKernel one;
    std::string schedule;
    if (words >> one.shape.rows >> one.shape.columns >> one.shape.bcol >> schedule >> one.microseconds) {
      one.schedule = std::get<BitmapSchedule>(parse_schedule(schedule));
      one.shape.nonzeros = static_cast<std::int64_t>(static_cast<double>(one.shape.rows * one.shape.columns) * density);
      kernels.push_back(one);
    }
  }
  return kernels;
}

/// Whether the model knows such.
bool is_known(const BitmapSchedule& schedule) { return !schedule.has_warpgroups() || schedule.cluster <= 2; }

double ratio(const MeasuredKernel& one) {
  return predicted_cost(one.schedule, one.shape, KernelTarget{}.device).microseconds / one.microseconds;
}

TEST(BitmapTime, IsThatOfMeasuredKernelsOfWarpgroups) {
  double squares = 0;
  int count = 0;
  for (const MeasuredKernel& one : measured_kernels()) {
    if (one.schedule.has_warpgroups() && is_known(one.schedule)) {
      squares += std::pow(std::log(ratio(one)), 2);
      ++count;
      EXPECT_NEAR(ratio(one), 1, 0.3) << print(one.schedule) << ", " << one.shape.rows << " x " << one.shape.columns
                                      << ", bCol " << one.shape.bcol;
    }
  }
  EXPECT_GE(count, 50);
  EXPECT_LE(std::sqrt(squares / count), 0.085);
}

TEST(BitmapTime, IsThatOfMeasuredKernelsOfTwoOfFour) {
  double squares = 0;
  int count = 0;
  for (const MeasuredKernel& one : measured_kernels("sm90-132sm_f16_sparse24", 0.5)) {
    if (std::isfinite(ratio(one))) {  // fewer registers than it needs are not expected
      squares += std::pow(std::log(ratio(one)), 2);
      ++count;
      EXPECT_NEAR(ratio(one), 1, 0.35) << print(one.schedule) << ", " << one.shape.rows << " rows, bCol "
                                       << one.shape.bcol;
    }
  }
  EXPECT_GE(count, 32);
  EXPECT_LE(std::sqrt(squares / count), 0.12);
}

/// Of the measured schedules of a product, and of what is searched, the one that is predicted to be the fastest.
MeasuredKernel chosen_of(const std::vector<MeasuredKernel>& kernels) {
  const std::vector<BitmapSchedule> space = bitmap_space(kernels.front().shape.product());
  std::vector<MeasuredKernel> known;
  std::ranges::copy_if(kernels, std::back_inserter(known), [&](const MeasuredKernel& one) {
    return std::ranges::find(space, one.schedule) != space.end();
  });
  if (known.empty()) {
    ADD_FAILURE() << "no schedule of this product was measured";
    return kernels.front();
  }
  return *std::ranges::min_element(known, {}, [](const MeasuredKernel& one) { return ratio(one) * one.microseconds; });
}

TEST(BitmapTime, ChoosesOfMeasuredKernelsOneThatIsHardlySlowerThanTheFastest) {
  using Product = std::tuple<std::int64_t, std::int64_t, std::int64_t>;
  std::map<Product, std::vector<MeasuredKernel>> products;
  for (const MeasuredKernel& one : measured_kernels()) {
    products[Product{one.shape.rows, one.shape.columns, one.shape.bcol}].push_back(one);
  }
  EXPECT_GE(products.size(), 18U);
  double losses = 0;
  for (const auto& [product, kernels] : products) {
    const MeasuredKernel chosen = chosen_of(kernels);
    const MeasuredKernel fastest = *std::ranges::min_element(kernels, {}, &MeasuredKernel::microseconds);
    losses += std::log(chosen.microseconds / fastest.microseconds);
    // Blocks that are few wait for copies the longer the fewer their stages, which the model does not have.
    EXPECT_LE(chosen.microseconds, 1.27 * fastest.microseconds)
        << fmt::format("{} x {}, bCol {}: {} and not {}", std::get<0>(product), std::get<1>(product),
                       std::get<2>(product), print(chosen.schedule), print(fastest.schedule));
  }
  EXPECT_LE(std::exp(losses / static_cast<double>(products.size())), 1.02);
}

TEST(BitmapTime, IsLongerWhereMemoryIsSlower) {
  const LayerShape shape{.bcol = 1, .rows = 14336, .columns = 4096, .nonzeros = 14336 * 4096 / 2, .dtype = "f16"};
  const BitmapSchedule schedule{.columns = 8, .row_tiles = 7, .warps = 2};
  const auto on = [&](const char* gpu) { return predicted_cost(schedule, shape, device_of_gpu(gpu).key).microseconds; };
  EXPECT_GT(on("h100"), on("h200")) << "as many multiprocessors";
}

/// The best bitmap of a layer.
BitmapSchedule chosen_bitmap(const LayerShape& shape, const KernelTarget& target) {
  return std::get<BitmapSchedule>(ranked_schedules(shape, {}, target, packed_form(BitmapSchedule{})).front().schedule);
}

TEST(BitmapChoice, HasWarpgroupsForManyColumnsOfSm90Alone) {
  LayerShape shape{.bcol = 1024, .rows = 4096, .columns = 4096, .nonzeros = 4096 * 4096 * 2 / 5, .dtype = "f16"};
  EXPECT_TRUE(chosen_bitmap(shape, {}).has_warpgroups());
  EXPECT_FALSE(chosen_bitmap(shape, {.oldest_architecture = 80}).has_warpgroups());
  EXPECT_FALSE(chosen_bitmap(shape, {.newest_architecture = 120}).has_warpgroups());
  shape.bcol = 8;
  EXPECT_FALSE(chosen_bitmap(shape, {}).has_warpgroups());
}

TEST(BitmapChoice, HasClustersOfWarpsFromHopperOnAlone) {
  const LayerShape shape{.bcol = 16,
                         .rows = 4096,
                         .columns = 14336,
                         .nonzeros = 4096 * 14336 * 2LL / 5,
                         .layout = "nk",
                         .contiguous = false,
                         .dtype = "f16"};
  const auto has_clusters = [&](const KernelTarget& target) {
    const auto ranking = ranked_schedules(shape, {}, target, packed_form(BitmapSchedule{}));
    return std::ranges::any_of(
        ranking, [](const ScheduleChoice& choice) { return std::get<BitmapSchedule>(choice.schedule).cluster > 1; });
  };
  EXPECT_TRUE(has_clusters({}));
  EXPECT_FALSE(has_clusters({.oldest_architecture = 80}));
}

TEST(BitmapChoice, IsTheBestOfLayersOf16BitsWhoseColumnsFollowEachOther) {
  const DeviceKey h200 = device_of_gpu("h200").key;
  for (const long long bcol : {1, 8, 32, 64, 256}) {
    LayerShape shape{.bcol = bcol,
                     .rows = 4096,
                     .columns = 4096,
                     .nonzeros = 4096 * 4096 * 2 / 5,
                     .layout = "nk",
                     .contiguous = false,
                     .dtype = "f16"};
    EXPECT_TRUE(std::holds_alternative<BitmapSchedule>(choose_schedule(shape, h200).schedule)) << bcol;
    shape.dtype = "f32";
    EXPECT_FALSE(std::holds_alternative<BitmapSchedule>(choose_schedule(shape, h200).schedule)) << bcol;
  }
  const LayerShape many{.bcol = 64, .rows = 4096, .columns = 4096, .nonzeros = 4096 * 4096 * 2 / 5, .dtype = "f16"};
  EXPECT_TRUE(std::holds_alternative<BitmapSchedule>(choose_schedule(many, h200).schedule));
}

}  // namespace
}  // namespace esc
