// SPDX-License-Identifier: Apache-2.0
// What measurements add to predictions: near them what they say, far away nothing.

#include "generator/schedule/correction.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "generator/support/cholesky.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

LayerShape layer(std::int64_t rows, std::int64_t row_length = 64, long long bcol = 64) {
  return {.bcol = bcol, .rows = rows, .columns = 1024, .nonzeros = rows * row_length, .longest_row = row_length};
}

/// One time of a product.
ProductPoints measured(const std::string& schedule, const LayerShape& shape, double log_ratio, std::size_t number) {
  return {fmt::format("layer {}", number), {{schedule_point(parse_schedule(schedule), shape), log_ratio}}};
}

/// What is to be added to the logarithm of the time of a schedule.
double at(const Correction& correction, const std::string& schedule, const LayerShape& shape,
          const std::string& left_out = {}) {
  return correction.near(shape, left_out).log_ratio(schedule_point(parse_schedule(schedule), shape));
}

const std::string narrow = "panel:ufi=1,warps=4";
const std::string wide = "panel:ufi=4,warps=16";

TEST(Cholesky, SolvesSystems) {
  SymmetricMatrix matrix(3);
  const double rows[3][3] = {{4, 1, 0.5}, {1, 3, -0.25}, {0.5, -0.25, 2}};
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column <= row; ++column) {
      matrix.at(row, column) = rows[row][column];
    }
  }
  const std::vector<double> expected{1, -2, 3};
  std::vector<double> right(3);
  for (std::size_t row = 0; row < 3; ++row) {
    for (std::size_t column = 0; column < 3; ++column) {
      right[row] += rows[row][column] * expected[column];
    }
  }
  const std::vector<double> found = solve(matrix, right);
  for (std::size_t row = 0; row < 3; ++row) {
    EXPECT_NEAR(found[row], expected[row], 1e-12);
  }
  EXPECT_TRUE(solve(SymmetricMatrix(0), {}).empty());
}

TEST(Correction, OfNothingIsNothing) { EXPECT_EQ(at(Correction({}), narrow, layer(512)), 0); }

TEST(Correction, IsWhatWasMeasuredOfTheVeryLayer) {
  const Correction correction({measured(narrow, layer(512), 0.4, 0), measured(wide, layer(512), -0.2, 0),
                               measured(narrow, layer(65536), 0, 1)});
  EXPECT_NEAR(at(correction, narrow, layer(512)), 0.4, 0.05);
  EXPECT_NEAR(at(correction, wide, layer(512)), -0.2, 0.05);
}

/// What nothing near was measured of may be far off; what was measured itself is not.
TEST(Correction, SaysHowFarItMayBeOff) {
  const Correction correction({measured(narrow, layer(512), 0.4, 0), measured(wide, layer(4096), -0.2, 1)});
  const auto deviation = [&](const std::string& schedule, const LayerShape& shape) {
    return correction.near(shape).estimate(schedule_point(parse_schedule(schedule), shape)).deviation;
  };
  EXPECT_LT(deviation(narrow, layer(512)), 0.1);
  EXPECT_GT(deviation(wide, layer(512)), deviation(narrow, layer(512)));
  EXPECT_GT(deviation(narrow, layer(1LL << 40, 1 << 10, 1 << 20)), 0.25);
  EXPECT_NEAR(correction.near(layer(512)).estimate(schedule_point(parse_schedule(narrow), layer(512))).log_ratio,
              at(correction, narrow, layer(512)), 1e-12);
}

TEST(Correction, KnowsNothingOfALayerThatIsLeftOut) {
  const std::vector<ProductPoints> others{measured(narrow, layer(1024), 0.1, 1), measured(wide, layer(1024), 0.3, 1)};
  std::vector<ProductPoints> all = others;
  // As much as the others, so that the mean of all stays.
  all.push_back(measured(narrow, layer(512), 0.2, 0));
  const double left_out = at(Correction(all), narrow, layer(512), "layer 0");
  EXPECT_NEAR(left_out, at(Correction(others), narrow, layer(512)), 1e-12);
  EXPECT_GT(std::abs(at(Correction(all), narrow, layer(512)) - left_out), 0.01);
}

TEST(Correction, ComparesSchedulesByAllTheirParameters) {
  const LayerShape shape = layer(512);
  for (const std::string other :
       {"stream:columns=16,panels=4,warps=2,stages=4", "stream:columns=8,panels=2,warps=2,stages=4",
        "stream:columns=8,panels=4,warps=2,stages=4,rows=32", "stream:columns=8,panels=4,warps=2,stages=4,copies=bulk",
        "stream:columns=8,panels=4,warps=2,stages=4,cluster=2",
        "stream:columns=8,panels=4,warps=2,stages=4,dense=on"}) {
    EXPECT_NE(schedule_point(parse_schedule("stream:columns=8,panels=4,warps=2,stages=4"), shape).schedule,
              schedule_point(parse_schedule(other), shape).schedule)
        << other;
  }
}

/// Of what is left over, all schedules of a family around have a part in common.
TEST(Correction, OfARemainderIsExactAndKnowsAnOffset) {
  std::vector<ProductPoints> points;
  for (std::size_t number = 0; number < 6; ++number) {
    points.push_back(measured(number % 2 == 0 ? narrow : wide, layer(256LL << number), 0.5, number));
  }
  const Correction correction(points, prior_of_remainder);
  LayerShape same = layer(256);
  same.pattern = "layer 0";
  const LocalCorrection local = correction.near(same);
  EXPECT_EQ(local.estimate(schedule_point(parse_schedule(narrow), same)).log_ratio, 0.5);
  EXPECT_EQ(local.estimate(schedule_point(parse_schedule(narrow), same)).deviation, 0);
  EXPECT_FALSE(local.exactly(schedule_point(parse_schedule(wide), same)));
  EXPECT_FALSE(correction.near(layer(256)).has_exact()) << "another layer of the same sizes";
  EXPECT_GT(local.offset(layer_point(same)), 0.15);
  EXPECT_LT(std::abs(local.offset(layer_point(layer(1LL << 40, 1 << 10, 1 << 20)))), 0.05);
  EXPECT_EQ(correction.prior(layer_point(same)).mean, 0);
}

LayerShape with_cache(LayerShape shape, CacheState cache) {
  shape.cache = cache;
  return shape;
}

/// What was measured while the cache was warm says less of a cold one, and less still of another layout.
TEST(Correction, TellsLayoutsAndStatesOfTheCacheApart) {
  const LayerShape warm = layer(512);
  const LayerShape cold = with_cache(warm, CacheState::cold);
  LayerShape transposed = warm;
  transposed.layout = "nk";
  const Correction correction({measured(narrow, warm, 0.5, 0)}, {.mean = 0, .deviation = 1});
  EXPECT_GT(at(correction, narrow, warm), at(correction, narrow, cold) + 0.05);
  EXPECT_GT(at(correction, narrow, cold), at(correction, narrow, transposed) + 0.05);
  EXPECT_GT(at(correction, narrow, transposed), 0.1) << "but it says something";
}

/// The same product in another state of the cache is exact too, unless it was measured in this one.
TEST(Correction, OfARemainderIsExactInTheStateOfTheCacheThatIsTheNearest) {
  LayerShape warm = layer(512);
  warm.pattern = "layer 0";
  const LayerShape cold = with_cache(warm, CacheState::cold);
  const Correction of_warm({measured(narrow, warm, 0.5, 0)}, prior_of_remainder);
  EXPECT_EQ(at(of_warm, narrow, cold), 0.5);
  const Correction of_both({measured(narrow, warm, 0.5, 0), measured(narrow, cold, 0.2, 0)}, prior_of_remainder);
  EXPECT_EQ(at(of_both, narrow, cold), 0.2);
  EXPECT_EQ(at(of_both, narrow, warm), 0.5);
}

/// Where much was measured of a layout and a state of the cache, layers far from all of that have its mean; where
/// nothing was, that of all.
TEST(Correction, HasAMeanForEachLayoutAndStateOfTheCache) {
  std::vector<ProductPoints> points;
  for (std::size_t number = 0; number < 400; ++number) {
    const bool is_cold = number % 2 == 0;
    points.push_back(measured(narrow, with_cache(layer(512), is_cold ? CacheState::cold : CacheState::warm),
                              is_cold ? 0.4 : 0.0, number));
  }
  const Correction correction(points);
  const LayerShape far = layer(1LL << 40, 1 << 10, 1 << 20);
  EXPECT_NEAR(at(correction, wide, with_cache(far, CacheState::cold)), 0.4, 0.03);
  EXPECT_NEAR(at(correction, wide, far), 0, 0.03);
  LayerShape transposed = far;
  transposed.layout = "nk";
  EXPECT_NEAR(at(correction, wide, transposed), 0.2, 0.03);
}

/// A measurement of a layer that is far from another one changes nothing there, whatever else was measured.
TEST(Correction, DoesNotReachFarAwayLayers) {
  std::mt19937_64 random(tests::seed_of_the_run());
  std::uniform_real_distribution<double> ratio(-0.5, 0.5);
  std::uniform_int_distribution<int> exponent(5, 9);
  for (int round = 0; round < 50; ++round) {
    std::vector<ProductPoints> near;
    for (std::size_t number = 0; number < 40; ++number) {
      near.push_back(
          measured(number % 2 == 0 ? narrow : wide, layer(1LL << exponent(random), 16), ratio(random), number));
    }
    double mean = 0;
    for (const ProductPoints& one : near) {
      mean += one.points.front().log_ratio / static_cast<double>(near.size());
    }
    // As far from the mean of all as is usual, so that this stays where it was.
    std::vector<ProductPoints> with_far = near;
    for (const double beside : {-0.3, 0.3}) {
      with_far.push_back(measured(narrow, layer(1LL << 40, 1 << 10, 1 << 20), mean + beside, 1000));
    }
    for (const std::string& schedule : {narrow, wide}) {
      const LayerShape asked = layer(1LL << exponent(random), 16);
      EXPECT_NEAR(at(Correction(with_far), schedule, asked), at(Correction(near), schedule, asked), 0.002)
          << fmt::format("round {}", round);
    }
  }
}

}  // namespace
}  // namespace esc
