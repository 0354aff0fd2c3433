// SPDX-License-Identifier: Apache-2.0
// What a choice of schedules loses on what was measured: which times count, and how groups are summed up.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "generator/schedule/measured_products.h"
#include "generator/support/error.h"
#include "generator/support/temporary_folder.h"
#include "tests/unit/tuner/publish_records.h"
#include "tuner/records/bench_records.h"
#include "tuner/records/record_text.h"
#include "tuner/regret/model_chooser.h"
#include "tuner/regret/regret_text.h"
#include "tuner/space/item_cost.h"

namespace esc::tuning {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using publish_records::item;
using publish_records::narrow;
using publish_records::pattern_of;
using publish_records::wide;

MeasuredItems items_of(const std::vector<Record>& records) { return measured_items({{"night", records, 0}}); }

CandidateRecord time_of(const WorkItem& of, const std::string& schedule, double microseconds,
                        Stage stage = Stage::search) {
  return measured(of, schedule, std::vector{microseconds}, stage);
}

/// Takes one schedule wherever it was measured, and another one freely.
class Fixed : public Chooser {
 public:
  Fixed(const std::string& free, const std::string& measured)
      : free_(parse_schedule(free)), measured_(parse_schedule(measured)) {}
  std::string name() const override { return "fixed"; }
  Chosen choose(const MeasuredItem& item) const override { return {free_, item.place_of(measured_)}; }

 private:
  Schedule free_;
  Schedule measured_;
};

TEST(MeasuredItems, CountSchedulesThatAreGoneAndLeaveThemOut) {
  const MeasuredItems found = items_of(
      {time_of(item(1), narrow, 5), time_of(item(1), "stream:wheels=4", 2), time_of(item(2), "later:warps=3", 3),
       unmeasured(item(3), wide, Outcome::wrong_result), time_of(item(1), "cublas-fp32", 1)});
  ASSERT_THAT(found.items, SizeIs(1));
  EXPECT_EQ(found.items[0].schedules.size(), 1U);
  EXPECT_EQ(found.records, 3);
  EXPECT_EQ(found.gone, 2);
  EXPECT_EQ(found.emptied, 1) << "the third one never had a right schedule";
}

/// Their texts are those of f32, too.
TEST(MeasuredItems, CountStreamsOf16BitsAsGone) {
  const std::string stream = print(parse_schedule("stream:tile=64x256x8,warps=8"));
  WorkItem half = item(1);
  half.dtype = "f16";
  WorkItem other_half = item(2);
  other_half.dtype = "bf16";
  const MeasuredItems found =
      items_of({time_of(half, narrow, 5), time_of(half, stream, 2), time_of(half, "stream:tile=64x256x1,warps=8", 1),
                time_of(other_half, stream, 2), time_of(item(1), stream, 3)});
  EXPECT_EQ(found.records, 5);
  EXPECT_EQ(found.gone, 3);
  EXPECT_EQ(found.emptied, 1) << "the one of bf16";
  ASSERT_THAT(found.items, SizeIs(2));
  for (const MeasuredItem& one : found.items) {
    ASSERT_THAT(one.schedules, SizeIs(1)) << one.work.dtype;
    EXPECT_EQ(print(one.schedules[0].schedule), one.work.dtype == "f16" ? narrow : stream);
  }
}

TEST(MeasuredItems, LeaveOutSchedulesThatAreNotLegalForTheColumns) {
  const std::string four_columns = print(parse_schedule("panel:ufi=1,columns=4,vector=4,groups=32,warps=4"));
  const MeasuredItems found = items_of({time_of(item(1, 4), narrow, 5), time_of(item(1, 4), four_columns, 5)});
  EXPECT_EQ(found.gone, 1) << "tiles of 32 columns where there are 4";
  ASSERT_THAT(found.items, SizeIs(1));
  EXPECT_EQ(print(found.items[0].schedules[0].schedule), four_columns);
}

TEST(MeasuredItems, TakeTheFastestFinalistForTheBest) {
  const std::vector<Record> records{time_of(item(1), narrow, 4), time_of(item(1), wide, 3),
                                    time_of(item(1), narrow, 5, Stage::final), time_of(item(1), wide, 6, Stage::final),
                                    time_of(item(1), numbered_text(4), 4.5)};
  const MeasuredItems found = items_of(records);
  ASSERT_THAT(found.items, SizeIs(1));
  const MeasuredItem& one = found.items[0];
  EXPECT_EQ(print(one.schedules[one.best].schedule), narrow);
  EXPECT_DOUBLE_EQ(one.ratio(*one.place_of(parse_schedule(wide))), 1.2);
  EXPECT_DOUBLE_EQ(one.ratio(*one.place_of(numbered_schedule(4))), 1) << "a search's time below that of the best";
}

TEST(MeasuredItems, OfSeveralJournalsAreNotComparedWithEachOther) {
  const MeasuredItems found =
      measured_items({{"first", {time_of(item(1), narrow, 5)}, 0}, {"second", {time_of(item(1), wide, 2)}, 3}});
  ASSERT_THAT(found.items, SizeIs(2));
  EXPECT_EQ(found.items[0].journal, "first");
  EXPECT_EQ(found.of_unknown_matrices, 3);
}

TEST(Regret, ChoosesAmongWhatWasMeasuredAndSaysHowOftenTheChoiceWasNot) {
  const MeasuredItems found =
      items_of({time_of(item(1), narrow, 5), time_of(item(1), wide, 4), time_of(item(2), narrow, 8),
                time_of(item(2), wide, 8), time_of(item(3), narrow, 1)});
  const std::vector<RegretGroup> groups = group(judge(found.items, Fixed(wide, narrow)), {Dimension::device});
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_THAT(groups[0].key, ElementsAre("sm90-132sm-60mib"));
  EXPECT_EQ(groups[0].items, 3);
  EXPECT_EQ(groups[0].judged, 3);
  EXPECT_EQ(groups[0].not_measured, 3) << "what it takes of the measured is another one than what it takes freely";
  EXPECT_DOUBLE_EQ(*groups[0].mean, std::cbrt(1.25));
  EXPECT_DOUBLE_EQ(*groups[0].worst, 1.25);
  EXPECT_EQ(groups[0].measured_mean, std::nullopt);
  EXPECT_THAT(groups[0].worst_item, AllOf(HasSubstr("512 x 512"), HasSubstr(narrow + " instead of " + wide)));
  const std::vector<RegretGroup> others = group(judge(found.items, Fixed(wide, wide)), {Dimension::device});
  EXPECT_EQ(others[0].judged, 2);
  EXPECT_EQ(others[0].not_measured, 1);
  EXPECT_DOUBLE_EQ(*others[0].worst, 1);
  EXPECT_DOUBLE_EQ(*others[0].measured_mean, 1);
}

TEST(Regret, TellsOfGroupsWithoutRecords) {
  WorkItem half = item(1, 64);
  half.dtype = "f16";
  const MeasuredItems found = items_of({time_of(item(1), narrow, 5), time_of(half, narrow, 5)});
  const std::vector<RegretGroup> groups =
      group(judge(found.items, Fixed(narrow, narrow)), {Dimension::type, Dimension::layout});
  std::vector<std::string> with_data;
  for (const RegretGroup& one : groups) {
    if (one.judged > 0) {
      with_data.push_back(one.key[0] + " " + one.key[1]);
    } else {
      EXPECT_FALSE(is_met(one, {.mean = 9})) << one.key[0];
      EXPECT_EQ(one.mean, std::nullopt);
    }
  }
  EXPECT_THAT(groups, SizeIs(10)) << "five types in two layouts";
  EXPECT_THAT(with_data, ElementsAre("f16 kn", "f32 kn"));
}

TEST(Regret, OrdersNumbersAsNumbers) {
  const MeasuredItems found = items_of(
      {time_of(item(1, 128), narrow, 5), time_of(item(1, 64), narrow, 5), time_of(item(2, 128, 65536), narrow, 5)});
  const std::vector<Judgement> judgements = judge(found.items, Fixed(narrow, narrow));
  const std::vector<RegretGroup> by_columns = group(judgements, {Dimension::columns, Dimension::family});
  EXPECT_THAT(by_columns.front().key, ElementsAre("64", "panel"));
  const std::vector<RegretGroup> by_size = group(judgements, {Dimension::size, Dimension::family});
  ASSERT_THAT(by_size, SizeIs(2));
  EXPECT_THAT(by_size[0].key, ElementsAre("2^18", "panel"));
  EXPECT_THAT(by_size[1].key, ElementsAre("2^26", "panel")) << "2^25 elements";
}

TEST(Regret, IsHeldAgainstLimits) {
  const RegretGroup one{.key = {}, .items = 3, .judged = 2, .mean = 1.04, .percentile_90 = 1.1, .worst = 1.2};
  EXPECT_TRUE(is_met(one, {.mean = 1.04, .worst = 1.2}));
  EXPECT_FALSE(is_met(one, {.mean = 1.03}));
  EXPECT_FALSE(is_met(one, {.worst = 1.19}));
}

TEST(Regret, IsPrintedAndGivenAsJson) {
  const MeasuredItems found = items_of({time_of(item(1), narrow, 5), time_of(item(1), wide, 4)});
  const std::vector<Judgement> judgements = judge(found.items, Fixed(wide, narrow));
  const RegretTable table{{Dimension::type, Dimension::layout},
                          {{"fixed", group(judgements, {Dimension::type, Dimension::layout})}}};
  const std::string text = print(found, {table});
  EXPECT_THAT(text, AllOf(HasSubstr("25.0"), HasSubstr("no data"), HasSubstr("by type, layout")));
  const nlohmann::json json = nlohmann::json::parse(to_json(found, {table}));
  int with_data = 0;
  for (const nlohmann::json& one : json.at("tables").at(0).at("groups")) {
    with_data += one.at("geometric_mean").is_null() ? 0 : 1;
    EXPECT_EQ(one.at("geometric_mean").is_null(), one.at("judged") == 0);
  }
  EXPECT_EQ(with_data, 1);
  EXPECT_THAT(items_csv({{"fixed", judgements}}), AllOf(HasSubstr("1.250"), HasSubstr("fixed,night,layer.smtx,f32")));
}

TEST(ModelChooser, TakesWhatIsPredictedToBeFastest) {
  const MeasuredItems found = items_of({time_of(item(1), narrow, 5), time_of(item(1), wide, 4)});
  const MeasuredItem& one = found.items.at(0);
  const Chosen chosen = model_chooser()->choose(one);
  const auto predicted = [&](const Schedule& schedule) { return predicted_cost(schedule, one.work).microseconds; };
  ASSERT_TRUE(chosen.measured);
  for (const MeasuredSchedule& other : one.schedules) {
    EXPECT_LE(predicted(one.schedules[*chosen.measured].schedule), predicted(other.schedule));
    EXPECT_LE(predicted(chosen.free), predicted(other.schedule));
  }
}

TEST(CorrectedChooser, LearnsFromOtherLayersAlone) {
  // On all layers but one the schedule that the model takes is twice as slow as is predicted.
  const MeasuredItems both = items_of({time_of(item(1), narrow, 5), time_of(item(1), wide, 5)});
  const std::size_t by_model = *model_chooser()->choose(both.items.at(0)).measured;
  std::vector<Record> records;
  for (int number = 1; number <= 8; ++number) {
    const bool is_other = number == 8;
    for (std::size_t place = 0; place < 2; ++place) {
      const bool is_slow = (place == by_model) != is_other;
      records.emplace_back(time_of(item(number), print(both.items[0].schedules[place].schedule), is_slow ? 10 : 2));
    }
  }
  const MeasuredItems found = items_of(records);
  const auto chooser = corrected_chooser(found.items);
  int learnt = 0;
  for (const MeasuredItem& one : found.items) {
    learnt += *chooser->choose(one).measured == by_model ? 0 : 1;
  }
  EXPECT_EQ(learnt, 8) << "the one that is otherwise does not know itself";
}

TEST(LeftOut, KnowsNothingOfALayerNorOfItsClass) {
  const LayerShape shape = shape_of(item(1));
  LayerShape other = shape;
  other.rows = 4096;
  const auto of_class = [](const LayerShape& of) {
    return ClassEntry{.layers = class_of(of), .matrices = 1, .losses = {{.percent = 0}}};
  };
  const auto of_layer = [](const std::string& pattern, long long bcol) {
    return LayerEntry{.bcol = bcol, .pattern = pattern, .schedule = parse_schedule(narrow)};
  };
  const ScheduleDatabase all =
      ScheduleDatabase({}, {.candidates = {{32, 0, parse_schedule(narrow)}},
                            .classes = {of_class(shape), of_class(other)},
                            .layers = {of_layer(pattern_of(1).substr(0, 16), 32), of_layer(pattern_of(1), 64),
                                       of_layer(pattern_of(2).substr(0, 16), 32)}})
          .as_shipped();
  const ScheduleDatabase others = without_layer(all, shape);
  ASSERT_THAT(others.classes(), SizeIs(1));
  EXPECT_EQ(others.classes()[0].layers, class_of(other));
  ASSERT_THAT(others.layers(), SizeIs(1));
  EXPECT_TRUE(pattern_of(2).starts_with(others.layers()[0].pattern));
  EXPECT_EQ(others.candidates(), all.candidates());
  EXPECT_TRUE(others.is_shipped());
}

TEST(LeftOut, AutoKnowsALayerThatItChoosesForOtherwise) {
  const DeviceMeasurements measured = shipped_measurements(shipped_database().head().key);
  ASSERT_GT(measured.products.size(), 100U);
  int other_choices = 0;
  for (std::size_t number = 0; number < 50; ++number) {
    MeasuredItem known;
    known.work.device = measured.key;
    known.shape = measured.products[number * measured.products.size() / 50].shape;
    EXPECT_EQ(auto_chooser()->choose(known).measured, std::nullopt);
    other_choices += auto_chooser()->choose(known).free == left_out_chooser()->choose(known).free ? 0 : 1;
  }
  EXPECT_GT(other_choices, 0);
}

constexpr const char* bench_head =
    R"({"architecture":90,"cold":false,"device":"NVIDIA H200","dtype":"tf32","esc":"0.1.0","l2_bytes":62914560,)"
    R"("multiprocessors":132,"nvrtc":"13.0","record":"device"})"
    "\n";
constexpr const char* bench_times =
    R"({"record":"candidate","matrix":"a.npy","bcol":64,"schedule":"gather:warps=14,sets=6","plain_us":7.5})"
    "\n"
    R"({"record":"candidate","matrix":"a.npy","bcol":64,"schedule":"gather:warps=12,sets=6","plain_us":null})"
    "\n"
    R"({"record":"peer","matrix":"a.npy","bcol":64,"peer":"cublas-fp32","us":9.5})"
    "\n"
    R"({"record":"candidate","matrix":"b.npy","bcol":64,"schedule":"gather:warps=14,sets=6","plain_us":8.5})"
    "\n"
    R"({"record":"pair","matrix":"a.npy","bcol":64,"rows":512,"columns":256,"nonzeros":4096})"
    "\n";

TEST(BenchRecords, AreThoseOfSchedulesAndLibraries) {
  const std::string text = std::string(bench_head) + bench_times;
  ASSERT_TRUE(is_bench_journal(text));
  EXPECT_FALSE(is_bench_journal(journal_header()));
  const BenchRecords found = bench_records(text, "bench.jsonl");
  EXPECT_EQ(found.of_unknown_matrices, 1) << "the run ended before that of b.npy was written";
  ASSERT_THAT(found.records, SizeIs(2));
  const auto& schedule = std::get<CandidateRecord>(found.records[0]);
  EXPECT_EQ(schedule.candidate, "gather:warps=14,sets=6");
  EXPECT_EQ(print(schedule.item.device), "sm90-132sm-60mib");
  EXPECT_EQ(schedule.item.dtype, "tf32");
  EXPECT_EQ(schedule.item.bcol, 64);
  EXPECT_EQ(schedule.item.layer.columns, 256);
  EXPECT_EQ(schedule.item.layer.nonzeros, 4096);
  EXPECT_THAT(schedule.samples, ElementsAre(7.5));
  EXPECT_TRUE(std::get<CandidateRecord>(found.records[1]).is_peer());
}

TEST(BenchRecords, RefuseLinesThatAreNone) {
  for (const std::string line : {"{\"record\":\"pear\"}", "{\"record\":\"candidate\"}", "nonsense", "[]"}) {
    try {
      bench_records(std::string(bench_head) + line + "\n", "bench.jsonl");
      ADD_FAILURE() << line;
    } catch (const UserError& problem) {
      EXPECT_THAT(problem.what(), HasSubstr("bench.jsonl:2: is no record of esc-bench")) << line;
    }
  }
}

TEST(Journals, AreReadFromFilesAndFolders) {
  const TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder.path() / name) << text;
  };
  write("b.jsonl", journal_header() + "\n" + print(Record(time_of(item(1), narrow, 5))) + "\n");
  write("a.jsonl", std::string(bench_head) + bench_times);
  write("notes.txt", "no journal");
  const std::vector<JournalRecords> journals = read_journals({folder.path().string()});
  ASSERT_THAT(journals, SizeIs(2));
  EXPECT_EQ(journals[0].name, "a");
  EXPECT_EQ(journals[0].of_unknown_matrices, 1);
  EXPECT_EQ(journals[1].name, "b");
  EXPECT_THAT(journals[1].records, SizeIs(1));
  EXPECT_THROW(read_journals({(folder.path() / "none.jsonl").string()}), UserError);
  write("c.jsonl", journal_header() + "\nnonsense\n");
  EXPECT_THROW(read_journals({(folder.path() / "c.jsonl").string()}), UserError);
  write("d.jsonl.xz", "not packed");
  EXPECT_THROW(read_journals({(folder.path() / "d.jsonl.xz").string()}), UserError);
}

}  // namespace
}  // namespace esc::tuning
