// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "generator/support/error.h"
#include "tests/unit/tuner/tuning_records.h"
#include "tests/unit/tuner/watched_lab.h"
#include "tuner/records/record_text.h"
#include "tuner/search/recorded_lab.h"
#include "tuner/search/tune_item.h"

namespace esc::tuning {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const WorkItem item = item_of_pattern("pattern");
const std::string incumbent = numbered_text(1);

/// What a device would have measured: the incumbent takes 10, the candidates 2, 3, ... what is given.
std::vector<Record> device_with(const std::vector<double>& times) {
  std::vector<Record> records{steady(item, incumbent, 10)};
  for (std::size_t number = 0; number < times.size(); ++number) {
    records.emplace_back(steady(item, numbered_text(static_cast<int>(number) + 2), times[number]));
  }
  return records;
}

ItemPlan plan_of(int candidates, const std::vector<Record>& known = {}) {
  ItemPlan plan{.item = item, .product = {}, .candidates = {}, .incumbent = numbered_schedule(1), .known = {}};
  for (int number = 0; number < candidates; ++number) {
    plan.candidates.push_back(numbered_schedule(number + 2));
  }
  if (!known.empty()) {
    plan.known = group_by_item(known).at(key_of(item));
  }
  return plan;
}

bool is_decision(const Record& record) { return std::holds_alternative<DecisionRecord>(record); }

/// The records that tuning writes.
std::vector<Record> tune(
    Lab& lab, const ItemPlan& plan, const SearchOptions& options = {}, const StopRequest& stop = [] { return false; }) {
  std::vector<Record> written;
  const ItemEnd end = tune_item(plan, options, lab, [&](const Record& record) { written.push_back(record); }, stop);
  EXPECT_EQ(end == ItemEnd::decided, !written.empty() && is_decision(written.back()));
  return written;
}

DecisionRecord decision_in(const std::vector<Record>& written) {
  EXPECT_EQ(std::ranges::count_if(written, is_decision), 1);
  return std::get<DecisionRecord>(written.back());
}

DecisionRecord decide(const std::vector<Record>& device, int candidates, const SearchOptions& options = {}) {
  WatchedLab lab(device);
  return decision_in(tune(lab, plan_of(candidates), options));
}

TEST(TuneItem, KeepsTheIncumbentWhereAChallengerIsFasterWithinNoise) {
  const DecisionRecord decision = decide(device_with({9.95, 11}), 2);
  EXPECT_EQ(decision.winner, incumbent);
  EXPECT_EQ(decision.verdict, Verdict::same);
  EXPECT_NEAR(decision.ratio, 0.995, 1e-9);
  EXPECT_NEAR(decision.winner_microseconds, 10, 1e-9);
  EXPECT_FALSE(decision.peer_wins);
}

TEST(TuneItem, ReplacesTheIncumbentByABetterOne) {
  const DecisionRecord decision = decide(device_with({11, 9, 9.5}), 3);
  EXPECT_EQ(decision.winner, numbered_text(3));
  EXPECT_EQ(decision.incumbent, incumbent);
  EXPECT_EQ(decision.verdict, Verdict::better);
  EXPECT_NEAR(decision.ratio, 0.9, 1e-9);
  EXPECT_NEAR(decision.winner_microseconds, 9, 1e-9);
}

TEST(TuneItem, KeepsTheIncumbentWhereAllAreSlower) {
  const DecisionRecord decision = decide(device_with({11, 12}), 2);
  EXPECT_EQ(decision.winner, incumbent);
  EXPECT_EQ(decision.verdict, Verdict::worse);
}

TEST(TuneItem, KeepsTheIncumbentWhereNoiseHidesTheDifference) {
  WatchedLab lab({steady(item, incumbent, 10), measured(item, numbered_text(2), {9.0, 11.0})});
  const DecisionRecord decision = decision_in(tune(lab, plan_of(1)));
  EXPECT_EQ(decision.winner, incumbent);
  EXPECT_EQ(decision.verdict, Verdict::unsure);
  EXPECT_EQ(lab.rounds[Edge::plain], SearchOptions().most_rounds) << "it is tried for long";
  EXPECT_EQ(lab.rounds[Edge::chain], SearchOptions().least_rounds);
}

TEST(TuneItem, EndsTheFinalWhereTheVerdictIsClear) {
  WatchedLab lab(device_with({9}));
  tune(lab, plan_of(1));
  EXPECT_EQ(lab.rounds[Edge::plain], SearchOptions().least_rounds);
}

TEST(TuneItem, HasTheIncumbentAloneInTheFinalWhereThereIsNothingElse) {
  const DecisionRecord decision = decide(device_with({}), 0);
  EXPECT_EQ(decision.winner, incumbent);
  EXPECT_EQ(decision.verdict, Verdict::same);
  EXPECT_EQ(decision.ratio, 1);
}

TEST(TuneItem, ReplacesAnIncumbentThatIsNotRight) {
  for (const Outcome outcome : {Outcome::wrong_result, Outcome::compile_failed, Outcome::timed_out}) {
    const DecisionRecord decision = decide(
        {unmeasured(item, incumbent, outcome), steady(item, numbered_text(2), 12), steady(item, numbered_text(3), 11)},
        2);
    EXPECT_EQ(decision.winner, numbered_text(3));
    EXPECT_EQ(decision.verdict, Verdict::better);
  }
}

TEST(TuneItem, HasNoWinnerWhereNothingIsRight) {
  WatchedLab lab({unmeasured(item, incumbent, Outcome::wrong_result),
                  unmeasured(item, numbered_text(2), Outcome::launch_failed), steady(item, "cusparse", 4)});
  const DecisionRecord decision = decision_in(tune(lab, plan_of(1)));
  EXPECT_EQ(decision.winner, "");
  EXPECT_EQ(decision.winner_microseconds, 0);
  EXPECT_EQ(decision.verdict, Verdict::unsure);
  EXPECT_TRUE(decision.peer_wins);
  EXPECT_THAT(lab.rounds, IsEmpty());
}

TEST(TuneItem, NeverLetsAWrongOneWinHoweverFastItIs) {
  std::vector<Record> device = device_with({});
  CandidateRecord wrong = steady(item, numbered_text(2), 1);
  wrong.outcome = Outcome::wrong_result;
  device.emplace_back(wrong);
  EXPECT_EQ(decide(device, 1).winner, incumbent);
}

TEST(TuneItem, SaysWhetherAPeerIsFaster) {
  std::vector<Record> device = device_with({9});
  device.emplace_back(steady(item, "cublas-tf32", 1));
  EXPECT_EQ(decide(device, 1).fastest_peer, "") << "it is not exact";
  device.emplace_back(steady(item, "cublas-fp32", 9));
  const DecisionRecord even = decide(device, 1);
  EXPECT_EQ(even.fastest_peer, "cublas-fp32");
  EXPECT_EQ(even.peer_microseconds, even.winner_microseconds);
  EXPECT_FALSE(even.peer_wins) << "it is not faster";
  device.emplace_back(steady(item, "cusparse", 8));
  const DecisionRecord behind = decide(device, 1);
  EXPECT_EQ(behind.fastest_peer, "cusparse");
  EXPECT_EQ(behind.peer_microseconds, 8);
  EXPECT_TRUE(behind.peer_wins);
}

TEST(TuneItem, LeavesThePeersOutWhereTheyAreNotWanted) {
  std::vector<Record> device = device_with({9});
  device.emplace_back(steady(item, "cusparse", 8));
  WatchedLab lab(device);
  const DecisionRecord decision = decision_in(tune(lab, plan_of(1), {.peers = false}));
  EXPECT_EQ(lab.times_of_peers, 0);
  EXPECT_EQ(decision.fastest_peer, "");
  EXPECT_FALSE(decision.peer_wins);
}

TEST(TuneItem, MeasuresTheIncumbentFirstAndNothingTwice) {
  WatchedLab lab(device_with({11, 9}));
  ItemPlan plan = plan_of(2);
  plan.candidates.push_back(plan.candidates.front());
  plan.candidates.push_back(plan.incumbent);
  tune(lab, plan);
  EXPECT_THAT(lab.measured, ElementsAre(incumbent, numbered_text(2), numbered_text(3)));
}

TEST(TuneItem, TellsTheLabWhatIsSlowerByFarThanTheBestSoFar) {
  WatchedLab lab(device_with({8, 30, 4}));
  const std::vector<Record> written = tune(lab, plan_of(3));
  ASSERT_THAT(lab.hopeless, SizeIs(4));
  EXPECT_EQ(lab.hopeless[0], 0) << "there is none yet";
  EXPECT_NEAR(lab.hopeless[1], 15, 1e-9);
  EXPECT_NEAR(lab.hopeless[2], 12, 1e-9);
  EXPECT_NEAR(lab.hopeless[3], 12, 1e-9);
}

TEST(TuneItem, HasTheFastestFewAndTheIncumbentInTheFinal) {
  WatchedLab lab(device_with({14, 12, 13, 11}));
  tune(lab, plan_of(4), {.challengers = 2});
  EXPECT_THAT(lab.finalists, ElementsAre(numbered_schedule(1), numbered_schedule(5), numbered_schedule(3)));
}

TEST(TuneItem, HoldsNoFinalWhereNoneIsWanted) {
  WatchedLab lab(device_with({11, 9}));
  const DecisionRecord decision = decision_in(tune(lab, plan_of(2), {.decided_by = DecidedBy::search}));
  EXPECT_EQ(decision.winner, incumbent) << "which holds where nothing says otherwise";
  EXPECT_THAT(lab.finalists, IsEmpty());
  EXPECT_THAT(lab.rounds, IsEmpty());
}

TEST(TuneItem, WritesTheDecisionBehindEverythingElse) {
  std::vector<Record> device = device_with({9});
  device.emplace_back(steady(item, "cusparse", 12));
  WatchedLab lab(device);
  std::vector<std::string> lines;
  for (const Record& record : tune(lab, plan_of(1))) {
    const auto* candidate = std::get_if<CandidateRecord>(&record);
    lines.push_back(candidate == nullptr
                        ? "decision"
                        : candidate->candidate + (candidate->stage == Stage::search ? " search" : " final") +
                              (candidate->edge == Edge::plain ? "" : ", chain"));
  }
  const std::string other = numbered_text(2);
  EXPECT_THAT(lines, ElementsAre("cusparse search", incumbent + " search", other + " search", incumbent + " final",
                                 other + " final", incumbent + " final, chain", other + " final, chain", "decision"));
}

TEST(TuneItem, IsDeterministic) {
  std::vector<Record> device = device_with({9.9, 9.5, 9.5, 13, 40});
  device.emplace_back(steady(item, "cublas-fp32", 12));
  device.emplace_back(steady(item, "cusparse", 11));
  WatchedLab first(device);
  const std::vector<Record> expected = tune(first, plan_of(5));
  std::mt19937 generator(7);
  for (int shuffles = 0; shuffles < 10; ++shuffles) {
    std::shuffle(device.begin(), device.end(), generator);
    WatchedLab lab(device);
    EXPECT_EQ(tune(lab, plan_of(5)), expected);
  }
}

TEST(TuneItem, KeepsTheIncumbentWhereTheFinalBreaksOffEarly) {
  WatchedLab lab(device_with({9}));
  lab.whole_rounds = 3;
  const std::vector<Record> written = tune(lab, plan_of(1));
  EXPECT_EQ(decision_in(written).winner, incumbent) << "three rounds decide nothing";
  EXPECT_EQ(decision_in(written).verdict, Verdict::unsure);
  const ItemResults results = group_by_item(written).at(key_of(item));
  EXPECT_EQ(results.final.at(incumbent).outcome, Outcome::ok);
  EXPECT_EQ(results.chain.at(incumbent).outcome, Outcome::timed_out) << "no round of it came to its end";
}

TEST(TuneItem, KeepsTheIncumbentAfterAFinalWithoutARound) {
  WatchedLab lab(device_with({9}));
  lab.whole_rounds = 0;
  const std::vector<Record> written = tune(lab, plan_of(1));
  EXPECT_EQ(decision_in(written).winner, incumbent) << "the search found it right, and nobody has beaten it";
  EXPECT_EQ(decision_in(written).verdict, Verdict::unsure);
  EXPECT_GT(decision_in(written).winner_microseconds, 0);
  const ItemResults results = group_by_item(written).at(key_of(item));
  EXPECT_EQ(results.final.at(incumbent).outcome, Outcome::timed_out);
  EXPECT_EQ(results.best()->candidate, numbered_text(2)) << "what the search found is still known";
}

TEST(TuneItem, LeavesOutOfTheFinalWhatIsNotRightAnyMore) {
  std::vector<Record> device = device_with({9, 9.5});
  CandidateRecord broken = unmeasured(item, numbered_text(2), Outcome::compile_failed);
  broken.stage = Stage::final;
  device.emplace_back(broken);
  WatchedLab lab(device);
  const std::vector<Record> written = tune(lab, plan_of(2));
  EXPECT_EQ(decision_in(written).winner, numbered_text(3));
  EXPECT_EQ(group_by_item(written).at(key_of(item)).final.at(numbered_text(2)).outcome, Outcome::compile_failed);
}

TEST(ResumedTuning, MeasuresNothingThatIsKnown) {
  std::vector<Record> device = device_with({9, 11});
  device.emplace_back(steady(item, "cusparse", 12));
  WatchedLab first(device);
  const std::vector<Record> written = tune(first, plan_of(2));
  WatchedLab second(device);
  const DecisionRecord again = decision_in(tune(second, plan_of(2, written)));
  EXPECT_THAT(second.measured, IsEmpty());
  EXPECT_EQ(second.times_of_peers, 0);
  EXPECT_EQ(again, decision_in(written));
}

TEST(ResumedTuning, MeasuresAgainWhatHasFailedOnlyWhereThatIsWanted) {
  const std::vector<Record> known{steady(item, incumbent, 10), unmeasured(item, numbered_text(2), Outcome::timed_out),
                                  unmeasured(item, "cusparse", Outcome::launch_failed),
                                  steady(item, "cublas-fp32", 12)};
  const std::vector<Record> device = device_with({9});
  WatchedLab without(device);
  EXPECT_EQ(decision_in(tune(without, plan_of(1, known))).winner, incumbent);
  EXPECT_THAT(without.measured, IsEmpty());
  EXPECT_EQ(without.times_of_peers, 0);
  WatchedLab with(device);
  EXPECT_EQ(decision_in(tune(with, plan_of(1, known), {.retry_failed = true})).winner, numbered_text(2));
  EXPECT_THAT(with.measured, ElementsAre(numbered_text(2)));
  EXPECT_EQ(with.times_of_peers, 1);
}

/// Whatever record was the last one in the journal, the next run measures the rest and decides alike.
TEST(ResumedTuning, GoesOnBehindAnyRecord) {
  std::vector<Record> device = device_with({9, 30, 11});
  device.emplace_back(steady(item, "cublas-fp32", 12));
  device.emplace_back(steady(item, "cusparse", 8));
  WatchedLab whole(device);
  const std::vector<Record> expected = tune(whole, plan_of(3));
  for (std::size_t there = 0; there < expected.size(); ++there) {
    const std::vector<Record> known(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(there));
    WatchedLab lab(device);
    const std::vector<Record> written = tune(lab, plan_of(3, known));
    EXPECT_EQ(decision_in(written), decision_in(expected)) << there << " records were known";
    EXPECT_EQ(lab.measured.size(), 4 - std::clamp<std::size_t>(there, 2, 6) + 2) << there << " records were known";
  }
}

TEST(ResumedTuning, GoesOnWhereAStopWasAskedFor) {
  std::vector<Record> device = device_with({9, 30, 11});
  device.emplace_back(steady(item, "cusparse", 12));
  WatchedLab whole(device);
  const std::vector<Record> expected = tune(whole, plan_of(3));
  for (int patience = 0; patience <= 4; ++patience) {
    WatchedLab lab(device);
    int asked = 0;
    const std::vector<Record> first = tune(lab, plan_of(3), {}, [&] { return asked++ > patience; });
    EXPECT_TRUE(std::ranges::none_of(first, is_decision));
    const std::vector<Record> second = tune(lab, plan_of(3, first));
    std::vector<Record> both = first;
    both.insert(both.end(), second.begin(), second.end());
    EXPECT_EQ(both, expected) << "stopped at question " << patience;
    EXPECT_THAT(lab.measured, SizeIs(4));
  }
}

TEST(ResumedTuning, LosesNothingWhereARecordCannotBeWritten) {
  WatchedLab lab(device_with({9}));
  std::vector<Record> written;
  const RecordSink full = [&](const Record& record) {
    if (written.size() == 1) {
      throw UserError("journal", "cannot be written");
    }
    written.push_back(record);
  };
  EXPECT_THROW(tune_item(plan_of(1), {}, lab, full), UserError);
  EXPECT_EQ(decision_in(tune(lab, plan_of(1, written))).winner, numbered_text(2));
  EXPECT_THAT(lab.measured, ElementsAre(incumbent, numbered_text(2), numbered_text(2)));
}

TEST(RecordedLab, NeedsRecordsOfOneDevice) {
  EXPECT_THROW(RecordedLab({}), UserError);
  CandidateRecord elsewhere = steady(item, incumbent, 10);
  elsewhere.item.device.multiprocessors = 114;
  EXPECT_THROW(RecordedLab({steady(item, incumbent, 10), elsewhere}), UserError);
  EXPECT_EQ(RecordedLab({elsewhere}).device(), elsewhere.item.device);
}

TEST(RecordedLab, SkipsWhatWasNotRecorded) {
  RecordedLab lab(device_with({9}));
  lab.open(item, {}, {});
  EXPECT_EQ(lab.measure(numbered_schedule(7), {}).outcome, Outcome::skipped_by_limit);
  EXPECT_EQ(lab.prepare_finalists({numbered_schedule(7)}).front().outcome, Outcome::skipped_by_limit);
  EXPECT_THAT(lab.measure_peers(), IsEmpty());
  lab.open(item_of_pattern("another"), {}, {});
  EXPECT_EQ(lab.measure(numbered_schedule(1), {}).outcome, Outcome::skipped_by_limit);
}

TEST(RecordedLab, GivesAsManySamplesAsTheRuleWants) {
  RecordedLab lab({measured(item, incumbent, times_about(10, 0.2))});
  lab.open(item, {}, {});
  const StopRule wide{.least = 2, .most = 7, .spread = 0, .budget = 1e9};
  EXPECT_THAT(lab.measure(numbered_schedule(1), wide).samples, SizeIs(7));
  StopRule hopeless = wide;
  hopeless.hopeless = 5;
  EXPECT_THAT(lab.measure(numbered_schedule(1), hopeless).samples, SizeIs(2));
}

TEST(RecordedLab, PlaysTheRoundsOfAFinalOverAgain) {
  RecordedLab lab({measured(item, incumbent, {1.0, 2.0}), measured(item, numbered_text(2), {7.0}),
                   measured(item, numbered_text(2), {3.0, 4.0, 5.0}, Stage::final),
                   measured(item, numbered_text(2), {6.0}, Stage::final, Edge::chain)});
  lab.open(item, {}, {});
  EXPECT_THAT(lab.prepare_finalists({numbered_schedule(1), numbered_schedule(2)}),
              AllOf(SizeIs(2), Each(testing::Field(&Measurement::samples, IsEmpty()))));
  EXPECT_THAT(lab.run_round(Edge::plain), ElementsAre(1, 3));
  EXPECT_THAT(lab.run_round(Edge::plain), ElementsAre(2, 4));
  EXPECT_THAT(lab.run_round(Edge::plain), ElementsAre(1, 5));
  EXPECT_THAT(lab.run_round(Edge::plain), ElementsAre(2, 3));
  EXPECT_THAT(lab.run_round(Edge::chain), ElementsAre(1, 6));
  lab.run_round(Edge::plain);
  lab.prepare_finalists({numbered_schedule(1)});
  EXPECT_THAT(lab.run_round(Edge::plain), ElementsAre(1)) << "another final begins anew";
}

}  // namespace
}  // namespace esc::tuning
