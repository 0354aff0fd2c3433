// SPDX-License-Identifier: Apache-2.0
// Command lines of esctune that are wrong, and what it needs and does not find: one line that names the option, the
// rule and the remedy, and nothing left behind.

#include "tests/cli/tuner_workshop.h"

namespace esc::cli {
namespace {

using testing::HasSubstr;

class EsctuneRefusals : public TunerWorkshop {
 protected:
  void SetUp() override {
    TunerWorkshop::SetUp();
    add_layer(0);
  }

  /// `esctune run layers --bcol 32 --replay measured.jsonl -o night.jsonl` with more options.
  void expect_run_refusal(std::vector<std::string> more, const std::string& expected) const {
    more.insert(more.begin(), {"run", "layers", "--bcol", "32", "--replay", "measured.jsonl", "-o", "night.jsonl"});
    expect_refusal(more, expected);
  }
};

TEST_F(EsctuneRefusals, CommandAndArguments) {
  expect_refusal({}, "a command is needed");
  expect_refusal({"tune"}, "tune; see esctune --help");
  expect_refusal({"run"}, "esctune run: needs --bcol");
  expect_refusal({"run", "--bcol", "32"},
                 "has no matrix to tune for; name matrices or folders, or give --matrices LIST");
  expect_refusal({"layer", "--bcol", "32"}, "MATRIX is required");
  expect_refusal({"layer", "layers/layer00.smtx"}, "--bcol is required");
  expect_refusal({"merge", "measured.jsonl"}, "--output is required");
  expect_refusal({"merge", "-o", "out"}, "FILE is required");
  expect_refusal({"show"}, "is required");
  expect_refusal({"report", "measured.jsonl"}, "--output is required");
  expect_refusal({"publish", "measured.jsonl"}, "--output is required");
  expect_run_refusal({"--frobnicate"}, "--frobnicate");
}

TEST_F(EsctuneRefusals, Matrices) {
  expect_refusal({"run", "absent", "--bcol", "32"}, "absent: does not exist");
  expect_refusal({"layer", "absent.smtx", "--bcol", "32"}, "absent.smtx");
  expect_refusal({"run", "--matrices", "absent", "--bcol", "32"}, "absent: cannot be read");
  write("none.txt", "# nothing\n\n");
  expect_refusal({"run", "--matrices", "none.txt", "--bcol", "32"}, "none.txt: names no matrix");
  std::filesystem::create_directory(path("bare"));
  expect_refusal({"run", "bare", "--bcol", "32"}, "bare: has no matrix in it");
  write("empty.mtx", "%%MatrixMarket matrix coordinate real general\n4 4 0\n");
  expect_refusal({"layer", "empty.mtx", "--bcol", "32", "--replay", "measured.jsonl"}, "empty.mtx: has no non-zeros");
}

TEST_F(EsctuneRefusals, Numbers) {
  for (const std::string bcol : {"0", "-1", "2147483648", "32,0", "four", "4.5", "99999999999999999999"}) {
    expect_refusal({"run", "layers", "--bcol", bcol, "--replay", "measured.jsonl"}, "--bcol");
    expect_refusal({"layer", "layers/layer00.smtx", "--bcol", bcol, "--replay", "measured.jsonl"}, "--bcol");
  }
  for (const std::string candidates : {"0", "-1", "many"}) {
    expect_run_refusal({"--candidates", candidates}, "--candidates");
  }
  for (const std::string seconds : {"0", "-1", "soon", "nan"}) {
    expect_run_refusal({"--timeout", seconds}, "--timeout");
  }
  for (const std::string budget : {"5", "0s", "-1h", "h", "2 h", "2d", "infh", "nans", "1e999s"}) {
    expect_run_refusal({"--budget", budget}, "--budget " + budget + ": is not a time; write it as in 90s, 20m or 2h");
  }
  for (const std::string shard : {"2/2", "1", "1/0", "0/0", "-1/2", "a/b", "1/2/3", "/", ""}) {
    if (!shard.empty()) {
      expect_run_refusal({"--shard", shard}, "--shard " + shard + ": is not a part of a job; write i/n");
    }
  }
  for (const std::string gpus : {"-1", "x", "0,x"}) {
    expect_run_refusal({"--gpus", gpus}, "--gpus");
  }
  expect_run_refusal({"--gpus", "0,1,0"}, "--gpus: names a GPU twice");
  for (const std::string number : {"-1", "x"}) {
    for (const std::string option : {"--tasks", "--cores", "--minutes"}) {
      expect_run_refusal({"--emit", "slurm", option, number}, option);
    }
  }
  expect_run_refusal({"--emit", "slurm", "--tasks", "0"}, "give at least 1 of each");
  expect_run_refusal({"--emit", "k8s", "--image", "esctune"},
                     "give --image IMAGE, which has esctune, and --claim NAME");
  expect_run_refusal({"--emit", "slurm", "--budget", "1w"}, "--budget 1w: is not a time");
}

TEST_F(EsctuneRefusals, Words) {
  expect_run_refusal({"--families", "panel,bogus"}, "--families: bogus not in");
  expect_run_refusal({"--retry", "all"}, "--retry: all not in {failed,missing}");
  expect_run_refusal({"--emit", "pbs"}, "--emit: pbs not in {slurm,k8s}");
  expect_run_refusal({"--cache", "a", "--no-cache"}, "excludes");
  expect_run_refusal({"--emit", "slurm", "--list"}, "--list excludes --emit");
  expect_run_refusal({"--emit", "slurm", "--shard", "0/2"}, "--shard excludes --emit");
  expect_run_refusal({"--list", "--gpu", "abacus"}, "--gpu abacus: is not a GPU that is known here");
  expect_refusal({"show", "measured.jsonl", "--tables", "--against", "measured.jsonl"}, "excludes");
}

TEST_F(EsctuneRefusals, ShardOfAJobThatTellsNoneOrNonsense) {
  const std::vector<std::string> words = run_words("night.jsonl", {"--shard", "auto"});
  expect_refusal(words, "--shard auto: finds neither SLURM_ARRAY_TASK_ID nor JOB_COMPLETION_INDEX");
  const std::vector<std::pair<std::vector<std::string>, std::string>> jobs{
      {{"SLURM_ARRAY_TASK_ID=1"}, "SLURM_ARRAY_TASK_COUNT: is not set"},
      {{"SLURM_ARRAY_TASK_ID=x"}, "SLURM_ARRAY_TASK_ID: is 'x', which is not a number"},
      {{"SLURM_ARRAY_TASK_ID=4", "SLURM_ARRAY_TASK_COUNT=4"}, "SLURM_ARRAY_TASK_ID: is not a part of a job"},
      {{"JOB_COMPLETION_INDEX=1"}, "ESC_SHARD_COUNT: is not set"},
      {{"JOB_COMPLETION_INDEX=5", "ESC_SHARD_COUNT=5"}, "JOB_COMPLETION_INDEX: is not a part of a job"},
  };
  for (const auto& [environment, expected] : jobs) {
    const ProcessResult refused = esctune(words, environment);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.errors, HasSubstr(expected));
    EXPECT_FALSE(std::filesystem::exists(path("night.jsonl")));
  }
}

TEST_F(EsctuneRefusals, FilesOfSchedules) {
  expect_run_refusal({"--space", "absent.txt"}, "absent.txt: cannot be read");
  write("bad.txt", "# first\npanel:ufi=2\nnonsense\n");
  expect_run_refusal({"--space", "bad.txt"}, "bad.txt:3: nonsense: is not a schedule");
  write("bad.txt", "panel:ufi=3\n");
  expect_run_refusal({"--space", "bad.txt"}, "bad.txt:1: panel: tile=3x32");
  expect_run_refusal({"--space", "bad.txt", "--emit", "slurm"}, "bad.txt:1: panel: tile=3x32");
  write("bare.txt", "# nothing\n");
  expect_run_refusal({"--space", "bare.txt"}, "bare.txt: has no schedule; write one on each line");
}

TEST_F(EsctuneRefusals, RecordsInPlaceOfADevice) {
  const auto replay = [](const std::string& file) {
    return std::vector<std::string>{"run", "layers", "--bcol", "32", "--replay", file, "-o", "night.jsonl"};
  };
  expect_refusal(replay("absent.jsonl"), "absent.jsonl: cannot be read");
  write("bare.jsonl", "");
  expect_refusal(replay("bare.jsonl"), "the recorded device: has no records");
  std::string two_devices = read("measured.jsonl");
  const std::size_t device = two_devices.find("sm90-132sm-60mib");
  ASSERT_NE(device, std::string::npos);
  write("two.jsonl", two_devices.replace(device, 16, "sm80-108sm-40mib"));
  expect_refusal(replay("two.jsonl"), "the recorded device: has records of several devices");
}

TEST_F(EsctuneRefusals, Outputs) {
  expect_refusal({"run", "layers", "--bcol", "32", "--replay", "measured.jsonl", "-o", "layers"},
                 "layers: cannot be written: Is a directory");
  expect_refusal({"run", "layers", "--bcol", "32", "--replay", "measured.jsonl", "-o", "absent/night.jsonl"},
                 "absent/night.jsonl: cannot be written: No such file or directory");
  expect_refusal({"merge", "measured.jsonl", "-o", "absent/out"}, "absent/out: cannot be written");
  expect_refusal({"report", "measured.jsonl", "-o", "layers"}, "layers: is a directory");
  std::filesystem::copy(path("measured.jsonl"), path("others.jsonl"));
  expect_refusal({"report", "measured.jsonl", "others.jsonl", "-o", "./others.jsonl"},
                 "--output ./others.jsonl: is one of the records; name another file");
  EXPECT_EQ(read("others.jsonl"), read("measured.jsonl"));
  expect_refusal({"publish", "measured.jsonl", "-o", "measured.jsonl"}, "measured.jsonl");
  expect_refusal({"regret", "measured.jsonl", "--by", "typ"}, "--by typ: is nothing that products are grouped by");
  expect_refusal({"regret", "none.jsonl"}, "none.jsonl");
}

TEST_F(EsctuneRefusals, RecordsThatAreNotThere) {
  for (const std::string file : {"absent.jsonl", "layers"}) {
    expect_refusal({"merge", "measured.jsonl", file, "-o", "out"}, file + ": ");
    expect_refusal({"show", file}, file + ": ");
    expect_refusal({"show", "measured.jsonl", "--against", file}, file + ": ");
    expect_refusal({"report", file, "-o", "out"}, file + ": ");
    expect_refusal({"publish", file, "-o", "out"}, file + ": ");
  }
  write("bare.jsonl", "");
  expect_refusal({"publish", "bare.jsonl", "-o", "out"}, "bare.jsonl: has no right kernel");
}

/// A later version's family of schedules, on the second one of two devices: the first one's database stays as it was.
TEST_F(EsctuneRefusals, PublishWritesAllDatabasesOrNone) {
  std::string unknown = read("measured.jsonl");
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>("sm90-132sm", "sm95-132sm"), {"panel:", "later:"}}) {
    for (std::size_t place = unknown.find(from); place != unknown.npos; place = unknown.find(from)) {
      unknown.replace(place, from.size(), to);
    }
  }
  write("later.jsonl", unknown);
  std::filesystem::create_directory(path("database"));
  expect_refusal({"publish", "measured.jsonl", "later.jsonl", "-o", "database"}, "later: tile=");
}

TEST_F(EsctuneRefusals, JournalsWithNamesThatLeadNowhere) {
  std::filesystem::create_symlink("loop.jsonl", path("loop.jsonl"));
  for (const std::string& journal : {std::string("loop.jsonl"), std::string(300, 'n')}) {
    expect_refusal({"run", "layers", "--bcol", "32", "--list", "-o", journal}, journal + ": cannot be read: ");
  }
}

/// A GPU that a machine may have is not shown to the program.
TEST_F(EsctuneRefusals, WithoutAGpu) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"run", "layers", "--bcol", "32", "--no-cache", "-o", "night.jsonl"},
        {"layer", "layers/layer00.smtx", "--bcol", "32", "--no-cache", "-o", "night.jsonl"}}) {
    const ProcessResult refused = esctune(words, {"CUDA_VISIBLE_DEVICES=-1"});
    EXPECT_EQ(refused.status, 3);
    EXPECT_EQ(refused.output, "");
    EXPECT_THAT(refused.errors, testing::StartsWith("esctune: "));
    EXPECT_THAT(refused.errors, testing::AnyOf(HasSubstr("gpu: there is none that this program can use"),
                                               HasSubstr("esctune-worker: is not beside this program")));
    EXPECT_EQ(refused.errors.find('\n') + 1, refused.errors.size()) << refused.errors;
    EXPECT_FALSE(std::filesystem::exists(path("night.jsonl")));
  }
}

/// As where the libraries that it is linked with are missing.
TEST_F(EsctuneRefusals, WorkerThatDoesNotStart) {
  write("esctune-worker", "#!/bin/sh\necho 'libnvrtc.so: cannot open shared object file' >&2\nexit 127\n");
  const ProcessResult refused = shell(
      "cp $ESCTUNE esctune; chmod +x esctune-worker; CUDA_VISIBLE_DEVICES=-1 exec ./esctune run layers --bcol 32 -o "
      "night.jsonl");
  EXPECT_EQ(refused.status, 3);
  EXPECT_THAT(refused.errors,
              testing::HasSubstr("esctune-worker: does not run: libnvrtc.so: cannot open shared object file; install"));
  EXPECT_EQ(refused.errors.find('\n') + 1, refused.errors.size()) << refused.errors;
}

}  // namespace
}  // namespace esc::cli
