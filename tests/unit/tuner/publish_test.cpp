// SPDX-License-Identifier: Apache-2.0
#include "tuner/publish/publish.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "generator/schedule/scheduler.h"
#include "generator/support/error.h"
#include "tests/unit/tuner/publish_records.h"
#include "tuner/publish/class_losses.h"
#include "tuner/publish/portfolio.h"
#include "tuner/publish/single_schedule.h"

namespace esc::tuning {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using namespace publish_records;

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
  EXPECT_EQ(database.head().key, item(1).device);
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
  EXPECT_NEAR(*database.classes().at(0).exact_microseconds, 2.0, 1e-12) << "square root of 4 * 1";
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

TEST(Publish, KeepsLayoutsApartAndEpiloguesTogether) {
  std::vector<Record> records;
  add_both(records, item(1), 1.0, 2.0);
  WorkItem transposed = item(1);
  transposed.nest = {.layout = "nk", .contiguous = false};
  add_both(records, transposed, 2.0, 1.0);
  WorkItem finished = transposed;
  finished.nest.digest = "0123456789abcdef";
  add_both(records, finished, 2.1, 1.1);
  const std::vector<MeasuredDevice> devices = measured_devices(records);
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0].head.layout, "kn");
  EXPECT_EQ(devices[1].head.layout, "nk");
  EXPECT_EQ(file_name(devices[0].head), file_name(devices[1].head));
  EXPECT_THAT(texts(publish(devices[0])), ElementsAre(narrow));
  EXPECT_THAT(texts(publish(devices[1])), ElementsAre(wide));
  EXPECT_EQ(publish(devices[1]).classes().at(0).matrices, 2);
  const std::string text = print(std::vector{publish(devices[0]), publish(devices[1])});
  EXPECT_EQ(print(databases_in(text, "file")), text);
}

TEST(Publish, CountsColumnsOfCAndGivesALayerOneEntry) {
  std::vector<Record> records;
  for (const auto& [images, points] : {std::pair(8, 49), std::pair(2, 196)}) {
    WorkItem convolution = item(1, images);
    convolution.nest = {.layout = "n_k_n_n.n_m_n_n", .digest = std::to_string(points), .item_columns = points};
    add_both(records, convolution, 1.0, 2.0);
    WorkItem other = item(2, images);
    other.nest = convolution.nest;
    add_both(records, other, 3.0, 1.0);
  }
  const ScheduleDatabase database = publish(only_device(records));
  ASSERT_EQ(database.classes().size(), 1U);
  EXPECT_EQ(database.classes()[0].layers.bcol, 8 * 49);
  EXPECT_EQ(database.layers().size(), 1U);
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

}  // namespace
}  // namespace esc::tuning
