// SPDX-License-Identifier: Apache-2.0
// What a user has measured, as a level on the model of this program: it counts where it was measured, and the farther
// from there the less.

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "generator/schedule/device_catalog.h"
#include "generator/schedule/scheduler.h"
#include "generator/schedule/search_space.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

constexpr DeviceKey h200{90, 132, 60ULL << 20};
constexpr DeviceKey a100{80, 108, 40ULL << 20};

LayerShape layer(std::int64_t rows, std::int64_t columns, long long bcol = 64, const std::string& dtype = "f32") {
  return {.bcol = bcol,
          .rows = rows,
          .columns = columns,
          .nonzeros = rows * columns / 4,
          .longest_row = columns / 3,
          .pattern = std::to_string(rows) + "x" + std::to_string(columns),
          .layout = "kn",
          .dtype = dtype};
}

DeviceCatalog with(const DeviceKey& device, std::vector<TimedProduct> products) {
  return DeviceCatalog(shipped_devices(), {{.key = device, .products = std::move(products)}});
}

std::vector<ExpectedSchedule> ranked(const DeviceCatalog& catalog, const LayerShape& shape,
                                     const DeviceKey& device = h200) {
  return catalog.model(device).ranked(usual_space(shape), shape, kernel_target(device, {}));
}

/// The first so many of a ranking, each so many times as slow as it is expected to be.
TimedProduct measured(const LayerShape& shape, const DeviceKey& device, std::size_t count, double factor) {
  TimedProduct product{shape, {}};
  for (const ExpectedSchedule& one : ranked(shipped_catalog(), shape, device)) {
    if (product.schedules.size() < count) {
      product.schedules.push_back({one.schedule, factor * one.microseconds});
    }
  }
  return product;
}

double expected(const DeviceCatalog& catalog, const Schedule& schedule, const LayerShape& shape,
                const DeviceKey& device = h200) {
  return catalog.model(device).expected_microseconds(schedule, shape, device);
}

TEST(UserLevel, OfNothingChangesNothing) {
  const LayerShape shape = layer(512, 512);
  const auto own = ranked(with(h200, {}), shape);
  const auto shipped = shipped_model(h200).ranked(usual_space(shape), shape, kernel_target(h200, {}));
  ASSERT_EQ(own.size(), shipped.size());
  for (std::size_t place = 0; place < own.size(); ++place) {
    EXPECT_EQ(own[place].schedule, shipped[place].schedule);
    EXPECT_EQ(own[place].microseconds, shipped[place].microseconds);
    EXPECT_EQ(own[place].at_most, shipped[place].at_most);
  }
}

TEST(UserLevel, TakesWhatTheVeryProductTook) {
  const LayerShape shape = layer(2048, 1024);
  const TimedProduct product = measured(shape, h200, 40, 1.7);
  const DeviceCatalog catalog = with(h200, {product});
  for (const TimedSchedule& one : product.schedules) {
    EXPECT_NEAR(expected(catalog, one.schedule, shape), one.microseconds, 1e-9 * one.microseconds);
  }
}

/// Though it was expected to be one of the slowest.
TEST(UserLevel, TakesTheFastestOfTheVeryProductFirst) {
  const LayerShape shape = layer(1024, 1024);
  const auto before = ranked(shipped_catalog(), shape);
  const Schedule& slow = before.back().schedule;
  const DeviceCatalog catalog = with(h200, {{shape, {{slow, before.front().microseconds / 2}}}});
  EXPECT_EQ(ranked(catalog, shape).front().schedule, slow);
}

TEST(UserLevel, LeavesAProductOutThatIsAskedFor) {
  const LayerShape shape = layer(1024, 1024);
  const DeviceCatalog catalog = with(h200, {measured(shape, h200, 10, 3)});
  const auto without = shipped_model(h200).ranked(usual_space(shape), shape, kernel_target(h200, {}), shape.pattern);
  const auto with_own = catalog.model(h200).ranked(usual_space(shape), shape, kernel_target(h200, {}), shape.pattern);
  EXPECT_EQ(with_own.front().schedule, without.front().schedule);
  EXPECT_EQ(with_own.front().microseconds, without.front().microseconds);
}

/// On a GPU of which the program has no kernels: all that a family took there is so many times as slow as expected.
TEST(UserLevel, KnowsAnOffsetThatAllProductsShow) {
  std::vector<TimedProduct> products;
  for (const std::int64_t rows : {512, 2048, 8192}) {
    products.push_back(measured(layer(rows, 1024), a100, 6, 1.6));
  }
  const DeviceCatalog catalog = with(a100, products);
  const LayerShape asked = layer(4096, 2048);
  const Schedule schedule = products.front().schedules.front().schedule;
  const double factor = expected(catalog, schedule, asked, a100) / expected(shipped_catalog(), schedule, asked, a100);
  EXPECT_GT(factor, 1.35);
  EXPECT_LT(factor, 1.65);
}

TEST(UserLevel, IsForTheDeviceThatIsNearer) {
  const LayerShape shape = layer(1024, 1024);
  const DeviceCatalog catalog = with(a100, {measured(shape, a100, 6, 2)});
  const Schedule schedule = ranked(shipped_catalog(), shape, a100).front().schedule;
  EXPECT_GT(expected(catalog, schedule, shape, a100), 1.9 * expected(shipped_catalog(), schedule, shape, a100));
  const DeviceKey a30{80, 56, 24ULL << 20};
  EXPECT_GT(expected(catalog, schedule, shape, a30), 1.9 * expected(shipped_catalog(), schedule, shape, a30));
  EXPECT_EQ(expected(catalog, schedule, shape, h200), expected(shipped_catalog(), schedule, shape, h200));
}

/// Draws what a user may have measured of small layers, and asks for layers that are ever farther away: what is added
/// there falls with the distance, whatever was measured.
TEST(UserLevel, ChangesLessTheFartherALayerIs) {
  std::mt19937_64 draws(tests::seed_of_the_run());
  std::uniform_real_distribution<double> ratio(-1, 1);
  constexpr int rounds = 8;
  for (int round = 0; round < rounds; ++round) {
    const std::string dtype = draws() % 2 == 0 ? "f32" : "f16";
    std::vector<TimedProduct> products;
    double worst = 0;
    for (int number = 0; number < 4; ++number) {
      const LayerShape small = layer(64LL << draws() % 3, 64LL << draws() % 3, 1LL << draws() % 3, dtype);
      const double log_ratio = ratio(draws);
      worst = std::max(worst, std::abs(log_ratio));
      products.push_back(measured(small, h200, 4, std::exp(log_ratio)));
    }
    const DeviceCatalog catalog = with(h200, products);
    for (const auto& [doublings, share] : std::map<int, double>{{5, 0.4}, {10, 0.1}, {20, 0.01}}) {
      // Rows, columns and columns of B: four and a half octaves at once.
      const LayerShape far = layer(256LL << doublings, 256LL << doublings, 4LL << doublings, dtype);
      for (const TimedProduct& product : products) {
        const Schedule& schedule = product.schedules.front().schedule;
        const double before = expected(shipped_catalog(), schedule, far);
        if (std::isfinite(before)) {  // else it does not fit on a multiprocessor for so large a layer
          EXPECT_LE(std::abs(std::log(expected(catalog, schedule, far) / before)), share * worst)
              << doublings << " doublings, round " << round << ", " << print(schedule);
        }
      }
    }
  }
}

}  // namespace
}  // namespace esc
