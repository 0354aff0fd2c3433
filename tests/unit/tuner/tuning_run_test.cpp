// SPDX-License-Identifier: Apache-2.0
#include "tuner/run/tuning_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <latch>

#include "generator/support/error.h"
#include "generator/support/file.h"
#include "generator/support/spawn.h"
#include "generator/support/temporary_folder.h"
#include "tests/unit/tuner/tuning_records.h"
#include "tests/unit/tuner/watched_lab.h"
#include "tuner/records/record_text.h"
#include "tuner/run/layer_list.h"
#include "tuner/run/stop_signals.h"

namespace esc::tuning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;

constexpr std::size_t candidates_of_item = 3;  ///< the incumbent among them

/// What an observer was told.
struct Told {
  std::size_t expected = 0;
  std::size_t measured = 0;
  std::vector<std::string> decided;  ///< patterns, in any order
  std::vector<std::string> failed;

  RunObserver observer() {
    return {.expects = [this](std::size_t candidates) { expected += candidates; },
            .measured = [this](std::size_t candidates, const std::string&) { measured += candidates; },
            .decided = [this](const DecisionRecord& decision) { decided.push_back(decision.item.layer.pattern); },
            .failed = [this](const std::string& problem) { failed.push_back(problem); }};
  }
};

/// Layers on the disk, and a device that has measured all of them.
class TuningRunTest : public testing::Test {
 protected:
  /// Adds a layer, with a column more than the one before; the patterns are what the test calls them.
  void add(const std::string& pattern) {
    WorkItem item = item_of_pattern(pattern);
    item.layer.file = (folder_.path() / (pattern + ".smtx")).string();
    item.layer.rows = 2;
    item.layer.nonzeros = 2;
    item.layer.columns = 2 + static_cast<std::int64_t>(request_.items.size());
    write_file_whole(item.layer.file, "2, " + std::to_string(item.layer.columns) + ", 2\n0 1 2\n0 1\n");
    request_.items.push_back({item.layer, item.bcol});
    device_.emplace_back(steady(item, numbered_text(1), 10));
    device_.emplace_back(steady(item, numbered_text(2), 9));
    device_.emplace_back(steady(item, numbered_text(3), 12));
    device_.emplace_back(steady(item, "cusparse", 15));
  }

  RunRequest& request() { return request_; }
  std::filesystem::path file() const { return folder_.path() / "journal.jsonl"; }
  std::vector<Record> records() const { return read_records({file().string()}); }

  LabFactory lab(std::function<void(const WorkItem&, const SparseMatrix*)> when_opened = {}) {
    return [this, when_opened] {
      auto lab = std::make_unique<WatchedLab>(device_);
      lab->when_opened = when_opened;
      return lab;
    };
  }

  RunSummary run(const std::vector<LabFactory>& labs, const StopRequest& stop = [] { return false; }) {
    Journal journal(file());
    return run_tuning(request_, labs, journal, told.observer(), stop);
  }

  Told told;

 private:
  TemporaryFolder folder_;
  std::vector<Record> device_;
  RunRequest request_{
      .items = {},
      .search = {},
      .candidates = [](const WorkItem&) { return std::vector{numbered_schedule(2), numbered_schedule(3)}; },
      .incumbent = [](const WorkItem&) { return numbered_schedule(1); }};
};

std::size_t decisions_in(const std::vector<Record>& records) {
  return static_cast<std::size_t>(std::ranges::count_if(
      records, [](const Record& record) { return std::holds_alternative<DecisionRecord>(record); }));
}

TEST_F(TuningRunTest, OfNoItemsDoesNothing) {
  add("a");
  request().items.clear();
  const RunSummary summary = run({lab()});
  EXPECT_EQ(summary.decided + summary.known + summary.failed + summary.left, 0U);
  EXPECT_THAT(records(), IsEmpty());
}

TEST_F(TuningRunTest, DecidesEveryItem) {
  add("a");
  add("b");
  const RunSummary summary = run({lab()});
  EXPECT_EQ(summary.decided, 2U);
  EXPECT_EQ(summary.left, 0U);
  EXPECT_EQ(summary.outcomes.at(Outcome::ok), 2 * (1 + candidates_of_item + 2 * candidates_of_item))
      << "a peer, the search, and a final by either edge";
  EXPECT_THAT(told.decided, ElementsAre("a", "b"));
  EXPECT_EQ(told.measured, 2 * candidates_of_item);
  for (const auto& [key, results] : group_by_item(records())) {
    EXPECT_EQ(results.decision->winner, numbered_text(2));
  }
}

/// What has won it cannot be made any more.
TEST_F(TuningRunTest, DecidesAnewWhatAGoneScheduleHasWon) {
  add("a");
  const WorkItem item = item_for(request(), request().items.front(), item_of_pattern("a").device);
  const std::string gone = "stream:tile=64x256x1,warps=8";
  {
    Journal journal(file());
    journal.write(Record(steady(item, gone, 1)));
    journal.write(
        Record(DecisionRecord{.environment = {}, .item = item, .winner = gone, .incumbent = gone, .fastest_peer = {}}));
  }
  EXPECT_EQ(run({lab()}).decided, 1U);
  const std::vector<Record> written = records();
  ASSERT_EQ(decisions_in(written), 2U) << "what was in the journal stays there";
  EXPECT_EQ(std::get<DecisionRecord>(written.back()).winner, numbered_text(2));
  EXPECT_EQ(run({lab()}).known, 1U);
}

TEST_F(TuningRunTest, GivesALabTheMatrixOfEachItem) {
  add("a");
  add("b");
  request().items.push_back(request().items.front());
  request().items.back().bcol = 64;
  std::vector<std::int64_t> columns;
  run({lab([&](const WorkItem&, const SparseMatrix* matrix) { columns.push_back(matrix->columns); })});
  EXPECT_THAT(columns, ElementsAre(2, 3, 2));
}

TEST_F(TuningRunTest, SharesTheItemsBetweenLabs) {
  for (const char* pattern : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    add(pattern);
  }
  // Neither lab goes on before the other has an item, too.
  std::latch both(2);
  const auto lab_that_waits = [&](std::vector<std::string>& opened) {
    return lab([&](const WorkItem& item, const SparseMatrix*) {
      if (opened.empty()) {
        both.arrive_and_wait();
      }
      opened.push_back(item.layer.pattern);
    });
  };
  std::vector<std::string> first;
  std::vector<std::string> second;
  const RunSummary summary = run({lab_that_waits(first), lab_that_waits(second)});
  EXPECT_EQ(summary.decided, 8U);
  EXPECT_THAT(told.decided, UnorderedElementsAre("a", "b", "c", "d", "e", "f", "g", "h"));
  EXPECT_EQ(decisions_in(records()), 8U);
  EXPECT_EQ(first.size() + second.size(), 8U);
  EXPECT_FALSE(first.empty() || second.empty());
}

TEST_F(TuningRunTest, GoesOnBehindAnItemThatCannotBeTuned) {
  for (const char* pattern : {"a", "b", "c"}) {
    add(pattern);
  }
  const RunSummary summary = run({lab([](const WorkItem& item, const SparseMatrix*) {
    if (item.layer.pattern == "b") {
      throw UserError("the GPU", "cannot take up the layer", "", ExitStatus::check_failed);
    }
  })});
  EXPECT_EQ(summary.decided, 2U);
  EXPECT_EQ(summary.failed, 1U);
  EXPECT_EQ(summary.left, 0U);
  EXPECT_THAT(told.failed,
              ElementsAre(testing::AllOf(HasSubstr("b.smtx, bCol 32"), HasSubstr("cannot take up the layer"))));
  EXPECT_EQ(run({lab()}).decided, 1U) << "the next run tries it again";
}

TEST_F(TuningRunTest, GoesOnBehindAMatrixThatIsNotThereAnyMore) {
  for (const char* pattern : {"a", "b", "c"}) {
    add(pattern);
  }
  std::filesystem::remove(request().items[1].layer.file);
  const RunSummary summary = run({lab()});
  EXPECT_EQ(summary.decided, 2U);
  EXPECT_EQ(summary.failed, 1U);
  EXPECT_THAT(told.failed, ElementsAre(HasSubstr("b.smtx")));
}

TEST_F(TuningRunTest, EndsWithTheErrorOfALabThatCannotStart) {
  for (int number = 0; number < 50; ++number) {
    add(std::to_string(number));
  }
  std::latch begun(1);
  bool has_begun = false;
  const LabFactory working = lab([&](const WorkItem&, const SparseMatrix*) {
    if (!std::exchange(has_begun, true)) {
      begun.count_down();
    }
  });
  const LabFactory broken = [&]() -> std::unique_ptr<Lab> {
    begun.wait();
    throw UserError("the GPU", "has gone", "", ExitStatus::missing_tool);
  };
  try {
    run({working, broken});
    FAIL() << "a run without one of its labs comes to its end";
  } catch (const UserError& problem) {
    EXPECT_EQ(problem.status(), ExitStatus::missing_tool);
  }
  EXPECT_LT(decisions_in(records()), 50U) << "the other lab has stopped, too";
  EXPECT_NO_THROW(run({lab()})) << "and the journal can be gone on with";
  EXPECT_EQ(decisions_in(records()), 50U);
}

TEST_F(TuningRunTest, EndsWithTheErrorOfALabThatBreaks) {
  add("a");
  add("b");
  EXPECT_THROW(run({lab([](const WorkItem& item, const SparseMatrix*) {
                 if (item.layer.pattern == "b") {
                   throw UserError("the GPU", "has gone", "", ExitStatus::missing_tool);
                 }
               })}),
               UserError);
  EXPECT_EQ(decisions_in(records()), 1U);
}

/// Whenever it is stopped, the next run does the rest, and both together write what one would have.
TEST_F(TuningRunTest, GoesOnWhereItWasStopped) {
  add("a");
  add("b");
  run({lab()});
  const std::vector<Record> expected = records();
  for (int patience = 0; patience < 14; ++patience) {
    std::filesystem::remove(file());
    told = {};
    int asked = 0;
    const RunSummary first = run({lab()}, [&] { return asked++ >= patience; });
    EXPECT_EQ(first.decided + first.left, 2U);
    EXPECT_EQ(first.decided, decisions_in(records()));
    const RunSummary second = run({lab()});
    EXPECT_EQ(second.known, first.decided);
    EXPECT_EQ(second.decided, first.left);
    EXPECT_EQ(second.left, 0U);
    EXPECT_EQ(records(), expected) << "stopped at question " << patience;
  }
}

TEST_F(TuningRunTest, LeavesEverythingWhereItIsStoppedAtOnce) {
  add("a");
  add("b");
  const RunSummary summary = run({lab()}, [] { return true; });
  EXPECT_EQ(summary.left, 2U);
  EXPECT_THAT(records(), IsEmpty());
}

TEST_F(TuningRunTest, MeasuresOnlyALayerThatWasAdded) {
  add("a");
  run({lab()});
  const std::vector<Record> before = records();
  add("b");
  std::vector<std::string> opened;
  const RunSummary summary =
      run({lab([&](const WorkItem& item, const SparseMatrix*) { opened.push_back(item.layer.pattern); })});
  EXPECT_THAT(opened, ElementsAre("b"));
  EXPECT_EQ(summary.known, 1U);
  EXPECT_EQ(summary.decided, 1U);
  const std::vector<Record> after = records();
  EXPECT_THAT(after, SizeIs(2 * before.size()));
  EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
}

TEST_F(TuningRunTest, TakesAMovedFileAndAnotherCacheStateForWhatTheyAre) {
  add("a");
  run({lab()});
  request().items.front().layer.file += ".moved";
  EXPECT_EQ(run({lab()}).known, 1U) << "a layer is known by its pattern";
  request().cache = CacheState::cold;
  EXPECT_EQ(run({lab()}, [] { return true; }).left, 1U);
}

TEST_F(TuningRunTest, TriesAgainOnlyItemsWithFailures) {
  add("a");
  add("b");
  run({lab()});
  {
    Journal journal(file());
    WorkItem item = item_of_pattern("b");
    journal.write(unmeasured(item, numbered_text(4), Outcome::timed_out));
  }
  request().retry = Retry::failed;
  const RunSummary summary = run({lab()});
  EXPECT_EQ(summary.known, 1U) << "nothing of the first item has failed";
  EXPECT_EQ(summary.decided, 1U);
}

TEST_F(TuningRunTest, GoesOnWithItemsThatLackCandidates) {
  add("a");
  run({lab()});
  const std::size_t before = records().size();
  request().retry = Retry::missing;
  EXPECT_EQ(run({lab()}).known, 1U) << "it has all of them";
  const auto candidates = request().candidates;
  request().candidates = [candidates](const WorkItem& item) {
    std::vector<Schedule> more = candidates(item);
    more.push_back(parse_schedule(numbered_text(7)));
    return more;
  };
  EXPECT_EQ(run({lab()}).decided, 1U);
  EXPECT_GT(records().size(), before);
  EXPECT_EQ(run({lab()}).known, 1U) << "now it has";
}

TEST(StopSignals, KeepASignalForTheProgramToAskFor) {
  {
    const StopSignals signals;
    EXPECT_EQ(signals.received(), 0);
    ASSERT_EQ(::raise(SIGTERM), 0);
    EXPECT_EQ(signals.received(), SIGTERM);
  }
  const StopSignals again;
  EXPECT_EQ(again.received(), 0);
}

TEST(StopSignals, LetASecondSignalEndTheProgram) {
  const pid_t program = ::fork();
  if (program == 0) {
    const StopSignals signals;
    ::raise(SIGINT);
    ::raise(SIGINT);
    ::_exit(0);
  }
  EXPECT_EQ(wait_for_end(program), 128 + SIGINT);
}

TEST(StopSignals, AreWhatTheyWereAfterwards) {
  ASSERT_NE(std::signal(SIGINT, SIG_IGN), SIG_ERR);
  {
    const StopSignals signals;
  }
  EXPECT_EQ(std::signal(SIGINT, SIG_DFL), SIG_IGN);
}

}  // namespace
}  // namespace esc::tuning
