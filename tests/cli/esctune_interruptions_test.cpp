// SPDX-License-Identifier: Apache-2.0
// A run that is killed, told to end, out of disk or not alone: what it has measured stays, and it goes on from there.

#include <fmt/format.h>

#include <csignal>

#include "tests/cli/tuner_workshop.h"

namespace esc::cli {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

/// So many that a run that nobody listens to gets stuck before its end.
constexpr int many_layers = 8;
/// Three finalists by plain and by programmatic edges.
constexpr std::size_t records_of_final = 6;

class EsctuneInterruptions : public TunerWorkshop {
 protected:
  void SetUp() override {
    TunerWorkshop::SetUp();
    add_layers(many_layers);
  }

  std::size_t lines_in(const std::string& journal) const { return records_in(journal).records.size(); }
};

TEST_F(EsctuneInterruptions, KillAtAnyMomentLosesAtMostTheCandidateInFlight) {
  run("whole.jsonl");
  for (const std::size_t lines : {1, 7, 40, 100}) {
    SCOPED_TRACE(lines);
    const std::string journal = fmt::format("killed{}.jsonl", lines);
    StuckRun killed(run_words(journal), path("."));
    killed.await_lines(path(journal), lines);
    killed.send(SIGKILL);
    EXPECT_EQ(killed.end().status, 128 + SIGKILL);
    // A part of a line may be at the end, whole lines before it.
    const tuning::JournalText left = tuning::parse_journal(read(journal), journal);
    EXPECT_THAT(left.damaged, IsEmpty());
    EXPECT_GE(left.records.size(), lines);

    const std::string before = read(journal).substr(0, read(journal).size() - left.unfinished.size());
    run(journal);
    EXPECT_THAT(read(journal), StartsWith(before)) << "what was measured stays as it is";
    EXPECT_TRUE(merged(journal) == merged("whole.jsonl"));
    // What is in flight may be a final: without the decision after its records it is held again as a whole.
    EXPECT_LE(lines_in(journal), lines_in("whole.jsonl") + records_of_final);
  }
}

TEST_F(EsctuneInterruptions, HalfALineAtTheEndIsRemoved) {
  run("whole.jsonl");
  const std::string whole = read("whole.jsonl");
  for (const std::size_t bytes : {whole.size() - 1, whole.size() - 300, whole.size() / 2, std::size_t{10}}) {
    SCOPED_TRACE(bytes);
    write("cut.jsonl", whole.substr(0, bytes));
    const ProcessResult result = esctune(run_words("cut.jsonl"));
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_THAT(result.errors, ContainsRegex("cut.jsonl: an unfinished line of [0-9]+ bytes was removed"));
    EXPECT_TRUE(merged("cut.jsonl") == merged("whole.jsonl"));
  }
}

TEST_F(EsctuneInterruptions, FinalWithoutItsDecisionIsHeldAgain) {
  run("whole.jsonl");
  const std::string whole = read("whole.jsonl");
  write("cut.jsonl", whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1));
  run("cut.jsonl");
  EXPECT_TRUE(merged("cut.jsonl") == merged("whole.jsonl"));
  EXPECT_EQ(lines_in("cut.jsonl"), lines_in("whole.jsonl") + records_of_final);
}

TEST_F(EsctuneInterruptions, RetryComesToItsFinalWhereverItWasKilled) {
  write("few.txt", "panel:ufi=1,columns=32,vector=4,groups=4,warps=8,panels=1,ufk=4,stage=off,pdl=on\n");
  const auto words = [](const std::string& journal, const std::string& space) {
    return std::vector<std::string>{"run",      "layers/layer00.smtx", "--bcol",  "32",      "--space", space,
                                    "--replay", "measured.jsonl",      "--retry", "missing", "-o",      journal};
  };
  EXPECT_EQ(esctune(words("whole.jsonl", "few.txt")).status, 0);
  const std::string begun = read("whole.jsonl");
  EXPECT_EQ(esctune(words("whole.jsonl", "space.txt")).status, 0);
  const std::string whole = read("whole.jsonl");
  ASSERT_GT(whole.size(), begun.size());
  for (std::size_t end = begun.size(); end != std::string::npos; end = whole.find('\n', end) + 1) {
    SCOPED_TRACE(end);
    write("cut.jsonl", whole.substr(0, end));
    const ProcessResult result = esctune(words("cut.jsonl", "space.txt"));
    EXPECT_EQ(result.status, 0) << result.errors;
    EXPECT_TRUE(merged("cut.jsonl") == merged("whole.jsonl"));
    if (end == whole.size()) {
      EXPECT_EQ(read("cut.jsonl"), whole) << "it is settled";
      break;
    }
  }
}

TEST_F(EsctuneInterruptions, MergeOntoAJournalThatIsBeingWrittenIsRefused) {
  StuckRun writer(run_words("night.jsonl"), path("."));
  writer.await_lines(path("night.jsonl"), 30);
  expect_refusal({"merge", "night.jsonl", "-o", "night.jsonl"}, "night.jsonl: is being written by another run");
  EXPECT_EQ(writer.end().status, 0);
  EXPECT_THAT(decided_in("night.jsonl"), SizeIs(2 * many_layers));
  EXPECT_EQ(esctune({"merge", "night.jsonl", "-o", "night.jsonl"}).status, 0);
}

TEST_F(EsctuneInterruptions, FileThatIsNoJournalIsLeftAsItIs) {
  for (const std::string text : {R"({"weights":{"a":1},"important":true})", "important", " ", "{\"algorithms\":1"}) {
    SCOPED_TRACE(text);
    write("config.json", text);
    expect_refusal(run_words("config.json"), "config.json: is no journal of esctune");
    expect_refusal({"layer", "layers/layer00.smtx", "--bcol", "32", "--replay", "measured.jsonl", "-o", "config.json"},
                   "config.json: is no journal of esctune");
    EXPECT_EQ(read("config.json"), text);
  }
}

TEST_F(EsctuneInterruptions, UnfinishedLineIsSaidByWhoeverLeavesItOut) {
  run("night.jsonl");
  const std::string whole = read("night.jsonl");
  write("cut.jsonl", whole.substr(0, whole.size() - 1));
  const ProcessResult merging = esctune({"merge", "cut.jsonl", "-o", "merged.jsonl"});
  EXPECT_EQ(merging.status, 0);
  EXPECT_THAT(merging.errors, ContainsRegex("left out: cut.jsonl: an unfinished line of [0-9]+ bytes"));
  const ProcessResult layer = esctune({"layer", "layers/layer00.smtx", "--bcol", "32", "--space", "space.txt",
                                       "--replay", "measured.jsonl", "-o", "cut.jsonl"});
  EXPECT_EQ(layer.status, 0) << layer.errors;
  EXPECT_THAT(layer.errors, ContainsRegex("cut.jsonl: an unfinished line of [0-9]+ bytes was removed"));
}

class SignalToStop : public EsctuneInterruptions, public testing::WithParamInterface<int> {};

TEST_P(SignalToStop, FinishesTheCandidateAndSaysHowToGoOn) {
  run("whole.jsonl");
  StuckRun stopped(run_words("night.jsonl"), path("."));
  stopped.await_lines(path("night.jsonl"), 20);
  stopped.send(GetParam());
  const ProcessResult result = stopped.end();
  EXPECT_EQ(result.status, 128 + GetParam());
  EXPECT_THAT(result.errors, HasSubstr(fmt::format(
                                 "esctune: stopped by signal {}; the same command goes on from there\n", GetParam())));
  EXPECT_THAT(result.output, ContainsRegex("[1-9][0-9]* left"));
  EXPECT_LT(decided_in("night.jsonl").size(), std::size_t{2} * many_layers);
  const std::string before = read("night.jsonl");
  run("night.jsonl");
  EXPECT_THAT(read("night.jsonl"), StartsWith(before));
  EXPECT_TRUE(merged("night.jsonl") == merged("whole.jsonl"));
  EXPECT_EQ(lines_in("night.jsonl"), lines_in("whole.jsonl")) << "nothing was measured twice";
}

INSTANTIATE_TEST_SUITE_P(EsctuneInterruptions, SignalToStop, testing::Values(SIGINT, SIGTERM));

TEST_F(EsctuneInterruptions, SecondWriterIsRefused) {
  StuckRun first(run_words("night.jsonl"), path("."));
  first.await_lines(path("night.jsonl"), 1);
  expect_refusal(run_words("night.jsonl"), "night.jsonl: is being written by another run; wait for its end");
  expect_refusal({"layer", "layers/layer00.smtx", "--bcol", "32", "--replay", "measured.jsonl", "-o", "night.jsonl"},
                 "night.jsonl: is being written by another run");
  EXPECT_EQ(first.end().status, 0);
  EXPECT_THAT(decided_in("night.jsonl"), SizeIs(2 * many_layers));
  // Readers may look at any time, and the lock ends with its holder.
  run("night.jsonl");
}

TEST_F(EsctuneInterruptions, JournalOfAnotherWriterCanBeRead) {
  StuckRun writer(run_words("night.jsonl"), path("."));
  writer.await_lines(path("night.jsonl"), 30);
  EXPECT_EQ(esctune({"show", "night.jsonl"}).status, 0);
  EXPECT_EQ(esctune({"merge", "night.jsonl", "-o", "so-far.jsonl"}).status, 0);
  EXPECT_EQ(writer.end().status, 0);
}

TEST_F(EsctuneInterruptions, FullDiskLeavesWholeLines) {
  run("whole.jsonl");
  for (const int kilobytes : {1, 3, 64, 150}) {
    SCOPED_TRACE(kilobytes);
    const std::string journal = fmt::format("full{}.jsonl", kilobytes);
    const ProcessResult full = shell(fmt::format("ulimit -f {}; exec $RUN -o {}", kilobytes, journal));
    EXPECT_EQ(full.status, 2);
    EXPECT_THAT(full.errors, AllOf(HasSubstr("esctune: " + journal + ": cannot be written: File too large"),
                                   HasSubstr("the same command goes on from there")));
    static_cast<void>(records_in(journal));
    run(journal);
    EXPECT_TRUE(merged(journal) == merged("whole.jsonl"));
  }
}

TEST_F(EsctuneInterruptions, FullDiskLeavesNoPartOfOtherFiles) {
  run("night.jsonl");
  for (const std::string command : {"merge night.jsonl -o out", "report night.jsonl -o out"}) {
    const ProcessResult full = shell("ulimit -f 1; exec $ESCTUNE " + command);
    EXPECT_EQ(full.status, 2);
    EXPECT_THAT(full.errors, StartsWith("esctune: out: cannot be written: File too large"));
    EXPECT_FALSE(std::filesystem::exists(path("out")));
  }
}

TEST_F(EsctuneInterruptions, DamagedLineIsNamed) {
  run("night.jsonl");
  const std::string whole = read("night.jsonl");
  const std::size_t second = whole.find('\n') + 1;
  const std::size_t third = whole.find('\n', second) + 1;
  const std::string line = whole.substr(second, third - second);
  std::string flipped = line;
  flipped.replace(flipped.find("\"candidate\""), 11, "\"candidates");
  const std::vector<std::pair<std::string, std::string>> damages{
      {"not JSON\n", "is not JSON"},
      {"\n", "is not JSON"},
      {std::string(1, '\0') + "\n", "is not JSON"},
      {line.substr(0, line.size() / 2) + "\n", "is not JSON"},
      {"[]\n", "lacks a field"},
      {"{}\n", "lacks a field"},
      {R"({"format":999,"record":"candidate"})"
       "\n",
       "has format 999; this program reads format 1"},
      {flipped, ""},
  };
  for (const auto& [damage, words] : damages) {
    SCOPED_TRACE(damage);
    write("night.jsonl", whole.substr(0, second) + damage + whole.substr(third));
    for (const std::vector<std::string>& command : {run_words("night.jsonl"),
                                                    {"show", "night.jsonl"},
                                                    {"report", "night.jsonl", "-o", "out"},
                                                    {"publish", "night.jsonl", "-o", "out"},
                                                    {"merge", "night.jsonl", "-o", "out"}}) {
      expect_refusal(command, "night.jsonl:2: " + words);
    }
    const ProcessResult mended = esctune({"merge", "night.jsonl", "-o", "mended", "--skip-damaged"});
    EXPECT_EQ(mended.status, 0);
    EXPECT_THAT(mended.errors, HasSubstr("left out: night.jsonl:2: "));
    static_cast<void>(records_in("mended"));
  }
  // The candidate that was left out is measured again, if it is one of an item that is not decided.
  EXPECT_EQ(esctune(run_words("mended")).status, 0);
  EXPECT_THAT(decided_in("mended"), SizeIs(2 * many_layers));
}

}  // namespace
}  // namespace esc::cli
