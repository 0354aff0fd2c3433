#include <gmock/gmock.h>

#include <cmath>

#include "generator/schedule/schedule_database.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/temporary_folder.h"
#include "tests/bench/report_ablation.h"
#include "tests/bench/report_publish.h"
#include "tests/bench/report_sweep.h"

namespace esc::bench {
namespace {

using testing::HasSubstr;

const std::string narrow = print(parse_schedule("panel:ufi=1,warps=4"));
const std::string wide = print(parse_schedule("panel:ufi=2,warps=8"));

/// A pair of a 512 x 512 matrix with a tenth of non-zeros, and the times of the two schedules.
MeasuredPair pair(const std::string& matrix, double narrow_us, double wide_us, std::int64_t rows = 512) {
  MeasuredPair measured;
  measured.result.matrix = matrix;
  measured.result.rows = rows;
  measured.result.columns = 512;
  measured.result.nonzeros = rows * 512 / 10;
  measured.result.bcol = 32;
  measured.candidates[narrow] = {narrow_us, narrow_us};
  measured.candidates[wide] = {wide_us, wide_us};
  return measured;
}

std::map<PairKey, MeasuredPair> pairs(const std::vector<MeasuredPair>& list) {
  std::map<PairKey, MeasuredPair> result;
  for (const MeasuredPair& one : list) {
    result[{one.result.matrix, one.result.bcol}] = one;
  }
  return result;
}

TEST(Publish, TakesTheScheduleThatLosesLeastInItsClass) {
  const std::string text = publish(pairs({pair("a", 2.0, 1.0), pair("b", 1.0, 1.5), pair("c", 1.0, 4.0, 4096)}), "a GPU");
  const ScheduleDatabase database = ScheduleDatabase::parse(text, "published");
  EXPECT_EQ(database.device(), "a GPU");
  ASSERT_EQ(database.entries().size(), 2U);
  EXPECT_EQ(print(database.entries()[0].schedule), wide) << "2 x on one matrix outweighs 1.5 x on the other";
  EXPECT_EQ(database.entries()[0].matrices, 2);
  EXPECT_NEAR(database.entries()[0].loss, std::sqrt(1.5), 1e-3);
  EXPECT_EQ(print(database.entries()[1].schedule), narrow);
}

TEST(Publish, TakesNoScheduleThatFailedOnAMatrixOfTheClass) {
  MeasuredPair failed = pair("b", 1.0, 1.0);
  failed.candidates[wide].plain.reset();
  const std::string text = publish(pairs({pair("a", 2.0, 1.0), failed}), "a GPU");
  EXPECT_EQ(print(ScheduleDatabase::parse(text, "published").entries().front().schedule), narrow);
}

TEST(Publish, SaysWhatAMatrixLosesThatWasLeftOut) {
  // Without itself, each matrix gets what is best for the other two.
  const auto losses = leave_one_out_loss(pairs({pair("a", 1.0, 2.0), pair("b", 1.0, 2.0), pair("c", 2.0, 1.0)}));
  ASSERT_EQ(losses.size(), 1U);
  EXPECT_NEAR(losses.at(32), std::cbrt(1.0 * 1.0 * 2.0), 1e-9);
}

TEST(Database, FindsTheNearestClass) {
  const ScheduleDatabase database = ScheduleDatabase::parse(
      "# one GPU\n5 9 9 3 panel:warps=4 2 1.01\n5 12 9 3 panel:warps=1,panels=4 2 1.0\n7 9 9 3 panel:warps=2 1 1.0\n", "text");
  const auto match = database.nearest({32, 512, 512, 26214});
  ASSERT_TRUE(match.has_value());
  EXPECT_EQ(std::get<PanelSchedule>(match->entry.schedule).warps, 4);
  EXPECT_LT(match->distance, 0.5);
  EXPECT_EQ(std::get<PanelSchedule>(database.nearest({32, 5000, 512, 256000})->entry.schedule).warps, 1);
  EXPECT_EQ(std::get<PanelSchedule>(database.nearest({257, 512, 512, 26214})->entry.schedule).warps, 2);
  EXPECT_FALSE(ScheduleDatabase::parse("# nothing\n", "text").nearest({32, 512, 512, 100}).has_value());
}

TEST(Database, RefusesLinesThatAreNone) {
  for (const char* line : {"5 9 9 3 panel:warps=4 2", "5 9 9 panel:warps=4 2 1.0", "5 9 9 3 panel:warps=4 2 1.0 more", "x"}) {
    try {
      ScheduleDatabase::parse(std::string("# one GPU\n") + line, "file.txt");
      ADD_FAILURE() << line;
    } catch (const UserError& error) {
      EXPECT_THAT(error.what(), HasSubstr("file.txt:2: is not an entry")) << line;
    }
  }
  EXPECT_THROW(ScheduleDatabase::parse("5 9 9 3 panel:warps=5 2 1.0", "file.txt"), UserError);
}

TEST(Ablation, TakesMatricesThatHaveAllSteps) {
  MeasuredPair whole = pair("a", 1.0, 1.0);
  double time = 16;
  for (const AblationStep& step : ablation_steps()) {
    whole.candidates[step.schedule] = {time, std::nullopt};
    time /= 2;
  }
  whole.result.plain = BestTime{.name = wide, .microseconds = 0.5};
  whole.result.programmatic = BestTime{.name = wide, .microseconds = 0.25};
  whole.result.fp32 = BestTime{.name = "a", .microseconds = 1.0};
  const Ablation result = ablation(pairs({whole, pair("without", 1.0, 1.0)}));
  ASSERT_EQ(result.by_bcol.size(), 1U);
  EXPECT_EQ(result.by_bcol.at(32).matrices, 1);
  EXPECT_DOUBLE_EQ(result.by_bcol.at(32).microseconds.front(), 16);
  EXPECT_DOUBLE_EQ(result.by_bcol.at(32).microseconds.back(), 0.25);
  EXPECT_THAT(print(result), HasSubstr("| + programmatic launch | 0.25 | 64.00 | 4.00 |"));
  EXPECT_THAT(to_svg(chart(result)), HasSubstr("+ enumeration"));
}

TEST(Sweep, OrdersByTheShareOfZeros) {
  MeasuredPair dense = pair("dense", 1, 1);
  dense.result.nonzeros = 512 * 256;
  dense.result.cusparse = BestTime{.name = "ALG1", .microseconds = 7.5};
  MeasuredPair sparse = pair("a sparse", 1, 1);
  sparse.result.plain = BestTime{.name = wide, .microseconds = 1.25};
  const LineChart chart = sparsity_sweep(pairs({dense, sparse}), 32);
  EXPECT_EQ(chart.places, (std::vector<std::string>{"50 %", "90 %"}));
  EXPECT_THAT(print(chart), HasSubstr("| 50 % | - | - | - | - | 7.50 |\n| 90 % | 1.25 |"));
  EXPECT_TRUE(sparsity_sweep(pairs({dense}), 64).places.empty());
}

TEST(Journal, IsReadWithItsCandidates) {
  const TemporaryFolder folder;
  MeasuredPair measured = pair("a", 1, 1);
  write_file_whole(folder.path() / "a.jsonl",
                   "{\"record\":\"device\"}\n"
                   "{\"record\":\"candidate\",\"matrix\":\"a\",\"bcol\":32,\"schedule\":\"s\",\"plain_us\":2.5,\"programmatic_us\":null}\n" +
                       pair_line(measured.result) + "\n");
  const auto read = read_measurements({(folder.path() / "a.jsonl").string()});
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read.at({"a", 32}).candidates.at("s").plain, 2.5);
  EXPECT_FALSE(read.at({"a", 32}).candidates.at("s").programmatic.has_value());
  write_file_whole(folder.path() / "b.jsonl", "{\"record\":\"cand");
  EXPECT_THROW(read_measurements({(folder.path() / "b.jsonl").string()}), UserError);
}

}  // namespace
}  // namespace esc::bench
