// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "generator/schedule/schedule_list.h"
#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/meaningful_lines.h"
#include "generator/support/means.h"
#include "tests/bench/esc_bench_journal.h"
#include "tests/bench/esc_bench_result.h"
#include "tests/bench/esc_bench_summary.h"
#include "tests/bench/esc_bench_table.h"

namespace esc::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

constexpr const char* device = R"({"record":"device","device":"one"})";

/// 80 % zeros; ours takes 2 us, or 1 us in a chain, the peers 4, 3 and 6.
PairResult example() {
  return {
      .matrix = "folder/one.smtx",
      .rows = 100,
      .columns = 10,
      .nonzeros = 200,
      .bcol = 32,
      .right = 3,
      .illegal = 1,
      .wrong = 0,
      .failed = 0,
      .plain = BestTime{.name = "panel:a", .microseconds = 2, .spread = 0.01, .error = 1e-7, .cold = 5.0, .floor = 1.6},
      .programmatic = BestTime{.name = "panel:b", .microseconds = 1, .spread = 0.02, .error = 2e-7},
      .peers = {{"cublas-fp32", {true, {.name = "heuristic 3", .microseconds = 4}}},
                {"cublas-tf32", {false, {.name = "heuristic 0", .microseconds = 3}}},
                {"cusparse", {true, {.name = "SpMM ALG2", .microseconds = 6}}}}};
}

/// The same beside two more libraries, an exact one of 3.5 us, 7 with nothing in L2, and one of 2.5 us.
PairResult example_of_five() {
  PairResult pair = example();
  pair.peers["sputnik"] = {true, {.name = "swizzled", .microseconds = 3.5, .error = 1e-7, .cold = 7.0}};
  pair.peers["rounding"] = {false, {.name = "default", .microseconds = 2.5}};
  return pair;
}

const std::set<std::string> three_peers{"cublas-fp32", "cublas-tf32", "cusparse"};

TEST(Space, LeavesCommentsEmptyLinesAndRepetitionsOut) {
  const std::string text = "# head\n\n  panel:ufi=2,warps=4 # why\r\n4-7-1-32\npanel:warps=4,ufi=2\n4-7-1-32";
  std::vector<std::string> texts;
  for (const Schedule& schedule : parse_schedules(text, "space.txt")) {
    texts.push_back(print(schedule));
  }
  EXPECT_THAT(texts, ElementsAre(print(parse_schedule("panel:ufi=2,warps=4")), print(parse_schedule("4-7-1-32"))));
}

TEST(Space, NamesTheLineOfAnError) {
  EXPECT_THAT([] { parse_schedules("4-7-1-32\n\nother:x=1\n", "space.txt"); },
              ThrowsMessage<UserError>(HasSubstr("space.txt:3: other:x=1")));
}

TEST(Space, KnowsTheNumbersOfLines) {
  EXPECT_THAT(meaningful_lines("a b \n#c\n\td"), ElementsAre(TextLine{1, "a b"}, TextLine{3, "d"}));
  EXPECT_THAT(meaningful_lines(""), IsEmpty());
}

TEST(Result, SurvivesTheJournal) {
  EXPECT_EQ(parse_pair(pair_line(example())), example());
  PairResult bare{.matrix = "\xff", .rows = 1, .columns = 1, .nonzeros = 1, .bcol = 1};
  bare.wrong = 2;
  std::optional<PairResult> back = parse_pair(pair_line(bare));
  ASSERT_TRUE(back);
  EXPECT_THAT(pair_line(bare), Not(HasSubstr("\n")));
  back->matrix = bare.matrix;  // a name that is not UTF-8 is not kept
  EXPECT_EQ(*back, bare);
}

TEST(Result, KeepsPeersOfAnyName) {
  const std::string line = pair_line(example_of_five());
  EXPECT_EQ(parse_pair(line), example_of_five());
  EXPECT_THAT(line, HasSubstr(R"("peers":{"rounding":{)"));
  EXPECT_THAT(line, HasSubstr(R"("cublas-tf32":{)"));
  PairResult half{.matrix = "a", .rows = 1, .columns = 1, .nonzeros = 1, .bcol = 1};
  half.peers["cublas-f16"] = {true, {.name = "heuristic 0", .microseconds = 2}};
  EXPECT_EQ(parse_pair(pair_line(half)), half);
}

TEST(Result, ReadsLinesFromBeforeThereWereFurtherPeers) {
  const std::string line =
      R"({"bcol":32,"columns":10,"cublas-fp32":{"cold_us":5.5,"error":1e-07,"floor_us":null,"name":"heuristic 3","spread":0.01,"us":4.0},)"
      R"("cublas-tf32":null,"cusparse":{"cold_us":null,"error":2e-07,"floor_us":null,"name":"SpMM ALG2","spread":0.02,"us":6.0},)"
      R"("failed":0,"illegal":1,"matrix":"folder/one.smtx","nonzeros":200,"plain":null,"programmatic":null,"record":"pair",)"
      R"("right":3,"rows":100,"wrong":0})";
  PairResult expected = example();
  expected.plain.reset();
  expected.programmatic.reset();
  expected.peers = {
      {"cublas-fp32", {true, {.name = "heuristic 3", .microseconds = 4, .spread = 0.01, .error = 1e-7, .cold = 5.5}}},
      {"cusparse", {true, {.name = "SpMM ALG2", .microseconds = 6, .spread = 0.02, .error = 2e-7}}}};
  EXPECT_EQ(parse_pair(line), expected);
  EXPECT_EQ(pair_line(expected), line) << "a run without further peers is written as it always was";
}

TEST(Result, RefusesAFurtherPeerThatLacksAField) {
  for (const char* peers : {R"({"sputnik":null})", R"({"sputnik":{"exact":true}})"}) {
    std::string line = pair_line(example());
    line.insert(line.find(R"("plain")"), fmt::format(R"("peers":{},)", peers));
    EXPECT_THROW(parse_pair(line), nlohmann::json::exception) << line;
  }
}

TEST(Result, KnowsOtherRecordsApart) {
  EXPECT_EQ(parse_pair(device), std::nullopt);
  EXPECT_EQ(parse_pair("{\"record\":\"pai"), std::nullopt);
}

TEST(Result, ComparesWithTheFastestPeer) {
  PairResult pair = example();
  EXPECT_EQ(best_exact(pair), 4);
  EXPECT_EQ(best_of_all(pair), 3);
  pair.peers.erase("cublas-fp32");
  EXPECT_EQ(best_exact(pair), 6);
  pair.peers.erase("cusparse");
  EXPECT_EQ(best_exact(pair), std::nullopt);
  EXPECT_EQ(best_of_all(pair), 3);
}

TEST(Result, CountsEveryExactPeer) {
  EXPECT_EQ(best_exact(example_of_five()), 3.5);
  EXPECT_EQ(best_exact_cold(example_of_five()), 7);
  EXPECT_EQ(best_exact_cold(example()), std::nullopt);
  EXPECT_EQ(best_of_all(example_of_five()), 2.5);
  EXPECT_EQ(time_of(example_of_five(), "sputnik"), 3.5);
  EXPECT_EQ(time_of(example_of_five(), "none"), std::nullopt);
  EXPECT_EQ(cold_time_of(example_of_five(), "sputnik"), 7);
}

TEST(Summary, TakesGeometricMeans) {
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}).value(), 4);
  EXPECT_DOUBLE_EQ(geometric_mean({3}).value(), 3);
  EXPECT_EQ(geometric_mean({}), std::nullopt);
}

TEST(Summary, RoundsToTheNearestClass) {
  EXPECT_EQ(sparsity_class(0.4996), 50);
  EXPECT_EQ(sparsity_class(0.56), 60);
  EXPECT_EQ(sparsity_class(0.74), 70);
  EXPECT_EQ(sparsity_class(0.76), 80);
  EXPECT_EQ(sparsity_class(0.93), 95);
  EXPECT_EQ(sparsity_class(0.97), 98);
  EXPECT_EQ(sparsity_class(0.0), 50);
  EXPECT_EQ(sparsity_class(1.0), 98);
}

TEST(Summary, GroupsByColumnsAndClass) {
  PairResult sparser = example();
  sparser.nonzeros = 20;
  PairResult wider = example();
  wider.bcol = 64;
  const std::vector<GroupSummary> groups = summarise({wider, example(), sparser});
  ASSERT_THAT(groups, SizeIs(5));
  EXPECT_EQ(groups[0].bcol, 32);
  EXPECT_EQ(groups[0].sparsity, 80);
  EXPECT_EQ(groups[1].sparsity, 98);
  EXPECT_EQ(groups[2].sparsity, std::nullopt);
  EXPECT_EQ(groups[2].pairs, 2U);
  EXPECT_EQ(groups[3].bcol, 64);
  EXPECT_EQ(groups[4].pairs, 1U);
}

TEST(Summary, ComparesOursWithThePeers) {
  PairResult slower = example();
  slower.plain->microseconds = 3.5;  // after TF32, before the exact ones
  slower.plain->cold.reset();
  slower.plain->floor.reset();
  slower.programmatic.reset();
  const GroupSummary all = summarise({example(), slower}).back();
  EXPECT_EQ(all.plain.measured, 2U);
  EXPECT_DOUBLE_EQ(*all.plain.microseconds, std::sqrt(7.0));
  EXPECT_DOUBLE_EQ(*all.plain.over_exact, std::sqrt(4 / 2.0 * 4 / 3.5));
  EXPECT_DOUBLE_EQ(*all.plain.over_tf32, std::sqrt(3 / 2.0 * 3 / 3.5));
  EXPECT_DOUBLE_EQ(*all.plain.fastest_exact, 1.0);
  EXPECT_DOUBLE_EQ(*all.plain.fastest_all, 0.5);
  EXPECT_DOUBLE_EQ(*all.plain.over_floor, 1.25);
  EXPECT_DOUBLE_EQ(*all.plain.cold, 5.0);
  EXPECT_EQ(all.plain.cold_over_exact, std::nullopt);
  EXPECT_DOUBLE_EQ(all.peers.at("cublas-fp32"), 4.0);
  // A pair without a time of ours is lost, not left out.
  EXPECT_EQ(all.programmatic.measured, 1U);
  EXPECT_DOUBLE_EQ(*all.programmatic.microseconds, 1.0);
  EXPECT_DOUBLE_EQ(*all.programmatic.fastest_exact, 0.5);
}

TEST(Summary, ComparesOursWithFurtherPeers) {
  PairResult without = example();
  without.programmatic->microseconds = 3;
  const GroupSummary all = summarise({example_of_five(), without}).back();
  EXPECT_DOUBLE_EQ(*all.plain.over_exact, std::sqrt(3.5 / 2.0 * 4 / 2.0));
  EXPECT_DOUBLE_EQ(*all.plain.over_tf32, 1.5);
  EXPECT_DOUBLE_EQ(*all.plain.cold_over_exact, 7 / 5.0);
  EXPECT_DOUBLE_EQ(*all.programmatic.fastest_all, 0.5) << "3 us are not less than those of TF32";
  EXPECT_DOUBLE_EQ(all.peers.at("sputnik"), 3.5) << "of the pairs that have it";
  EXPECT_THAT(all.peers, SizeIs(5));
}

TEST(Summary, SaysNothingOfWhatWasNotMeasured) {
  PairResult alone = example();
  alone.programmatic.reset();
  alone.peers.clear();
  const GroupSummary all = summarise({alone}).back();
  EXPECT_EQ(all.plain.fastest_exact, std::nullopt);
  EXPECT_EQ(all.plain.over_tf32, std::nullopt);
  EXPECT_EQ(all.programmatic.fastest_exact, std::nullopt);
  EXPECT_THAT(summarise({}), IsEmpty());
}

TEST(Table, HasOneCellPerColumn) {
  const auto cells = [](const std::string& line) { return std::ranges::count(line.substr(0, line.find('\n')), '|'); };
  for (const bool cold : {false, true}) {
    const TableColumns columns{three_peers, cold};
    EXPECT_EQ(cells(pair_table_head(columns)), cells(pair_table_row(example(), "one", columns)));
    const std::string summary = summary_table(summarise({example()}), columns);
    const std::string last = summary.substr(summary.rfind('\n', summary.size() - 2) + 1);
    EXPECT_EQ(cells(summary), cells(last));
    EXPECT_THAT(last, HasSubstr("| all | pdl | 1 of 1 | 1.00 | 4.00 | 3.00 | 6.00 | 4.00 | 3.00 | 100 | 100 | - "));
  }
  EXPECT_EQ(pair_table_row(example(), "one", {three_peers, false}),
            "| one | 100x10 | 80.0 | 32 | 2.00 | 1.00 | 4.00 | 3.00 | 6.00 | 2.00 | 1.50 | 1.25 | 4.00 | 3.00 | - | "
            "2.0e-07 | 3, 0, 0, 1 | panel:a | panel:b |\n");
}

TEST(Table, HasAColumnForEachPeer) {
  const TableColumns columns{{"cublas-fp32", "cublas-tf32", "cusparse", "dgsparse", "rounding", "sputnik"}, true};
  EXPECT_THAT(pair_table_head(columns),
              HasSubstr("| FP32 us | TF32 us | cuSPARSE us | dgsparse us | rounding us | sputnik us |"));
  EXPECT_THAT(pair_table_head(columns), HasSubstr("| cold cuSPARSE | cold dgsparse | cold rounding | cold sputnik |"));
  const std::string row = pair_table_row(example_of_five(), "one", columns);
  EXPECT_THAT(row, HasSubstr("| 4.00 | 3.00 | 6.00 | - | 2.50 | 3.50 | 1.75 |"));
  EXPECT_THAT(row, HasSubstr("| 5.00 | - | - | - | - | - | - | 7.00 |"));
  const std::string summary = summary_table(summarise({example_of_five()}), columns);
  EXPECT_THAT(summary, HasSubstr("| cuSPARSE us | dgsparse us | rounding us | sputnik us | over exact |"));
  EXPECT_THAT(summary, HasSubstr("| all | plain | 1 of 1 | 2.00 | 4.00 | 3.00 | 6.00 | - | 2.50 | 3.50 | 1.75 |"));
}

TEST(Table, LeavesTheCommonFolderOut) {
  EXPECT_EQ(common_folder({"a/b/one", "a/b/two"}), "a/b/");
  EXPECT_EQ(common_folder({"a/bc/one", "a/bd/one"}), "a/");
  EXPECT_EQ(common_folder({"a/b/one"}), "a/b/");
  EXPECT_EQ(common_folder({"a/b", "c"}), "");
  EXPECT_EQ(common_folder({}), "");
}

class JournalFile : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder());
    std::filesystem::create_directories(folder());
  }
  void TearDown() override { std::filesystem::remove_all(folder()); }

  static std::filesystem::path folder() {
    return std::filesystem::path(testing::TempDir()) /
           (std::string("esc_journal_") + testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  static std::filesystem::path file() { return folder() / "times.jsonl"; }
  static void append(const std::string& text) { std::ofstream(file(), std::ios::app) << text; }
};

TEST_F(JournalFile, IsFlushedLineByLine) {
  Journal journal = Journal::create(file(), device);
  journal.write("{}");
  EXPECT_EQ(read_file(file()), std::string(device) + "\n{}\n");
}

TEST_F(JournalFile, IsNotOverwritten) {
  Journal::create(file(), device);
  EXPECT_THAT([] { Journal::create(file(), device); }, ThrowsMessage<UserError>(HasSubstr("--resume")));
}

TEST_F(JournalFile, GoesOnBehindTheLastWholeLine) {
  const std::string complete = pair_line(example());
  Journal::create(file(), device).write(R"({"record":"candidate"})");
  append(complete + "\n" + complete.substr(0, complete.size() / 2));
  Journal journal = Journal::resume(file(), device);
  EXPECT_THAT(journal.completed(), ElementsAre(example()));
  journal.write("{}");
  EXPECT_EQ(read_file(file()), std::string(device) + "\n{\"record\":\"candidate\"}\n" + complete + "\n{}\n");
}

TEST_F(JournalFile, BeginsWhereNothingIsThere) {
  Journal::resume(file(), device);
  EXPECT_EQ(read_file(file()), std::string(device) + "\n");
  std::ofstream(file(), std::ios::trunc) << "{\"rec";
  EXPECT_THAT(Journal::resume(file(), device).completed(), IsEmpty());
  EXPECT_EQ(read_file(file()), std::string(device) + "\n");
}

TEST_F(JournalFile, RefusesOtherSettings) {
  Journal::create(file(), device);
  EXPECT_THAT([] { Journal::resume(file(), R"({"record":"device","device":"two"})"); },
              ThrowsMessage<UserError>(HasSubstr("another device")));
}

TEST_F(JournalFile, NamesADamagedLine) {
  Journal::create(file(), device);
  append("no JSON\n");
  EXPECT_THAT([] { Journal::resume(file(), device); }, ThrowsMessage<UserError>(HasSubstr("times.jsonl:2")));
  std::ofstream(file(), std::ios::trunc) << device << "\n{\"record\":\"pair\",\"matrix\":\"x\"}\n";
  EXPECT_THAT([] { Journal::resume(file(), device); }, ThrowsMessage<UserError>(HasSubstr("times.jsonl:2")));
}

TEST_F(JournalFile, NeedsAPlaceToWrite) {
  EXPECT_THROW(Journal::create(folder() / "none" / "times.jsonl", device), UserError);
  Journal nowhere;
  nowhere.write("{}");
  EXPECT_THAT(nowhere.completed(), IsEmpty());
}

}  // namespace
}  // namespace esc::bench
