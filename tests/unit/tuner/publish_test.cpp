#include "tuner/publish/publish.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "generator/schedule/scheduler.h"
#include "generator/support/error.h"
#include "tuner/publish/class_losses.h"
#include "tuner/publish/leave_one_out.h"
#include "tuner/publish/portfolio.h"
#include "tuner/publish/single_schedule.h"

namespace esc::tuning {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const DeviceKey h200{90, 132, 60ULL << 20};
const std::string narrow = print(parse_schedule("panel:ufi=1,warps=4"));
const std::string wide = print(parse_schedule("panel:ufi=2,warps=8"));

/// 64 digits that begin with those of the number.
std::string pattern_of(int number) {
  std::string digits = fmt::format("{:08x}", static_cast<unsigned>(number) * 2654435761U);
  return digits + std::string(64 - digits.size(), '0');
}

WorkItem item(int number, std::int64_t bcol = 32, std::int64_t rows = 512) {
  WorkItem result;
  result.layer = {
      .file = "layer.smtx", .pattern = pattern_of(number), .rows = rows, .columns = 512, .nonzeros = rows * 64};
  result.bcol = bcol;
  result.device = h200;
  return result;
}

CandidateRecord measured(const WorkItem& of, const std::string& candidate, double microseconds) {
  CandidateRecord record;
  record.environment.device_name = "NVIDIA H200";
  record.item = of;
  record.candidate = candidate;
  record.samples = {microseconds};
  return record;
}

CandidateRecord failed(const WorkItem& of, const std::string& candidate, Outcome outcome) {
  CandidateRecord record = measured(of, candidate, 1);
  record.samples.clear();
  record.outcome = outcome;
  return record;
}

/// An item on which both schedules were measured.
void add_both(std::vector<Record>& records, const WorkItem& of, double narrow_us, double wide_us) {
  records.emplace_back(measured(of, narrow, narrow_us));
  records.emplace_back(measured(of, wide, wide_us));
}

MeasuredDevice only_device(const std::vector<Record>& records) {
  const std::vector<MeasuredDevice> devices = measured_devices(records);
  EXPECT_EQ(devices.size(), 1U);
  return devices.at(0);
}

/// The table of bCol 32, where there is nothing else.
LossTable only_table(const std::vector<Record>& records) { return only_device(records).tables.at(32); }

std::vector<std::string> texts(const ScheduleDatabase& database) {
  std::vector<std::string> result;
  for (const CandidateEntry& entry : database.candidates()) {
    result.push_back(print(entry.schedule));
  }
  return result;
}

TEST(Portfolio, TakesTheMostUsefulOnesFirst) {
  const std::string third = print(parse_schedule("panel:ufi=1,warps=2"));
  std::vector<Record> records;
  // `narrow` is the best on average, `third` never better than the other two together.
  add_both(records, item(1), 1.0, 1.5);
  add_both(records, item(2), 1.0, 1.5);
  add_both(records, item(3), 1.2, 1.0);
  for (const int number : {1, 2, 3}) {
    records.emplace_back(measured(item(number), third, 1.3));
  }
  const LossTable table = only_table(records);
  EXPECT_THAT(choose_portfolio(table), ElementsAre(*table.place_of(narrow), *table.place_of(wide)));
  EXPECT_THAT(choose_portfolio(table, 1), ElementsAre(*table.place_of(narrow)));
  EXPECT_THAT(choose_portfolio(LossTable{}), IsEmpty());
}

TEST(Portfolio, TakesTheFirstByTextAmongEquals) {
  std::vector<Record> records;
  add_both(records, item(1), 1.0, 1.0);
  EXPECT_THAT(choose_portfolio(only_table(records)), ElementsAre(0U));
}

TEST(Portfolio, MakesNoPlaceForWhatFailed) {
  std::vector<Record> records{measured(item(1), narrow, 1.0), failed(item(1), wide, Outcome::wrong_result)};
  EXPECT_THAT(texts(publish(only_device(records))), ElementsAre(narrow));
}

TEST(Publish, SaysWhatEachCandidateLosesInEachClass) {
  std::vector<Record> records;
  add_both(records, item(1), 2.0, 1.0);
  add_both(records, item(2), 1.0, 1.5);
  add_both(records, item(3, 32, 65536), 1.0, 4.0);
  const ScheduleDatabase database = publish(only_device(records));
  EXPECT_EQ(database.head().device, "NVIDIA H200");
  EXPECT_EQ(database.head().key, h200);
  EXPECT_THAT(texts(database), ElementsAre(narrow, wide));
  ASSERT_EQ(database.classes().size(), 2U);
  EXPECT_EQ(database.classes()[0].matrices, 2);
  EXPECT_THAT(database.classes()[0].losses, ElementsAre(CandidateLoss{41.4, false}, CandidateLoss{22.5, false}))
      << "square roots of 2 * 1 and of 1 * 1.5";
  EXPECT_THAT(database.classes()[1].losses, ElementsAre(CandidateLoss{0, false}, CandidateLoss{300, false}));
  EXPECT_EQ(print(choose_schedule(shape_of(item(4)), database).schedule), wide);
  EXPECT_EQ(print(choose_schedule(shape_of(item(4, 32, 65536)), database).schedule), narrow);
  ASSERT_EQ(database.defaults().size(), 1U);
  EXPECT_EQ(print(database.defaults()[0].schedule), narrow) << "4 x outweighs the rest";
  EXPECT_EQ(database.defaults()[0].evidence.matrices, 3);
}

TEST(Publish, MarksWhatItEstimates) {
  const std::string third = print(parse_schedule("panel:ufi=1,warps=2"));
  std::vector<Record> records;
  add_both(records, item(1), 1.0, 1.5);
  records.emplace_back(measured(item(1), third, 1.25));
  add_both(records, item(2, 32, 1024), 1.5, 1.6);
  records.emplace_back(measured(item(2, 32, 1024), third, 1.0));
  records.emplace_back(measured(item(3, 32, 2048), narrow, 1.0));
  records.emplace_back(measured(item(3, 32, 2048), wide, 1.5));
  const LossTable table = only_table(records);
  const std::vector<ClassEntry> classes = class_entries(table, {*table.place_of(third)});
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_EQ(classes[0].losses[0], (CandidateLoss{25, false}));
  EXPECT_EQ(classes[2].losses[0], (CandidateLoss{50, true})) << "the upper quartile of 0 and 50 %";
}

TEST(Publish, GivesLayersThatGainAnEntryOfTheirOwn) {
  std::vector<Record> records;
  add_both(records, item(1), 2.0, 1.0);
  add_both(records, item(2), 1.0, 1.5);
  add_both(records, item(3), 1.0, 1.01);
  const ScheduleDatabase database = publish(only_device(records));
  ASSERT_EQ(database.layers().size(), 1U) << "1 % is not worth an entry";
  EXPECT_EQ(database.layers()[0].pattern, pattern_of(2).substr(0, 16));
  EXPECT_EQ(database.layers()[0].bcol, 32);
  EXPECT_EQ(print(database.layers()[0].schedule), narrow);
  EXPECT_NEAR(*database.layers()[0].gain, 1.5, 1e-12);
  EXPECT_EQ(print(choose_schedule(shape_of(item(2)), database).schedule), narrow);
  EXPECT_EQ(print(choose_schedule(shape_of(item(3)), database).schedule), wide);
}

TEST(Publish, ComparesWithTheLibraries) {
  std::vector<Record> records;
  add_both(records, item(1), 2.0, 1.0);
  add_both(records, item(2), 3.0, 1.0);
  records.emplace_back(measured(item(1), "cublas-fp32", 8.0));
  records.emplace_back(measured(item(1), "cusparse", 4.0));
  records.emplace_back(measured(item(2), "cublas-fp32", 1.0));
  records.emplace_back(failed(item(2), "cusparse", Outcome::wrong_result));
  records.emplace_back(measured(item(1), "cublas-tf32", 0.5));
  const ScheduleDatabase database = publish(only_device(records));
  EXPECT_NEAR(*database.classes().at(0).over_exact, 2.0, 1e-12) << "square root of 4 * 1";
  EXPECT_NEAR(*database.classes().at(0).over_tf32, 0.5, 1e-12);
  EXPECT_NEAR(*database.defaults().at(0).evidence.over_exact, 2.0, 1e-12);
}

TEST(Publish, IgnoresColdCachesChainsAndPeersAlone) {
  std::vector<Record> records;
  WorkItem cold = item(1);
  cold.cache = CacheState::cold;
  add_both(records, cold, 1.0, 2.0);
  records.emplace_back(measured(item(2), "cublas-fp32", 1.0));
  CandidateRecord chain = measured(item(3), narrow, 1.0);
  chain.edge = Edge::chain;
  records.emplace_back(chain);
  records.emplace_back(failed(item(4), narrow, Outcome::timed_out));
  EXPECT_THAT(measured_devices(records), IsEmpty());
  EXPECT_THAT(measured_devices({}), IsEmpty());
}

TEST(Publish, TakesNoScheduleThatFailedWhereAnotherOneWorks) {
  std::vector<Record> records;
  add_both(records, item(1), 1.5, 1.0);
  records.emplace_back(measured(item(2), narrow, 1.0));
  records.emplace_back(failed(item(2), wide, Outcome::launch_failed));
  const ScheduleDatabase database = publish_classes(only_device(records));
  EXPECT_EQ(print(choose_schedule(shape_of(item(3)), database).schedule), narrow);
  EXPECT_THAT(database.classes().at(0).losses, ElementsAre(CandidateLoss{22.5, false}, CandidateLoss{100, true}))
      << "4 x where it failed";
}

TEST(Publish, DoesNotTrustAScheduleThatFewWereMeasuredWith) {
  // The lucky one was the best of the one layer on which it was measured, of three.
  const std::string lucky = print(parse_schedule("panel:ufi=1,warps=2"));
  std::vector<Record> records;
  for (const int number : {1, 2, 3}) {
    add_both(records, item(number), 1.1, 1.2);
  }
  records.emplace_back(measured(item(1), lucky, 1.0));
  const ScheduleDatabase database = publish(only_device(records));
  EXPECT_EQ(print(choose_schedule(shape_of(item(4)), database).schedule), narrow);
  EXPECT_EQ(print(database.defaults().at(0).schedule), narrow);
  EXPECT_EQ(print(choose_schedule(shape_of(item(1)), database).schedule), lucky) << "the layer itself gets it";
}

TEST(Publish, TakesWhatThereIsWhereNothingIsWidelyMeasured) {
  const std::string third = print(parse_schedule("panel:ufi=1,warps=2"));
  std::vector<Record> records{measured(item(1), narrow, 1.0), measured(item(2), wide, 1.0),
                              measured(item(3), third, 1.0)};
  const ScheduleDatabase database = publish(only_device(records));
  ASSERT_EQ(database.classes().size(), 1U);
  ASSERT_EQ(database.defaults().size(), 1U);
  EXPECT_EQ(database.defaults()[0].evidence.matrices, 1);
  EXPECT_EQ(database.layers().size(), 2U) << "of the others it is not known what they lose";
  EXPECT_FALSE(database.layers()[0].gain.has_value());
}

TEST(Publish, LetsNeighboursDecideWhereAClassIsSmall) {
  // One matrix by which `wide` is a little faster stands among neighbours in rows for which it is much slower.
  std::vector<Record> records;
  add_both(records, item(1, 32, 512), 1.02, 1.0);
  for (const int number : {2, 3, 4}) {
    add_both(records, item(number, 32, 724), 1.0, 1.5);
    add_both(records, item(number + 10, 32, 362), 1.0, 1.5);
  }
  EXPECT_EQ(print(choose_schedule(shape_of(item(5)), publish_classes(only_device(records))).schedule), narrow);
}

TEST(Publish, DoesNotDependOnTheOrderOfTheRecords) {
  std::vector<Record> records;
  for (int number = 0; number < 12; ++number) {
    add_both(records, item(number, 32, 256 << (number % 3)), 1.0 + 0.1 * (number % 4), 1.2);
  }
  const std::string text = print(publish(only_device(records)));
  std::mt19937 random(3);
  for (int round = 0; round < 5; ++round) {
    std::ranges::shuffle(records, random);
    EXPECT_EQ(print(publish(only_device(records))), text);
  }
  EXPECT_EQ(print(ScheduleDatabase::parse(text, "file")), text);
}

TEST(Publish, KeepsDevicesApart) {
  std::vector<Record> records;
  add_both(records, item(1), 1.0, 2.0);
  WorkItem elsewhere = item(1);
  elsewhere.device = {80, 108, 40ULL << 20};
  add_both(records, elsewhere, 2.0, 1.0);
  const std::vector<MeasuredDevice> devices = measured_devices(records);
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(file_name(devices[0].head), "sm80-108sm-40mib_f32.txt");
  EXPECT_THAT(texts(publish(devices[0])), ElementsAre(wide));
  EXPECT_THAT(texts(publish(devices[1])), ElementsAre(narrow));
}

TEST(Publish, CutsPowerLawsFromTheSingleSchedule) {
  std::vector<Record> records;
  add_both(records, item(1), 1.0, 1.5);
  WorkItem skewed = item(2);
  skewed.layer.row_variation = 4;
  skewed.layer.longest_row = 512;
  add_both(records, skewed, 9.0, 1.0);
  const ScheduleDatabase database = publish(only_device(records));
  EXPECT_EQ(print(database.defaults().at(0).schedule), narrow);
  EXPECT_EQ(database.defaults().at(0).evidence.matrices, 1);
  ASSERT_EQ(database.classes().size(), 2U);
  EXPECT_EQ(print(choose_schedule(shape_of(skewed), database).schedule), wide) << "but not from the classes";
}

TEST(Publish, HasNoSingleScheduleForPowerLawsAlone) {
  std::vector<Record> records;
  WorkItem skewed = item(1);
  skewed.layer.row_variation = 4;
  add_both(records, skewed, 9.0, 1.0);
  EXPECT_FALSE(single_schedule(only_table(records), 32).has_value());
}

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
  ASSERT_EQ(print(choose_schedule(shape_of(item(1)), ScheduleDatabase({}, {})).schedule), wide);
  EXPECT_EQ(alone.layers, 1);
  EXPECT_NEAR(alone.mean, 1.0, 1e-9) << "nothing is left, so it is the family's default";
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
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U}) {
    const MeasuredDevice device = only_device(simulated_night(seed));
    const double loss = simulated_loss(publish(device));
    EXPECT_LT(loss, 0.03) << "seed " << seed;
    EXPECT_GT(leave_one_out(device).at(32).layers, 50) << "seed " << seed;
    interpolated += loss;
    by_class_alone += simulated_loss_by_class_alone(device);
  }
  EXPECT_LT(interpolated, 0.8 * by_class_alone) << interpolated / 8 << " and " << by_class_alone / 8;
}

}  // namespace
}  // namespace esc::tuning
