// SPDX-License-Identifier: Apache-2.0
// esctune run and layer on a recorded device: what they measure, print and leave in the journal.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "tests/cli/tuner_workshop.h"

namespace esc::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using tuning::CandidateRecord;
using tuning::Outcome;
using tuning::Record;

class EsctuneRun : public TunerWorkshop {
 protected:
  void SetUp() override {
    TunerWorkshop::SetUp();
    add_layers(3);
  }

  /// All items of the three layers.
  std::multiset<std::string> all_items() const {
    return {"layer00/32", "layer00/64", "layer01/32", "layer01/64", "layer02/32", "layer02/64"};
  }

  /// The items that a run with these words decides, in a journal of its own.
  std::multiset<std::string> items_of_run(const std::vector<std::string>& more,
                                          const std::vector<std::string>& environment = {}) {
    const std::string journal = fmt::format("part{}.jsonl", ++parts_);
    run(journal, more, environment);
    return decided_in(journal);
  }

 private:
  int parts_ = 0;
};

TEST_F(EsctuneRun, DecidesEachItemOnce) {
  EXPECT_THAT(run("night.jsonl"), StartsWith("6 items decided, 0 known before, 0 failed, 0 left\n"));
  EXPECT_EQ(decided_in("night.jsonl"), all_items());
  for (const Record& record : records_in("night.jsonl").records) {
    if (const auto* decision = std::get_if<tuning::DecisionRecord>(&record)) {
      EXPECT_THAT(decision->winner, HasSubstr("panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4, "));
      EXPECT_EQ(decision->fastest_peer, "cublas-fp32");
      EXPECT_FALSE(decision->peer_wins);
    }
  }
}

TEST_F(EsctuneRun, MeasuresNothingTwice) {
  run("night.jsonl");
  const std::string before = read("night.jsonl");
  EXPECT_THAT(run("night.jsonl"), StartsWith("0 items decided, 6 known before, 0 failed, 0 left\n"));
  EXPECT_TRUE(read("night.jsonl") == before);

  add_layer(3);
  EXPECT_THAT(run("night.jsonl"), StartsWith("2 items decided, 6 known before, 0 failed, 0 left\n"));
  EXPECT_THAT(read("night.jsonl"), StartsWith(before));
  EXPECT_THAT(read("night.jsonl").substr(before.size()), Not(HasSubstr("layer00")));
}

TEST_F(EsctuneRun, IsTheSameEveryTime) {
  run("a.jsonl");
  run("b.jsonl");
  EXPECT_TRUE(read("a.jsonl") == read("b.jsonl"));
}

TEST_F(EsctuneRun, TakesAColumnNumberOnceThatIsGivenTwice) {
  EXPECT_EQ(esctune({"run", "layers", "layers/layer00.smtx", "--bcol", "32,32", "--space", "space.txt", "--replay",
                     "measured.jsonl", "-o", "night.jsonl"})
                .status,
            0);
  EXPECT_EQ(decided_in("night.jsonl"), (std::multiset<std::string>{"layer00/32", "layer01/32", "layer02/32"}));
}

TEST_F(EsctuneRun, MeasuresWhatHasFailedAgainWhereAsked) {
  run("night.jsonl");
  const std::size_t before = records_in("night.jsonl").records.size();
  run("night.jsonl", {"--retry", "failed"});
  const auto after = records_in("night.jsonl").records;
  ASSERT_GT(after.size(), before);
  for (std::size_t number = before; number < after.size(); ++number) {
    if (const auto* again = std::get_if<CandidateRecord>(&after[number]);
        again != nullptr && again->stage == tuning::Stage::search) {
      EXPECT_NE(again->outcome, Outcome::ok) << again->candidate;
    }
  }
}

TEST_F(EsctuneRun, PrintsASummaryForMachines) {
  const json summary = json::parse(run("night.jsonl", {"--json"}));
  EXPECT_EQ(summary.at("decided"), 6);
  EXPECT_EQ(summary.at("left"), 0);
  EXPECT_EQ(summary.at("outcomes").at("launch-failed"), 6);
  EXPECT_GT(summary.at("outcomes").at("ok"), 6 * 3);
  EXPECT_EQ(json::parse(run("night.jsonl", {"--json", "--quiet"})).at("known"), 6);
}

TEST_F(EsctuneRun, SaysNothingBesideTheSummaryWhenQuiet) {
  const ProcessResult quiet = esctune(run_words("night.jsonl", {"--quiet"}));
  EXPECT_EQ(quiet.status, 0);
  EXPECT_EQ(quiet.errors, "");
  EXPECT_THAT(quiet.output, StartsWith("6 items decided"));
}

TEST_F(EsctuneRun, ReadsAListOfMatricesBesideIt) {
  fs::create_directory(path("lists"));
  write("lists/night.txt", "# two of three\n../layers/layer00.smtx\n\n  ../layers/layer02.smtx  # the last\n");
  const ProcessResult result = esctune({"run", "--matrices", "lists/night.txt", "--bcol", "32", "--space", "space.txt",
                                        "--replay", "measured.jsonl", "-o", "night.jsonl"});
  EXPECT_EQ(result.status, 0) << result.errors;
  EXPECT_EQ(decided_in("night.jsonl"), (std::multiset<std::string>{"layer00/32", "layer02/32"}));
}

TEST_F(EsctuneRun, SplitsTheItemsAmongShards) {
  const auto first = items_of_run({"--shard", "0/2"});
  const auto second = items_of_run({"--shard", "1/2"});
  EXPECT_THAT(first, Not(IsEmpty()));
  EXPECT_THAT(second, Not(IsEmpty()));
  std::multiset<std::string> both = first;
  both.insert(second.begin(), second.end());
  EXPECT_EQ(both, all_items());
  // An array of Slurm may begin at 1; Kubernetes does not tell how many pods there are.
  EXPECT_EQ(items_of_run({"--shard", "auto"},
                         {"SLURM_ARRAY_TASK_ID=2", "SLURM_ARRAY_TASK_COUNT=2", "SLURM_ARRAY_TASK_MIN=1"}),
            second);
  EXPECT_EQ(items_of_run({"--shard", "auto"}, {"JOB_COMPLETION_INDEX=0", "ESC_SHARD_COUNT=2"}), first);
}

TEST_F(EsctuneRun, UnitesShardsToWhatOneRunLeaves) {
  run("whole.jsonl");
  run("first.jsonl", {"--shard", "0/2"});
  run("second.jsonl", {"--shard", "1/2"});
  EXPECT_EQ(esctune({"merge", "second.jsonl", "first.jsonl", "-o", "united.jsonl"}).status, 0);
  EXPECT_TRUE(read("united.jsonl") == merged("whole.jsonl"));
}

TEST_F(EsctuneRun, EndsWithItsBudgetAndGoesOn) {
  const ProcessResult stopped = esctune(run_words("night.jsonl", {"--budget", "0.000001s"}));
  EXPECT_EQ(stopped.status, 0);
  EXPECT_THAT(stopped.output, StartsWith("0 items decided, 0 known before, 0 failed, 6 left\n"));
  EXPECT_EQ(stopped.errors, "esctune: stopped at the end of --budget; the same command goes on from there\n");
  EXPECT_THAT(run("night.jsonl", {"--budget", "2h"}), StartsWith("6 items decided"));
}

TEST_F(EsctuneRun, DoesTheOthersWhereAMatrixIsUnreadable) {
  write("layers/broken.smtx", "3, 3, 9\n0 1\n");
  write("layers/empty.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 0\n");
  const ProcessResult result = esctune(run_words("night.jsonl"));
  EXPECT_EQ(result.status, 2);
  EXPECT_THAT(result.errors, AllOf(HasSubstr("layers/broken.smtx"), HasSubstr("layers/empty.mtx")));
  EXPECT_EQ(decided_in("night.jsonl"), all_items());

  // One that is readable and has nothing to tune for is no failure.
  fs::remove(path("layers/broken.smtx"));
  EXPECT_EQ(esctune(run_words("night.jsonl")).status, 0);
}

TEST_F(EsctuneRun, SaysWhatIsWrongWithAMatrixWhenQuiet) {
  write("layers/broken.smtx", "3, 3, 9\n0 1\n");
  write("layers/empty.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 0\n");
  const ProcessResult quiet = esctune(run_words("night.jsonl", {"--quiet"}));
  EXPECT_EQ(quiet.status, 2);
  EXPECT_THAT(quiet.errors, AllOf(StartsWith("esctune: layers/broken.smtx"), Not(HasSubstr("empty.mtx"))));
}

/// The run has read all layers when it says what is wrong with the first broken one, and cannot go on before the
/// others, which are too many for a pipe, are listened to. In between a layer is taken away.
TEST_F(EsctuneRun, SaysWhichItemHasFailedWhenQuiet) {
  for (int number = 100; number < 600; ++number) {
    write(fmt::format("layers/{}{}.smtx", std::string(200, 'x'), number), "broken");
  }
  const ProcessResult quiet = shell(
      "mkfifo said; { $RUN -o night.jsonl --quiet 2>said; echo $? >status; } & exec 3<said; read -r first <&3; "
      "echo gone >layers/layer00.smtx; cat <&3 >rest; wait");
  EXPECT_EQ(read("status"), "1\n");
  EXPECT_THAT(quiet.output, StartsWith("4 items decided, 0 known before, 2 failed, 0 left\n"));
  for (const char* item : {"layers/layer00.smtx, bCol 32", "layers/layer00.smtx, bCol 64"}) {
    EXPECT_THAT(read("rest"), HasSubstr(fmt::format("\nesctune: {}: layers/layer00.smtx", item)));
  }
}

TEST_F(EsctuneRun, EmitsAScriptThatTellsItsTasksTheSame) {
  const std::string begin = "exec esctune run --shard auto --output night.\"${SLURM_ARRAY_TASK_ID}\".jsonl ";
  const auto line_of_task = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--emit", "slurm"});
    const std::string script = esctune(words).output;
    const std::size_t place = script.find(begin) + begin.size();
    return script.substr(place, script.find('\n', place) - place);
  };
  const std::vector<std::vector<std::string>> outputs{
      {"-o", "night.jsonl"}, {"-onight.jsonl"}, {"--output", "night.jsonl"}, {"--output=night.jsonl"}};
  for (const std::vector<std::string>& output : outputs) {
    std::vector<std::string> words{"run", "layers", "--bcol", "32"};
    words.insert(words.end(), output.begin(), output.end());
    EXPECT_EQ(line_of_task(words), "layers --bcol 32") << output.front();
  }
  EXPECT_EQ(line_of_task({"run", "layers", "--bcol", "32", "-qo", "night.jsonl"}), "layers --bcol 32 -q");
  EXPECT_EQ(line_of_task({"run", "layers", "--bcol", "32", "-qonight.jsonl"}), "layers --bcol 32 -q");
  EXPECT_EQ(line_of_task({"-q", "run", "run", "-vo", "night.jsonl", "--bcol=32"}), "run -q -v '--bcol=32'");
  EXPECT_EQ(line_of_task({"run", "a", "--bcol", "32,64", "-o", "night.jsonl", "b", "--tasks", "2", "c", "--cold"}),
            "a b c --bcol 32,64 --cold")
      << "--bcol must not take what stands behind other options";
}

TEST_F(EsctuneRun, EmitsAJobOfKubernetes) {
  const ProcessResult job = esctune({"run", "layers", "--bcol", "32", "--emit", "k8s", "--image", "esctune:1",
                                     "--claim", "records", "--tasks", "2", "-o", "night.jsonl", "--cold"});
  EXPECT_EQ(job.status, 0) << job.errors;
  EXPECT_THAT(job.output, HasSubstr("exec esctune run --shard auto --output night.\\\"$JOB_COMPLETION_INDEX\\\".jsonl "
                                    "layers --bcol 32 --cold\"\n"));
}

TEST_F(EsctuneRun, EmitsAScriptWithTheNamesBehindTheOptions) {
  const ProcessResult script =
      esctune({"run", "--bcol", "32", "--emit", "slurm", "-o", "n.jsonl", "--", "-w.smtx", "--output", "-o"});
  EXPECT_EQ(script.status, 0) << script.errors;
  EXPECT_THAT(script.output, HasSubstr("run --shard auto --output n.\"${SLURM_ARRAY_TASK_ID}\".jsonl --bcol 32 -- "
                                       "-w.smtx --output -o\n"));
}

/// With a stand-in for sbatch that runs at once what it is given.
TEST_F(EsctuneRun, EmitsAScriptThatKeepsWhatItsOutputHolds) {
  run("whole.jsonl");
  ASSERT_EQ(esctune({"run", "layers", "--bcol", "64", "--space", "space.txt", "--replay", "measured.jsonl", "-o",
                     "night.jsonl"})
                .status,
            0);
  write("sbatch", "#!/bin/bash\nSLURM_ARRAY_TASK_ID=0 SLURM_ARRAY_TASK_COUNT=1 bash -s >&2\necho 7\n");
  const ProcessResult job = shell(
      "chmod +x sbatch && $ESCTUNE run layers --bcol 32 --space space.txt --replay measured.jsonl -o night.jsonl "
      "--emit slurm --tasks 1 --program $ESCTUNE >script && PATH=$PWD:$PATH bash script");
  EXPECT_EQ(job.status, 0) << job.errors;
  EXPECT_EQ(decided_in("night.jsonl"), all_items());
  EXPECT_TRUE(read("night.jsonl") == merged("whole.jsonl"));
}

TEST_F(EsctuneRun, TakesEqualPatternsForOneLayer) {
  write("layers/layer01.smtx", read("layers/layer00.smtx"));
  EXPECT_EQ(esctune(run_words("night.jsonl")).status, 0);
  EXPECT_EQ(decided_in("night.jsonl"),
            (std::multiset<std::string>{"layer00/32", "layer00/64", "layer02/32", "layer02/64"}));
}

TEST_F(EsctuneRun, RecordsWhatTheDeviceHasNotMeasuredAsSkipped) {
  write("space.txt", read("space.txt") + "panel:ufi=4,columns=32,vector=4,groups=2,warps=8,panels=2\n");
  run("night.jsonl");
  const auto records = records_in("night.jsonl").records;
  const auto skipped = std::ranges::count_if(records, [](const Record& record) {
    const auto* candidate = std::get_if<CandidateRecord>(&record);
    return candidate != nullptr && candidate->outcome == Outcome::skipped_by_limit &&
           candidate->candidate.starts_with("panel: tile=8x32, thread=4x4, split_k=8, lane_groups=2, ");
  });
  EXPECT_EQ(skipped, 6);
  EXPECT_EQ(decided_in("night.jsonl"), all_items());
}

TEST_F(EsctuneRun, ListsWithoutMeasuring) {
  const ProcessResult list = esctune({"run", "layers", "--bcol", "32,64", "--list"});
  EXPECT_EQ(list.status, 0) << list.errors;
  EXPECT_THAT(list.output, Not(IsEmpty()));
  const ProcessResult machine = esctune({"run", "layers", "--bcol", "32,64", "--list", "--json"});
  const json listing = json::parse(machine.output);
  EXPECT_FALSE(listing.empty());
  const ProcessResult exhaustive =
      esctune({"run", "layers", "--bcol", "32", "--list", "--exhaustive", "--families", "rows"});
  EXPECT_EQ(exhaustive.status, 0) << exhaustive.errors;
  EXPECT_FALSE(fs::exists(path("esctune.jsonl")));
}

TEST_F(EsctuneRun, ListingFailsWhereAMatrixCannotBeRead) {
  EXPECT_EQ(esctune({"run", "absent.smtx", "--bcol", "32", "--list"}).status, 2);
  write("layers/broken.smtx", "3, 3, 9\n0 1\n");
  EXPECT_EQ(esctune({"run", "layers/broken.smtx", "--bcol", "32", "--list"}).status, 2);
  EXPECT_EQ(esctune({"run", "layers/broken.smtx", "--bcol", "32", "--list", "--json"}).status, 2);
  const ProcessResult list = esctune({"run", "layers", "--bcol", "32", "--list"});
  EXPECT_EQ(list.status, 2);
  EXPECT_THAT(list.errors, StartsWith("esctune: layers/broken.smtx, line 1: "));
  EXPECT_THAT(list.output, HasSubstr("layers/layer00.smtx, bCol 32: ")) << "the others are listed";
}

TEST_F(EsctuneRun, ListsWhatAJournalLeaves) {
  run("night.jsonl");
  add_layer(3);
  const std::vector<std::string> words{"run",       "layers", "--bcol",      "32,64", "--space",
                                       "space.txt", "-o",     "night.jsonl", "--list"};
  const ProcessResult list = esctune(words);
  EXPECT_EQ(list.status, 0) << list.errors;
  EXPECT_THAT(list.output, HasSubstr("layers/layer00.smtx, bCol 32: 5 candidates, 5 of them done, decided\n"));
  EXPECT_THAT(list.output, HasSubstr("8 items, 6 of them decided"));

  std::vector<std::string> cold = words;
  cold.push_back("--cold");
  EXPECT_THAT(esctune(cold).output, HasSubstr(" items, 0 of them decided")) << "that is another measurement";
  write("space.txt", read("space.txt") + "panel:ufi=4,columns=32,vector=4,groups=2,warps=8,panels=2\n");
  std::vector<std::string> more = words;
  more.insert(more.end(), {"--retry", "missing"});
  EXPECT_THAT(esctune(more).output, HasSubstr("layers/layer00.smtx, bCol 32: 6 candidates, 5 of them done, about "));
}

TEST_F(EsctuneRun, TunesOneLayerAndPrintsTheWinner) {
  const std::vector<std::string> words{"layer",   "layers/layer00.smtx", "--bcol",   "32",
                                       "--space", "space.txt",           "--replay", "measured.jsonl"};
  const ProcessResult first = esctune(words);
  EXPECT_EQ(first.status, 0) << first.errors;
  EXPECT_THAT(first.output, AllOf(HasSubstr("\nwinner     "), HasSubstr("cuBLAS"),
                                  HasSubstr("\nschedule   panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4")));
  std::vector<std::string> verbose = words;
  verbose.emplace_back("-v");
  EXPECT_THAT(esctune(verbose).output, AllOf(StartsWith(first.output), HasSubstr("cublas"), HasSubstr("cusparse")));
  verbose.back() = "--json";
  EXPECT_EQ(nlohmann::json::parse(esctune(verbose).output)["items"].size(), 1U);
  EXPECT_EQ(esctune(words).output, first.output);

  std::vector<std::string> kept = words;
  kept.insert(kept.end(), {"-o", "layer.jsonl"});
  EXPECT_EQ(esctune(kept).output, first.output);
  const std::size_t records = records_in("layer.jsonl").records.size();
  EXPECT_GT(records, 6U);
  EXPECT_EQ(decided_in("layer.jsonl"), std::multiset<std::string>{"layer00/32"});
}

TEST_F(EsctuneRun, DevicesAreThoseThatARunMeasuresOn) {
  EXPECT_EQ(esctune({"devices", "--replay", "measured.jsonl"}).output, "sm90-132sm-60mib  NVIDIA H200\n");
  const auto devices = nlohmann::json::parse(esctune({"devices", "--replay", "measured.jsonl", "--json"}).output);
  EXPECT_EQ(devices.at("devices"), (nlohmann::json::array({{{"key", "sm90-132sm-60mib"}, {"name", "NVIDIA H200"}}})));
}

TEST_F(EsctuneRun, LayerThatNothingIsRightForIsAFailedCheck) {
  write("space.txt", "panel:ufi=4,columns=32,vector=4,groups=4,warps=8,panels=1,ufk=4,stage=off,pdl=on\n");
  std::string failures;
  for (const Record& record : records_in("measured.jsonl").records) {
    failures += std::get<CandidateRecord>(record).outcome == Outcome::ok ? "" : print(record) + "\n";
  }
  write("measured.jsonl", failures);
  const ProcessResult result =
      esctune({"layer", "layers/layer00.smtx", "--bcol", "32", "--space", "space.txt", "--replay", "measured.jsonl"});
  EXPECT_EQ(result.status, 1) << result.errors;
}

}  // namespace
}  // namespace esc::cli
