// SPDX-License-Identifier: Apache-2.0
// A lab whose worker hangs, dies, breaks its device or starts without one. The worker is fake-worker, the kernels are
// not built.

#include "tuner/device/device_lab.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "generator/support/error.h"
#include "generator/support/temporary_folder.h"
#include "tests/unit/tuner/unbuilt_kernels.h"
#include "tuner/search/tune_item.h"

namespace esc::tuning {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class DeviceLabTest : public testing::Test {
 protected:
  DeviceLab lab(std::vector<std::string> rules, Builders builders = {builder_that("nvrtc 13.0"), std::nullopt},
                Patience patience = {}) const {
    rules.insert(rules.begin(), log());
    return {{.program = ESC_FAKE_WORKER, .arguments = std::move(rules)}, std::move(builders), 2, patience};
  }

  /// A lab that waits for a candidate for a time that a test can afford.
  DeviceLab impatient_lab(std::vector<std::string> rules) const {
    return lab(std::move(rules), {builder_that("nvrtc 13.0"), std::nullopt},
               {.product = milliseconds(500), .peers = milliseconds(500), .candidate = milliseconds(500)});
  }

  static WorkItem item() {
    WorkItem item{.layer = {}, .bcol = bcol, .device = {90, 132, 60ULL << 20}};
    item.layer.file = "ffn1.smtx";
    return item;
  }

  void open(DeviceLab& lab, const std::vector<int>& warps = {}) const {
    std::vector<Schedule> schedules;
    for (const int number : warps) {
      schedules.push_back(with_warps(number));
    }
    lab.open(item(), {small_matrix(), std::make_shared<const LoopNest>(spmm_nest())}, schedules);
  }

  /// Where the workers note what they do.
  std::string log() const { return (folder_.path() / "log").string(); }

  /// What all workers have done, in order.
  std::vector<std::string> events() const {
    std::ifstream lines(log());
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) {
      found.push_back(line);
    }
    return found;
  }

 private:
  TemporaryFolder folder_;
};

std::vector<Outcome> outcomes_of(const std::vector<Measurement>& measurements) {
  std::vector<Outcome> outcomes;
  for (const Measurement& measurement : measurements) {
    outcomes.push_back(measurement.outcome);
  }
  return outcomes;
}

/// How the lab refuses to do it.
template <typename Work>
UserError refusal_of(Work work) {
  try {
    work();
  } catch (const UserError& refusal) {
    return refusal;
  }
  ADD_FAILURE() << "is not refused";
  return {"", ""};
}

TEST_F(DeviceLabTest, SaysWhatTheDeviceDoesInASecond) {
  DeviceLab measuring = lab({});
  const DeviceRates expected{.memory_gigabytes = 4300, .l2_gigabytes = 7000, .fp32_gigaflops = 60000};
  EXPECT_EQ(measuring.measure_rates(), expected);
  open(measuring);
  EXPECT_THAT(measuring.measure_peers(), SizeIs(1)) << "after it an item is taken up as usual";
}

TEST_F(DeviceLabTest, RefusesMicrobenchmarksThatDoNotEnd) {
  const auto refusal = [&](const std::string& rule, Patience patience) -> std::string {
    DeviceLab measuring = lab({rule}, {builder_that("nvrtc 13.0"), std::nullopt}, patience);
    try {
      measuring.measure_rates();
    } catch (const UserError& problem) {
      return problem.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal("rates=hang", {.rates = milliseconds(300)}), HasSubstr("microbenchmarks: do not come to an end"));
  EXPECT_THAT(refusal("rates=throw", {}), HasSubstr("failed: the bus has fallen off"));
  EXPECT_THAT(refusal("rates=crash", {}), HasSubstr("ended with "));
}

TEST_F(DeviceLabTest, MeasuresWithOneWorker) {
  DeviceLab lab = this->lab({});
  EXPECT_EQ(lab.device(), (DeviceKey{90, 132, 60ULL << 20}));
  EXPECT_EQ(lab.environment().device_name, "NVIDIA H200");
  open(lab, {4, 2});
  EXPECT_THAT(lab.measure_peers(), ElementsAre(testing::Field(&Measurement::candidate, "cublas-fp32")));
  for (const int warps : {4, 2, 8}) {  // 8 was not announced
    const Measurement measurement = lab.measure(with_warps(warps), {});
    EXPECT_EQ(measurement.candidate, print(with_warps(warps)));
    EXPECT_EQ(measurement.builder, "nvrtc 13.0");
    EXPECT_THAT(measurement.digest, SizeIs(64));
    EXPECT_EQ(measurement.outcome, Outcome::ok);
    EXPECT_THAT(measurement.samples, AllOf(SizeIs(5), Each(warps)));
  }
  EXPECT_THAT(outcomes_of(lab.prepare_finalists({with_warps(2), with_warps(4)})), Each(Outcome::ok));
  EXPECT_THAT(lab.run_round(Edge::plain), ElementsAre(2, 4));
  EXPECT_THAT(lab.run_round(Edge::chain), ElementsAre(2, 4));
  EXPECT_THAT(events(), ElementsAre("start", "open", "peers", "measure 4", "measure 2", "measure 8", "open",
                                    "finalist 2", "finalist 4", "round", "chain"));
}

TEST_F(DeviceLabTest, TellsTheWorkerWhetherToCut) {
  DeviceLab lab({.program = ESC_FAKE_WORKER, .arguments = {log()}}, {builder_that("nvrtc 13.0"), std::nullopt}, 1, {},
                OccupancyCuts::on);
  open(lab);
  static_cast<void>(lab.measure(with_warps(2), {}));
  EXPECT_THAT(events(), Contains("measure with cuts 2"));
}

/// What a candidate does to its worker, and what is said of it.
struct Fault {
  const char* behaviour;
  Outcome outcome;
  const char* detail;
  bool worker_is_replaced;
};
void PrintTo(const Fault& fault, std::ostream* stream) { *stream << fault.behaviour; }

class FaultOfACandidate : public DeviceLabTest, public testing::WithParamInterface<Fault> {};

TEST_P(FaultOfACandidate, IsARowAndTheNextOneIsMeasured) {
  const Fault& fault = GetParam();
  DeviceLab lab = impatient_lab({std::string("measure 2=") + fault.behaviour});
  open(lab, {1, 2, 4});
  EXPECT_EQ(lab.measure(with_warps(1), {}).outcome, Outcome::ok);
  const Measurement failed = lab.measure(with_warps(2), {});
  EXPECT_EQ(failed.candidate, print(with_warps(2)));
  EXPECT_EQ(failed.builder, "nvrtc 13.0");
  EXPECT_THAT(failed.digest, SizeIs(64));
  EXPECT_EQ(failed.outcome, fault.outcome);
  EXPECT_THAT(failed.detail, HasSubstr(fault.detail));
  EXPECT_THAT(failed.samples, IsEmpty());
  const Measurement next = lab.measure(with_warps(4), {});
  EXPECT_EQ(next.outcome, Outcome::ok);
  EXPECT_THAT(next.samples, Each(4));
  EXPECT_THAT(events(), fault.worker_is_replaced
                            ? ElementsAre("start", "open", "measure 1", "measure 2", "start", "open", "measure 4")
                            : testing::Matcher<std::vector<std::string>>(
                                  ElementsAre("start", "open", "measure 1", "measure 2", "measure 4")));
}

TEST_P(FaultOfACandidate, IsARowOfTheFinalAndTheOthersMeet) {
  const Fault& fault = GetParam();
  DeviceLab lab = impatient_lab({std::string("finalist 2=") + fault.behaviour});
  open(lab);
  const auto finalists = lab.prepare_finalists({with_warps(1), with_warps(2), with_warps(4)});
  EXPECT_THAT(outcomes_of(finalists), ElementsAre(Outcome::ok, fault.outcome, Outcome::ok));
  EXPECT_THAT(finalists.at(1).detail, HasSubstr(fault.detail));
  EXPECT_EQ(finalists.at(1).candidate, print(with_warps(2)));
  EXPECT_THAT(lab.run_round(Edge::plain), ElementsAre(1, 4));
  EXPECT_THAT(lab.run_round(Edge::chain), ElementsAre(1, 4));
}

INSTANTIATE_TEST_SUITE_P(DeviceLab, FaultOfACandidate,
                         testing::Values(Fault{"hang", Outcome::timed_out, "no answer within 500 ms", true},
                                         Fault{"crash", Outcome::launch_failed, "ended with signal 11", true},
                                         Fault{"exit", Outcome::launch_failed, "ended with status 7", true},
                                         Fault{"device breaks", Outcome::launch_failed, "illegal memory access", true},
                                         Fault{"launch fails", Outcome::launch_failed, "illegal memory access", false},
                                         Fault{"wrong result", Outcome::wrong_result, "relative error", false},
                                         Fault{"throw", Outcome::launch_failed, "the bus has fallen off", true},
                                         Fault{"no memory", Outcome::launch_failed, "bad_alloc", true}));

TEST_F(DeviceLabTest, KeepsWhatIsRightAmongManyThatAreNot) {
  DeviceLab lab = impatient_lab({"measure 1=crash", "measure 2=hang", "measure 8=device breaks"});
  open(lab, {1, 2, 4, 8, 16});
  std::vector<Measurement> measurements;
  for (const int warps : {1, 2, 4, 8, 16}) {
    measurements.push_back(lab.measure(with_warps(warps), {}));
  }
  EXPECT_THAT(outcomes_of(measurements), ElementsAre(Outcome::launch_failed, Outcome::timed_out, Outcome::ok,
                                                     Outcome::launch_failed, Outcome::ok));
}

TEST_F(DeviceLabTest, FinalOfFinalistsThatAllFailHasNoRounds) {
  DeviceLab lab = this->lab({"finalist 1=crash", "finalist 2=exit"});
  open(lab);
  EXPECT_THAT(outcomes_of(lab.prepare_finalists({with_warps(1), with_warps(2)})), Each(Outcome::launch_failed));
  EXPECT_THAT(lab.run_round(Edge::plain), IsEmpty());
}

TEST_F(DeviceLabTest, FinalWithoutFinalists) {
  DeviceLab lab = this->lab({});
  open(lab);
  EXPECT_THAT(lab.prepare_finalists({}), IsEmpty());
}

class FaultOfARound : public DeviceLabTest, public testing::WithParamInterface<const char*> {};

TEST_P(FaultOfARound, EndsTheFinalAndNotTheRun) {
  DeviceLab lab = impatient_lab({std::string("round#3=") + GetParam()});
  open(lab);
  static_cast<void>(lab.prepare_finalists({with_warps(1), with_warps(2)}));
  EXPECT_THAT(lab.run_round(Edge::plain), ElementsAre(1, 2));
  EXPECT_THAT(lab.run_round(Edge::plain), ElementsAre(1, 2));
  EXPECT_THAT(lab.run_round(Edge::plain), IsEmpty());
  EXPECT_THAT(lab.run_round(Edge::plain), IsEmpty()) << "the finalists are gone with their worker";
  EXPECT_THAT(lab.run_round(Edge::chain), IsEmpty());
  open(lab, {4});
  EXPECT_EQ(lab.measure(with_warps(4), {}).outcome, Outcome::ok);
}

INSTANTIATE_TEST_SUITE_P(DeviceLab, FaultOfARound, testing::Values("hang", "crash", "exit", "throw"));

class FaultOfThePeers : public DeviceLabTest, public testing::WithParamInterface<Fault> {};

TEST_P(FaultOfThePeers, IsARowAndTheCandidatesAreMeasured) {
  const Fault& fault = GetParam();
  DeviceLab lab = impatient_lab({std::string("peers=") + fault.behaviour});
  open(lab, {1});
  const std::vector<Measurement> peers = lab.measure_peers();
  ASSERT_THAT(peers, SizeIs(1));
  EXPECT_EQ(peers.front().outcome, fault.outcome);
  EXPECT_THAT(peers.front().detail, HasSubstr(fault.detail));
  EXPECT_TRUE(record_of(peers.front(), item(), {}, Stage::search, Edge::plain).is_peer());
  EXPECT_EQ(lab.measure(with_warps(1), {}).outcome, Outcome::ok);
}

INSTANTIATE_TEST_SUITE_P(DeviceLab, FaultOfThePeers,
                         testing::Values(Fault{"hang", Outcome::timed_out, "no answer within 500 ms", true},
                                         Fault{"crash", Outcome::launch_failed, "signal 11", true},
                                         Fault{"throw", Outcome::launch_failed, "the bus has fallen off", true}));

TEST_F(DeviceLabTest, TakesUpAProductAgainAfterAnAccident) {
  DeviceLab lab = impatient_lab({"open#1=hang", "open#2=crash"});
  open(lab, {1});
  EXPECT_EQ(lab.measure(with_warps(1), {}).outcome, Outcome::ok);
  EXPECT_THAT(events(), ElementsAre("start", "open", "start", "open", "start", "open", "measure 1"));
}

TEST_F(DeviceLabTest, GivesUpAProductThatThreeWorkersHaveDiedOf) {
  DeviceLab lab = this->lab({"open=crash"});
  open(lab, {1});
  const UserError refusal = refusal_of([&] { static_cast<void>(lab.measure(with_warps(1), {})); });
  EXPECT_EQ(refusal.status(), ExitStatus::check_failed) << "the other items can still be tuned";
  EXPECT_THAT(refusal.what(), AllOf(HasSubstr("ffn1.smtx, bCol 32"), HasSubstr("3 processes in a row")));
  EXPECT_THAT(events(), ElementsAre("start", "open", "start", "open", "start", "open"));
}

TEST_F(DeviceLabTest, GoesOnWithTheNextProductAfterOneThatCannotBeTakenUp) {
  DeviceLab lab = this->lab({"open#1=throw", "open#2=no memory"});
  for (const std::string words : {"the bus has fallen off", "bad_alloc"}) {
    open(lab, {1});
    const UserError refusal = refusal_of([&] { static_cast<void>(lab.measure(with_warps(1), {})); });
    EXPECT_EQ(refusal.status(), ExitStatus::check_failed);
    EXPECT_THAT(refusal.what(), HasSubstr(words));
  }
  open(lab, {1});
  EXPECT_EQ(lab.measure(with_warps(1), {}).outcome, Outcome::ok);
  EXPECT_THAT(events(), ElementsAre("start", "open", "start", "open", "start", "open", "measure 1"));
}

TEST_F(DeviceLabTest, NeedsADevice) {
  const UserError refusal = refusal_of([&] { static_cast<void>(lab({"start=no device"})); });
  EXPECT_EQ(refusal.status(), ExitStatus::missing_tool);
  EXPECT_STREQ(refusal.what(), "there is no GPU here");
}

TEST_F(DeviceLabTest, NeedsAWorkerThatStarts) {
  for (const auto& [behaviour, words] :
       {std::pair("exit", "has ended with status 7"), std::pair("crash", "has ended with signal 11"),
        std::pair("hang", "does not answer")}) {
    SCOPED_TRACE(behaviour);
    const UserError refusal = refusal_of([&] {
      static_cast<void>(lab({std::string("start=") + behaviour}, {builder_that("nvrtc 13.0"), std::nullopt},
                            {.start = milliseconds(500)}));
    });
    EXPECT_EQ(refusal.status(), ExitStatus::missing_tool);
    EXPECT_THAT(refusal.what(), AllOf(HasSubstr(words), HasSubstr("nvidia-smi")));
  }
}

TEST_F(DeviceLabTest, NeedsTheWorkersProgram) {
  const UserError refusal = refusal_of([] {
    static_cast<void>(DeviceLab({.program = "/absent/worker"}, {builder_that("nvrtc 13.0"), std::nullopt}, 1));
  });
  EXPECT_EQ(refusal.status(), ExitStatus::missing_tool);
  EXPECT_THAT(refusal.what(), HasSubstr("/absent/worker"));
}

TEST_F(DeviceLabTest, EndsWhenTheDeviceIsLostInTheMiddle) {
  DeviceLab lab = this->lab({"measure 1=crash", "start#2=no device"});
  open(lab, {1, 2});
  EXPECT_EQ(lab.measure(with_warps(1), {}).outcome, Outcome::launch_failed);
  EXPECT_EQ(refusal_of([&] { static_cast<void>(lab.measure(with_warps(2), {})); }).status(), ExitStatus::missing_tool);
}

TEST_F(DeviceLabTest, BuildsFinalistsAsBundlesAreBuilt) {
  DeviceLab lab = this->lab({}, {builder_that("nvrtc 13.0"), builder_that("nvcc 13.0")});
  open(lab, {1});
  EXPECT_EQ(lab.measure(with_warps(1), {}).builder, "nvrtc 13.0");
  EXPECT_EQ(lab.prepare_finalists({with_warps(1)}).at(0).builder, "nvcc 13.0");
}

/// A whole night with one item of everything: the decision is between those that are right.
TEST_F(DeviceLabTest, TunesAnItemWhoseCandidatesMisbehave) {
  DeviceLab lab = this->lab({"peers=crash", "measure 1=hang", "measure 16=wrong result", "finalist 2=device breaks"},
                            {builder_that("nvrtc 13.0"), std::nullopt}, {.candidate = milliseconds(500)});
  std::vector<CandidateRecord> candidates;
  std::vector<DecisionRecord> decisions;
  const ItemPlan plan{item(),
                      {small_matrix(), std::make_shared<const LoopNest>(spmm_nest())},
                      {with_warps(1), with_warps(2), with_warps(4), with_warps(16)},
                      with_warps(8),
                      {}};
  const ItemEnd end = tune_item(plan, {}, lab, [&](const Record& record) {
    if (const auto* candidate = std::get_if<CandidateRecord>(&record)) {
      candidates.push_back(*candidate);
    } else {
      decisions.push_back(std::get<DecisionRecord>(record));
    }
  });
  EXPECT_EQ(end, ItemEnd::decided);
  std::map<std::string, Outcome> search;
  std::map<std::string, Outcome> final;
  for (const CandidateRecord& record : candidates) {
    (record.stage == Stage::search ? search : final)[record.candidate] = record.outcome;
  }
  EXPECT_EQ(search, (std::map<std::string, Outcome>{{"peers", Outcome::launch_failed},
                                                    {print(with_warps(1)), Outcome::timed_out},
                                                    {print(with_warps(2)), Outcome::ok},
                                                    {print(with_warps(4)), Outcome::ok},
                                                    {print(with_warps(8)), Outcome::ok},
                                                    {print(with_warps(16)), Outcome::wrong_result}}));
  EXPECT_EQ(final, (std::map<std::string, Outcome>{{print(with_warps(2)), Outcome::launch_failed},
                                                   {print(with_warps(4)), Outcome::ok},
                                                   {print(with_warps(8)), Outcome::ok}}));
  ASSERT_THAT(decisions, SizeIs(1));
  EXPECT_EQ(decisions.front().winner, print(with_warps(4)));
  EXPECT_EQ(decisions.front().verdict, Verdict::better);
}

/// Code that was built behind another prelude is another's, whatever the compiler calls itself.
TEST(MakeBuilders, KeepsCodeBySetupAndNamesTheCompilerWithoutIt) {
  const TemporaryFolder folder;
  const ObjectCache cache(folder.path());
  const KernelText text{.text = "text", .kernels = {"one"}, .architecture = 90};
  for (const auto& [setup, kept] : {std::pair("0123", 1), std::pair("0123", 1), std::pair("4567", 2)}) {
    BuildPool pool({.program = ESC_ECHO_WORKER, .arguments = {"build"}}, 1);
    const Builders builders = make_builders(pool, &cache, {.name = "nvrtc 13.0", .setup = setup});
    EXPECT_EQ(builders.search.name, "nvrtc 13.0");
    builders.search.build(text);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), kept);
  }
}

}  // namespace
}  // namespace esc::tuning
