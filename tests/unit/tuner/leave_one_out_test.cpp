// SPDX-License-Identifier: Apache-2.0
#include "tuner/publish/leave_one_out.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "generator/schedule/scheduler.h"
#include "tests/unit/tuner/publish_records.h"
#include "tuner/publish/publish.h"

namespace esc::tuning {
namespace {

using namespace publish_records;

TEST(LeaveOneOut, SaysWhatALayerLosesThatIsNotKnown) {
  // Without itself, each layer gets what is best for the others.
  std::vector<Record> records;
  add_both(records, item(1), 1.0, 2.0);
  add_both(records, item(2), 1.0, 2.0);
  add_both(records, item(3), 2.0, 1.0);
  const auto results = leave_one_out(only_device(records));
  ASSERT_EQ(results.size(), 1U);
  const LeaveOneOut& loss = results.at(32);
  // Of the first two, each sees one that wants `narrow` and one that wants `wide`, a tie: the first by name.
  EXPECT_EQ(loss.layers, 3);
  EXPECT_EQ(loss.not_measured, 0);
  EXPECT_NEAR(loss.mean, std::cbrt(1.0 * 1.0 * 2.0), 1e-9);
  EXPECT_NEAR(loss.median, 1.0, 1e-9);
  EXPECT_NEAR(loss.percentile_90, 1.8, 1e-9) << "between 1 and 2";
  EXPECT_NEAR(loss.worst, 2.0, 1e-9);
}

TEST(LeaveOneOut, LeavesAPatternOutAtEveryBCol) {
  std::vector<Record> records;
  add_both(records, item(1, 32), 2.0, 1.0);
  add_both(records, item(1, 64), 2.0, 1.0);
  const LeaveOneOut alone = leave_one_out(only_device(records)).at(32);
  EXPECT_EQ(alone.layers, 0);
  EXPECT_EQ(alone.not_measured, 1) << "nothing is left, so it is what the model expects to be the fastest";
  add_both(records, item(2, 64), 1.0, 2.0);
  const auto results = leave_one_out(only_device(records));
  EXPECT_NEAR(results.at(32).mean, 2.0, 1e-9) << "from the other bCol, by the other pattern";
  EXPECT_NEAR(results.at(64).mean, 2.0, 1e-9);
  EXPECT_TRUE(leave_one_out(MeasuredDevice{}).empty());
}

TEST(LeaveOneOut, CountsSchedulesThatWereNotMeasured) {
  std::vector<Record> records{measured(item(1), narrow, 1.0), measured(item(2), wide, 1.0),
                              measured(item(2), print(parse_schedule("panel:ufi=1,warps=2")), 1.5)};
  const LeaveOneOut loss = leave_one_out(only_device(records)).at(32);
  EXPECT_EQ(loss.layers, 0);
  EXPECT_EQ(loss.not_measured, 2);
  EXPECT_EQ(loss.mean, 1);
  EXPECT_NEAR(loss.estimated_mean, std::sqrt(1.5), 1e-9) << "0 for the first and 50 % for the second layer";
}

/// What a schedule loses on a simulated device, on which the best number of warps grows slowly with the number of rows.
double simulated_loss(const PanelSchedule& schedule, double rows) {
  const double away = std::log2(schedule.warps) - (std::log2(rows) - 6) * 0.6;
  return 0.04 * away * away + 0.05 * std::abs(std::log2(schedule.ufi) - 1);
}

/// A night on that device, with 5 % of noise, and searches that leave out some of the schedules, slow ones more often.
std::vector<Record> simulated_night(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 0.05);
  std::uniform_real_distribution<double> chance(0, 1);
  std::vector<Record> records;
  for (int number = 0; number < 80; ++number) {
    const double rows = std::exp2(6 + 6 * chance(random));
    const WorkItem layer = item(number, 32, std::lround(rows));
    for (int ufi = 1; ufi <= 8; ufi *= 2) {
      for (int warps = 1; warps <= 16; warps *= 2) {
        const PanelSchedule schedule{.ufi = ufi, .warps = warps, .stage = true};
        const double loss = simulated_loss(schedule, rows) + noise(random);
        if (chance(random) > std::min(0.9, 0.2 + loss)) {
          records.emplace_back(measured(layer, print(schedule), 2 * std::exp(loss)));
        }
      }
    }
  }
  return records;
}

/// What layers that were never measured lose on average by the database.
double simulated_loss(const ScheduleDatabase& database) {
  double sum = 0;
  int layers = 0;
  for (double logarithm = 6; logarithm <= 12; logarithm += 0.125, ++layers) {
    const double rows = std::exp2(logarithm);
    const ScheduleChoice choice = choose_schedule(shape_of(item(-1, 32, std::lround(rows))), database);
    sum += simulated_loss(std::get<PanelSchedule>(choice.schedule), rows);
  }
  return sum / layers;
}

/// The same by a database that only knows, for each class, what was the best there.
double simulated_loss_by_class_alone(const MeasuredDevice& device) {
  const ScheduleDatabase database = publish_classes(device);
  double sum = 0;
  int layers = 0;
  for (double logarithm = 6; logarithm <= 12; logarithm += 0.125, ++layers) {
    const double rows = std::exp2(logarithm);
    const LayerShape shape = shape_of(item(-1, 32, std::lround(rows)));
    const auto nearest = std::ranges::min_element(
        database.classes(), {}, [&](const ClassEntry& entry) { return class_distance(shape, entry.layers); });
    const auto best = std::ranges::min_element(nearest->losses, {}, &CandidateLoss::percent) - nearest->losses.begin();
    sum +=
        simulated_loss(std::get<PanelSchedule>(database.candidates()[static_cast<std::size_t>(best)].schedule), rows);
  }
  return sum / layers;
}

TEST(Interpolation, ServesLayersThatWereNeverMeasured) {
  double interpolated = 0;
  double by_class_alone = 0;
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    const MeasuredDevice device = only_device(simulated_night(seed));
    const double loss = simulated_loss(publish(device));
    EXPECT_LT(loss, 0.03) << "seed " << seed;
    EXPECT_GT(leave_one_out(device).at(32).layers, 50) << "seed " << seed;
    interpolated += loss;
    by_class_alone += simulated_loss_by_class_alone(device);
  }
  EXPECT_LT(interpolated, 0.8 * by_class_alone) << interpolated / 4 << " and " << by_class_alone / 4;
}

}  // namespace
}  // namespace esc::tuning
