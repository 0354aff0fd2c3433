// SPDX-License-Identifier: Apache-2.0
#include "tuner/scale/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tuner/records/record_text.h"

namespace esc::tuning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* first_schedule =
    "panel: tile=1x32, thread=1x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on";
constexpr const char* second_schedule =
    "panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on";

CandidateRecord candidate(const std::string& schedule, double microseconds, std::int64_t bcol = 32) {
  CandidateRecord record;
  record.environment = {"0.1.0", "13.0", "NVIDIA H200", "13.0"};
  record.item.layer = {
      .file = "a.smtx", .pattern = std::string(64, 'a'), .rows = 512, .columns = 512, .nonzeros = 26214};
  record.item.bcol = bcol;
  record.item.device = {90, 132, std::uint64_t{60} << 20U};
  record.candidate = schedule;
  record.builder = "nvrtc 13.0";
  record.digest = std::string(64, 'd');
  record.samples = {microseconds};
  return record;
}

DecisionRecord decision(const std::string& winner) {
  DecisionRecord record;
  record.environment = {"0.1.0", "13.0", "NVIDIA H200", "13.0"};
  record.item = candidate(winner, 1).item;
  record.winner = winner;
  return record;
}

std::vector<Record> some_records() {
  CandidateRecord failed = candidate(first_schedule, 1, 64);
  failed.outcome = Outcome::timed_out;
  failed.samples.clear();
  return {candidate(second_schedule, 2), decision(first_schedule), candidate(first_schedule, 1), failed};
}

Merged merge_texts(const std::vector<std::string>& texts) {
  std::vector<Record> records;
  for (const std::string& text : texts) {
    const JournalText journal = parse_journal(text, "test");
    EXPECT_THAT(journal.damaged, IsEmpty());
    records.insert(records.end(), journal.records.begin(), journal.records.end());
  }
  return merge(records);
}

TEST(Merge, HasEachRecordOnceAsItIsPrinted) {
  std::vector<Record> records = some_records();
  records.push_back(records.front());
  const Merged merged = merge(records);
  EXPECT_EQ(merged.records, 4U);
  for (const Record& record : some_records()) {
    EXPECT_THAT(merged.text, HasSubstr(print(record) + "\n"));
  }
  EXPECT_EQ(std::count(merged.text.begin(), merged.text.end(), '\n'), 4 + 1) << "and the line that says what it is";
  EXPECT_THAT(merged.conflicts, IsEmpty());
  EXPECT_THAT(merged.environments, IsEmpty());
}

TEST(Merge, SortsByItemThenStageEdgeAndCandidate) {
  CandidateRecord final_one = candidate(first_schedule, 1);
  final_one.stage = Stage::final;
  CandidateRecord chain = final_one;
  chain.edge = Edge::chain;
  const Merged merged = merge({decision(first_schedule), chain, final_one, candidate(second_schedule, 2),
                               candidate(first_schedule, 1, 64), candidate(first_schedule, 1)});
  const std::vector<Record> expected{candidate(first_schedule, 1), candidate(second_schedule, 2),   final_one, chain,
                                     decision(first_schedule),     candidate(first_schedule, 1, 64)};
  EXPECT_EQ(parse_journal(merged.text, "merged").records, expected);
}

TEST(Merge, DoesNotDependOnTheOrder) {
  std::vector<Record> records = some_records();
  const std::string text = merge(records).text;
  std::mt19937 generator(7);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(records.begin(), records.end(), generator);
    EXPECT_EQ(merge(records).text, text);
  }
}

TEST(Merge, IsIdempotentAndAssociative) {
  const std::vector<Record> all = some_records();
  const std::string whole = merge(all).text;
  EXPECT_EQ(merge_texts({whole}).text, whole);
  EXPECT_EQ(merge_texts({whole, whole}).text, whole);
  const std::string front = merge({all[0], all[1]}).text;
  const std::string back = merge({all[2], all[3], all[0]}).text;
  EXPECT_EQ(merge_texts({front, back}).text, whole);
  EXPECT_EQ(merge_texts({back, front}).text, whole);
}

TEST(Merge, OfNothingIsEmpty) {
  const Merged merged = merge({});
  EXPECT_EQ(merged.text, "");
  EXPECT_EQ(merged.records, 0U);
  EXPECT_EQ(merge_texts({"", ""}).text, "");
}

TEST(Merge, OfOneRecordIsItsLine) {
  const Record one = candidate(first_schedule, 1);
  EXPECT_EQ(merge({one}).text, journal_header() + "\n" + print(one) + "\n");
}

TEST(Merge, ListsMediansThatContradictAndKeepsBoth) {
  const Merged merged = merge({candidate(first_schedule, 2.00), candidate(first_schedule, 2.21)});
  EXPECT_EQ(merged.records, 2U);
  EXPECT_THAT(merged.conflicts, ElementsAre(HasSubstr("2.00 us and 2.21 us")));
  EXPECT_THAT(merged.conflicts.front(), HasSubstr(first_schedule));
  EXPECT_THAT(merge({candidate(first_schedule, 2.00), candidate(first_schedule, 2.19)}).conflicts, IsEmpty());
}

TEST(Merge, ListsOutcomesThatContradict) {
  CandidateRecord wrong = candidate(first_schedule, 1);
  wrong.outcome = Outcome::wrong_result;
  wrong.samples.clear();
  EXPECT_THAT(merge({candidate(first_schedule, 1), wrong}).conflicts, ElementsAre(HasSubstr("ok and wrong-result")));
}

TEST(Merge, ComparesOnlyWhatIsTheSame) {
  const CandidateRecord record = candidate(first_schedule, 1);
  const auto at_twice_the_time = [&](auto change) {
    CandidateRecord other = candidate(first_schedule, 2);
    change(other);
    EXPECT_THAT(merge({record, other}).conflicts, IsEmpty());
  };
  at_twice_the_time([](CandidateRecord& other) { other.stage = Stage::final; });
  at_twice_the_time([](CandidateRecord& other) { other.edge = Edge::chain; });
  at_twice_the_time([](CandidateRecord& other) { other.builder = "nvcc 13.0"; });
  at_twice_the_time([](CandidateRecord& other) { other.digest = std::string(64, 'e'); });
  at_twice_the_time([](CandidateRecord& other) { other.item.bcol = 64; });
  at_twice_the_time([](CandidateRecord& other) { other.item.cache = CacheState::cold; });
  at_twice_the_time([](CandidateRecord& other) { other.item.layer.pattern = std::string(64, 'b'); });
  at_twice_the_time([](CandidateRecord& other) { other.item.device.multiprocessors = 114; });
  EXPECT_THAT(merge({record,
                     [] {
                       CandidateRecord moved = candidate(first_schedule, 2);
                       moved.item.layer.file = "elsewhere.smtx";
                       return moved;
                     }()})
                  .conflicts,
              testing::SizeIs(1));
}

TEST(Merge, ListsEnvironmentsThatDiffer) {
  CandidateRecord newer = candidate(second_schedule, 1);
  newer.environment.driver = "13.1";
  const Merged merged = merge({candidate(first_schedule, 1), newer});
  EXPECT_THAT(merged.environments,
              ElementsAre(testing::AllOf(HasSubstr("sm90-132sm-60mib"), HasSubstr("driver 13.1"))));
  newer.item.device.multiprocessors = 114;
  EXPECT_THAT(merge({candidate(first_schedule, 1), newer}).environments, IsEmpty());
}

TEST(Merge, ReadsAJournalThatAKilledWriterLeft) {
  const std::string line = print(Record(candidate(first_schedule, 1))) + "\n";
  const JournalText journal = parse_journal(line + line.substr(0, 40), "killed");
  EXPECT_EQ(merge(journal.records).text, journal_header() + "\n" + line);
}

}  // namespace
}  // namespace esc::tuning
