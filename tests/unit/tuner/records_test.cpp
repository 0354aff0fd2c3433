// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "generator/support/error.h"
#include "tests/unit/tuner/tuning_records.h"
#include "tuner/records/item_results.h"
#include "tuner/records/record_text.h"

namespace esc::tuning {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::ThrowsMessage;

constexpr auto most_outcomes = {Outcome::compile_failed, Outcome::launch_failed, Outcome::wrong_result,
                                Outcome::timed_out, Outcome::skipped_by_limit};

WorkItem some_item() { return item_of_pattern(std::string(64, 'a')); }

/// Every field has a value that it does not have by itself.
CandidateRecord full_candidate() {
  CandidateRecord record = measured(some_item(), numbered_text(2), {2.25, 2.5, 0.1});
  record.item.layer.longest_row = 77;
  record.item.layer.row_variation = 1.0 / 3.0;
  record.algorithm = "algorithm 7";
  record.digest = std::string(64, 'd');
  record.kernel = KernelFacts{.registers = 40,
                              .shared_bytes = 1024,
                              .local_bytes = 8,
                              .threads = 256,
                              .blocks = std::int64_t{1} << 40,
                              .packed_bytes = 123456789012};
  record.detail = "a \"quoted\" line\nand another \t one";
  record.error = 3.1e-7;
  record.clock_megahertz = 1980;
  return record;
}

DecisionRecord full_decision() {
  return {.environment = {"0.1.0", "13.0", "NVIDIA H200", "13.0"},
          .item = some_item(),
          .winner = numbered_text(2),
          .incumbent = numbered_text(4),
          .verdict = Verdict::better,
          .ratio = 0.9,
          .winner_microseconds = 2.25,
          .fastest_peer = "cublas-fp32",
          .peer_microseconds = 4.5,
          .peer_wins = true,
          .rests_on = 130};
}

Record read_again(const Record& record) { return parse_record(print(record), "here"); }

/// The line of a record after some change.
std::string line_with(const Record& record, const std::function<void(json&)>& change) {
  json line = json::parse(print(record));
  change(line);
  return line.dump();
}

void expect_refused(const std::string& line, const std::string& why) {
  EXPECT_THAT([&] { parse_record(line, "file:7"); },
              ThrowsMessage<UserError>(AllOf(HasSubstr("file:7"), HasSubstr(why))))
      << line;
}

TEST(RecordText, OfACandidateIsReadAsItWasPrinted) {
  EXPECT_EQ(read_again(full_candidate()), Record(full_candidate()));
  EXPECT_EQ(print(Record(full_candidate())).find('\n'), std::string::npos) << "a record is one line";
}

TEST(RecordText, OfACandidateWithoutAnythingIsReadAsItWasPrinted) {
  CandidateRecord bare;
  bare.outcome = Outcome::skipped_by_limit;
  bare.item.device = {90, 132, 0};
  bare.item.layer.rows = bare.item.layer.columns = bare.item.layer.nonzeros = 1;
  bare.item.bcol = 1;
  EXPECT_EQ(read_again(bare), Record(bare));
}

TEST(RecordText, SaysWhichNestItIsOfWhereThatIsNotThePlainProduct) {
  CandidateRecord record = full_candidate();
  EXPECT_EQ(json::parse(print(Record(record))).contains("nest"), false) << "as journals always were";
  record.item.nest = {
      .layout = "n_k_2nk_2nk.n_m_n_n", .digest = "0123456789abcdef", .item_columns = 196, .contiguous = false};
  EXPECT_EQ(read_again(record), Record(record));
  EXPECT_EQ(json::parse(print(Record(record))).at("format"), 2)
      << "no program that knows of no nests may take it for the plain product";
  DecisionRecord decision = full_decision();
  decision.item.nest.layout = "nk";
  decision.item.nest.contiguous = false;
  EXPECT_EQ(read_again(decision), Record(decision));
  EXPECT_NE(key_of(decision.item), key_of(some_item()));
  expect_refused(line_with(record, [](json& line) { line["format"] = 1; }), "has format 1");
  expect_refused(line_with(record, [](json& line) { line.erase("nest"); }), "has format 2");
  expect_refused(line_with(record, [](json& line) { line["nest"]["layout"] = "n k"; }), "layout");
  expect_refused(line_with(record, [](json& line) { line["nest"]["item_columns"] = 0; }), "items without columns");
}

TEST(RecordText, KeepsEveryValueOfTheEnumerations) {
  for (const Stage stage : {Stage::search, Stage::final}) {
    for (const Edge edge : {Edge::plain, Edge::chain}) {
      for (const CacheState cache : {CacheState::warm, CacheState::cold}) {
        CandidateRecord record = full_candidate();
        record.stage = stage;
        record.edge = edge;
        record.item.cache = cache;
        EXPECT_EQ(read_again(record), Record(record));
      }
    }
  }
  for (const Outcome outcome : most_outcomes) {
    const CandidateRecord record = unmeasured(some_item(), "cusparse", outcome);
    EXPECT_EQ(read_again(record), Record(record)) << print(outcome);
  }
  for (const Verdict verdict : {Verdict::better, Verdict::worse, Verdict::same, Verdict::unsure}) {
    DecisionRecord record = full_decision();
    record.verdict = verdict;
    EXPECT_EQ(read_again(record), Record(record)) << print(verdict);
  }
}

TEST(RecordText, KeepsTimesToTheLastBit) {
  CandidateRecord record = full_candidate();
  record.samples = {1.0 / 3.0, 1e-300, std::numeric_limits<double>::max(), std::numeric_limits<double>::denorm_min()};
  EXPECT_EQ(read_again(record), Record(record));
}

TEST(RecordText, OfANameThatIsNotUtf8CanBeRead) {
  CandidateRecord record = full_candidate();
  record.item.layer.file = "layer-\xff\xfe.smtx";
  const Record again = read_again(record);
  EXPECT_EQ(key_of(item_of(again)), key_of(record.item));
  EXPECT_THAT(item_of(again).layer.file, AllOf(HasSubstr("layer-"), HasSubstr(".smtx")));
  EXPECT_EQ(print(again), print(Record(record))) << "printed again it does not change any more";
}

TEST(RecordText, RefusesAnOkWithoutSamples) {
  expect_refused(line_with(full_candidate(), [](json& line) { line["samples"] = json::array(); }),
                 "is ok and has no samples");
}

TEST(RecordText, RefusesAnotherFormat) {
  expect_refused(line_with(full_decision(), [](json& line) { line["format"] = 2; }),
                 "has format 2; this program reads format 1");
}

TEST(RecordText, RefusesAnyMissingField) {
  for (const Record& record : {Record(full_candidate()), Record(full_decision())}) {
    const json whole = json::parse(print(record));
    for (const auto& [field, value] : whole.items()) {
      if (field != "kernel") {  // a failed build has none
        expect_refused(line_with(record, [&](json& line) { line.erase(field); }), "lacks a field");
      }
    }
  }
  expect_refused(line_with(full_candidate(), [](json& line) { line["layer"].erase("pattern"); }), "lacks a field");
  expect_refused(line_with(full_candidate(), [](json& line) { line["kernel"].erase("threads"); }), "lacks a field");
}

TEST(RecordText, RefusesAFieldOfAnotherType) {
  for (const char* field : {"bcol", "samples", "error", "layer", "candidate", "stage", "device", "environment"}) {
    expect_refused(line_with(full_candidate(), [&](json& line) { line[field] = nullptr; }), "of another type");
  }
  expect_refused(line_with(full_candidate(), [](json& line) { line["samples"] = {1.5, "2.5"}; }), "of another type");
}

TEST(RecordText, RefusesWhatCannotBe) {
  const auto refuse = [](const char* field, const json& value, const std::string& why) {
    expect_refused(line_with(full_candidate(), [&](json& line) { line[field] = value; }), why);
  };
  for (const json& none : {json(-1), json(32.9), json(1e300), json(18446744073709551615ULL)}) {
    refuse("bcol", none, "has the bcol " + none.dump() + ", which is no whole number from 0 to 9223372036854775807");
    expect_refused(line_with(full_decision(), [&](json& line) { line["layer"]["rows"] = none; }), "has the rows ");
  }
  refuse("bcol", 0, "columns of B that is 0");
  for (const char* size : {"rows", "columns", "nonzeros"}) {
    expect_refused(line_with(full_decision(), [&](json& line) { line["layer"][size] = 0; }), "that is 0");
  }
  refuse("clock_mhz", std::int64_t{1} << 31, "no whole number from 0 to 2147483647");
  refuse("format", 1.9, "has format 1.9; this program reads format 1");
  refuse("samples", {1.5, 0.0}, "has a sample that is no time");
  refuse("samples", {-1.5}, "has a sample that is no time");
  refuse("candidate", "panel:future=3", "future");
  refuse("candidate", "mma:ufi=1", "there is no family");
  expect_refused(line_with(full_decision(), [](json& line) { line["winner"] = "panel:ufi=0"; }), "");
  expect_refused(line_with(full_candidate(), [](json& line) { line["layer"]["nonzeros"] = std::int64_t{1} << 40; }),
                 "has more non-zeros than elements");
}

TEST(RecordText, RefusesUnknownWords) {
  for (const char* field : {"record", "stage", "edge", "l2", "outcome"}) {
    expect_refused(line_with(full_candidate(), [&](json& line) { line[field] = "sideways"; }),
                   "unknown word 'sideways'");
  }
  expect_refused(line_with(full_decision(), [](json& line) { line["verdict"] = "better"; }), "unknown word 'better'");
  expect_refused(line_with(full_candidate(), [](json& line) { line["device"] = "h200"; }),
                 "h200 is not the key of a device");
}

TEST(RecordText, RefusesWhatIsNoObject) {
  expect_refused("", "is not JSON");
  expect_refused("{\"format\":1", "is not JSON");
  expect_refused(print(Record(full_decision())) + "}", "is not JSON");
  for (const char* line : {"[]", "1", "\"candidate\"", "null", "{}"}) {
    expect_refused(line, "lacks a field");
  }
}

TEST(RecordText, OfRatesIsReadAsItWasPrinted) {
  const RatesRecord record{{"0.1.0", "13.0", "NVIDIA H200", "13.0"},
                           {90, 132, std::uint64_t{60} << 20U},
                           {.memory_gigabytes = 4312.5, .fp32_gigaflops = 61230}};
  const JournalText journal = parse_journal(print(record) + "\n", "file");
  EXPECT_THAT(journal.damaged, IsEmpty());
  EXPECT_THAT(journal.records, IsEmpty());
  EXPECT_THAT(journal.rates, testing::ElementsAre(record));
  EXPECT_TRUE(journal.is_journal());
  EXPECT_TRUE(may_be_unfinished_record(print(record).substr(0, 30)));
  std::string zero = print(record);
  zero.replace(zero.find("4312.5"), 6, "0");
  EXPECT_THAT(parse_journal(zero + "\n", "file").damaged, testing::SizeIs(1));
}

TEST(JournalText, OfNothingHasNothing) {
  const JournalText journal = parse_journal("", "file");
  EXPECT_THAT(journal.records, IsEmpty());
  EXPECT_THAT(journal.damaged, IsEmpty());
  EXPECT_EQ(journal.unfinished, "");
}

TEST(JournalText, ListsDamagedLinesAndReadsTheOthers) {
  const std::string line = print(Record(full_decision())) + "\n";
  const std::string text = line + "no record\n\n" + line + line.substr(0, 50);
  const JournalText journal = parse_journal(text, "file");
  EXPECT_EQ(journal.records, (std::vector<Record>{full_decision(), full_decision()}));
  EXPECT_THAT(journal.damaged, ElementsAre(HasSubstr("file:2: is not JSON"), HasSubstr("file:3: is not JSON")));
  EXPECT_EQ(journal.unfinished, text.substr(text.size() - 50)) << "the part of a line is neither read nor damaged";
}

TEST(Median, AndItsSpreadOfFewSamples) {
  EXPECT_EQ(median({}), 0);
  EXPECT_EQ(relative_spread({}), 0);
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(relative_spread({3}), 0);
  EXPECT_EQ(median({4, 2}), 3);
  EXPECT_EQ(median({9, 1, 2, 3, 4}), 3);
  EXPECT_DOUBLE_EQ(relative_spread({9, 1, 2, 3, 4}), 2.0 / 3.0);
  EXPECT_EQ(relative_spread({0, 0, 0}), 0);
}

ItemResults results_of(const std::vector<Record>& records) {
  const auto items = group_by_item(records);
  EXPECT_THAT(items, SizeIs(1));
  return items.begin()->second;
}

TEST(GroupByItem, OfNothingIsEmpty) { EXPECT_THAT(group_by_item({}), IsEmpty()); }

TEST(GroupByItem, TellsItemsApartByTheirKeysAlone) {
  CandidateRecord elsewhere = full_candidate();
  elsewhere.item.layer.file = "elsewhere.smtx";
  EXPECT_THAT(group_by_item({full_candidate(), elsewhere}), SizeIs(1));
  for (const auto& change : std::vector<std::function<void(WorkItem&)>>{
           [](WorkItem& item) { item.bcol = 64; }, [](WorkItem& item) { item.cache = CacheState::cold; },
           [](WorkItem& item) { item.dtype = "f16"; }, [](WorkItem& item) { item.layer.pattern = "another"; },
           [](WorkItem& item) { item.device.multiprocessors = 114; }}) {
    CandidateRecord other = full_candidate();
    change(other.item);
    EXPECT_THAT(group_by_item({full_candidate(), other}), SizeIs(2));
  }
}

TEST(GroupByItem, PoolsTheSamplesOfRightMeasurements) {
  const WorkItem item = some_item();
  CandidateRecord less_exact = measured(item, numbered_text(1), {10.0, 12.0});
  less_exact.error = 5e-7;
  CandidateRecord wrong = measured(item, numbered_text(1), {0.5, 0.5, 0.5});
  wrong.outcome = Outcome::wrong_result;
  wrong.error = 1;
  const ItemResults results = results_of({measured(item, numbered_text(1), {2.0}), less_exact,
                                          unmeasured(item, numbered_text(1), Outcome::timed_out), wrong});
  const CandidateResult& pooled = results.search.at(numbered_text(1));
  EXPECT_EQ(pooled.outcome, Outcome::ok) << "one right measurement says more than a failure";
  EXPECT_EQ(pooled.microseconds, 10);
  EXPECT_EQ(pooled.error, 5e-7) << "the greatest one of the right ones";
}

TEST(GroupByItem, PutsEachRecordWhereItBelongs) {
  const WorkItem item = some_item();
  const ItemResults results = results_of(
      {measured(item, numbered_text(1), {1.0}), measured(item, numbered_text(2), {2.0}, Stage::final),
       measured(item, numbered_text(3), {3.0}, Stage::final, Edge::chain), measured(item, "cusparse", {4.0})});
  EXPECT_THAT(results.search, ElementsAre(testing::Key(numbered_text(1))));
  EXPECT_THAT(results.final, ElementsAre(testing::Key(numbered_text(2))));
  EXPECT_THAT(results.chain, ElementsAre(testing::Key(numbered_text(3))));
  EXPECT_THAT(results.peers, ElementsAre(testing::Key("cusparse")));
}

TEST(ItemResults, PrefersFinalistsToFasterOnesOfTheSearch) {
  const WorkItem item = some_item();
  const ItemResults results =
      results_of({measured(item, numbered_text(1), {1.0}), measured(item, numbered_text(2), {1.1}),
                  measured(item, numbered_text(2), {1.5}, Stage::final)});
  ASSERT_NE(results.best(), nullptr);
  EXPECT_EQ(results.best()->candidate, numbered_text(2));
  EXPECT_EQ(results.time_of(numbered_text(1)), 1.0);
  EXPECT_EQ(results.time_of(numbered_text(2)), 1.5);
  EXPECT_EQ(results.time_of(numbered_text(3)), std::nullopt);
}

TEST(ItemResults, FallsBackToTheSearchWhereNoFinalistIsRight) {
  const WorkItem item = some_item();
  CandidateRecord broken = unmeasured(item, numbered_text(1), Outcome::timed_out);
  broken.stage = Stage::final;
  const ItemResults results = results_of({measured(item, numbered_text(1), {1.0}), broken});
  ASSERT_NE(results.best(), nullptr);
  EXPECT_EQ(results.time_of(numbered_text(1)), 1.0);
}

TEST(ItemResults, HasNoBestWhereNothingIsRight) {
  const WorkItem item = some_item();
  const ItemResults results = results_of({unmeasured(item, numbered_text(1), Outcome::wrong_result),
                                          unmeasured(item, "cusparse", Outcome::launch_failed)});
  EXPECT_EQ(results.best(), nullptr);
  EXPECT_EQ(results.time_of(numbered_text(1)), std::nullopt);
  EXPECT_EQ(results.peer("cusparse"), nullptr);
  EXPECT_EQ(results.best_exact_peer(), nullptr);
}

TEST(ItemResults, DoesNotTakeATf32PeerForAnExactOne) {
  const WorkItem item = some_item();
  std::vector<Record> records{measured(item, "cublas-tf32", {1.0}), measured(item, "cublas-fp32", {3.0})};
  EXPECT_EQ(results_of(records).best_exact_peer()->candidate, "cublas-fp32");
  records.emplace_back(measured(item, "cusparse", {2.0}));
  EXPECT_EQ(results_of(records).best_exact_peer()->candidate, "cusparse");
}

TEST(ItemResults, TakesTheDenseProductOfTheItemsElementsForAnExactOne) {
  WorkItem item = some_item();
  for (const std::string dtype : {"f16", "bf16"}) {
    item.dtype = dtype;
    const ItemResults results = results_of({measured(item, "cublas-" + dtype, {2.0}),
                                            measured(item, "cublas-fp32", {1.0}), measured(item, "cusparse", {3.0})});
    EXPECT_EQ(results.best_exact_peer()->candidate, "cublas-" + dtype);
    EXPECT_EQ(shape_of(results.item).dtype, dtype);
    EXPECT_THAT(describe(results.item), HasSubstr(", " + dtype));
  }
}

TEST(ItemResults, TakesTheDoublesOfALibraryForThoseOfAnItem) {
  WorkItem item = some_item();
  item.dtype = "f64";
  const ItemResults results = results_of({measured(item, "cublas-fp64", {2.0}), measured(item, "cublas-fp32", {1.0})});
  EXPECT_EQ(results.best_exact_peer()->candidate, "cublas-fp64");
  EXPECT_EQ(results.less_exact_dense_peer(), nullptr);
}

TEST(ItemResults, TakesTheTf32PeerForAnExactOneOfElementsOfTf32) {
  WorkItem item = some_item();
  const auto of = [&] {
    return results_of({measured(item, "cublas-tf32", {2.0}), measured(item, "cublas-fp32", {1.0}),
                       measured(item, "cusparse", {3.0})});
  };
  EXPECT_EQ(of().less_exact_dense_peer()->candidate, "cublas-tf32");
  item.dtype = "tf32";
  EXPECT_EQ(of().best_exact_peer()->candidate, "cublas-tf32");
  EXPECT_EQ(of().less_exact_dense_peer(), nullptr);
}

TEST(ItemResults, TakesCusparseLtForAnExactOneWhereItRoundsNoFactor) {
  WorkItem item = some_item();
  for (const std::string dtype : {"f32", "tf32", "f16", "bf16"}) {
    item.dtype = dtype;
    const ItemResults results = results_of({measured(item, "cusparselt", {1.0}), measured(item, "cusparse", {2.0})});
    EXPECT_EQ(results.best_exact_peer()->candidate, dtype == "f32" ? "cusparse" : "cusparselt") << dtype;
  }
}

TEST(ItemResults, TakesTheFirstByNameOfEqualOnes) {
  const WorkItem item = some_item();
  EXPECT_EQ(
      results_of({measured(item, numbered_text(2), {1.0}), measured(item, numbered_text(1), {1.0})}).best()->candidate,
      numbered_text(1));
}

TEST(ItemResults, ShowsOfSeveralDecisionsTheOneWithTheFastestWinner) {
  DecisionRecord slow = full_decision();
  slow.winner_microseconds = 3;
  DecisionRecord without_winner = full_decision();
  without_winner.winner = "";
  without_winner.winner_microseconds = 0;
  EXPECT_EQ(results_of({slow, without_winner, full_decision()}).decision, full_decision());
  EXPECT_EQ(results_of({without_winner}).decision, without_winner);
}

/// All that is known of an item, as text, for comparing it.
std::string everything_of(const ItemResults& results) {
  std::string text = results.item.layer.file + " " + results.environment.driver;
  for (const auto* stage : {&results.search, &results.final, &results.chain, &results.peers}) {
    for (const auto& [candidate, result] : *stage) {
      text +=
          fmt::format("\n{} {} {} {} {} {} {} {}", candidate, result.algorithm, print(result.outcome), result.detail,
                      result.error, result.microseconds, result.spread, result.kernel ? result.kernel->registers : 0);
    }
  }
  return text + (results.decision ? print(Record(*results.decision)) : "");
}

TEST(GroupByItem, DoesNotDependOnTheOrderOfTheRecords) {
  const WorkItem item = some_item();
  WorkItem moved = item;
  moved.layer.file = "moved.smtx";
  std::vector<Record> records{full_candidate(),
                              full_decision(),
                              measured(item, "cusparse", {4.0, 5.0}),
                              measured(moved, "cusparse", {4.5}),
                              unmeasured(item, numbered_text(2), Outcome::timed_out),
                              unmeasured(item, numbered_text(3), Outcome::timed_out),
                              unmeasured(item, numbered_text(3), Outcome::wrong_result)};
  // Two builds of one text, equally fast, and two decisions, that differ in what nothing else is chosen by.
  CandidateRecord other_build = full_candidate();
  other_build.kernel->registers = 32;
  other_build.builder = "nvcc 13.0";
  records.emplace_back(other_build);
  DecisionRecord other_decision = full_decision();
  other_decision.environment.driver = "12.8";
  other_decision.fastest_peer = "cusparse";
  records.emplace_back(other_decision);

  const std::string expected = everything_of(results_of(records));
  std::mt19937 generator(7);
  for (int shuffles = 0; shuffles < 50; ++shuffles) {
    std::shuffle(records.begin(), records.end(), generator);
    ASSERT_EQ(everything_of(results_of(records)), expected);
  }
}

}  // namespace
}  // namespace esc::tuning
